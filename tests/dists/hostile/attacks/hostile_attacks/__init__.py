"""Attacks of a malicious tool, each one small function that tries one thing.

`table.ATTACKS` has them all. `plugins` makes each a tool of ferrule; other hosts get the functions as they are.
"""
