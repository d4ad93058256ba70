"""Attacks that are made before a call, or beside it: while a plugin is imported, and in the hooks that say what it is.

`table` has them by place and by what they try; `plugins` makes each a tool.
"""
