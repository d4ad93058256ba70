"""Scholarly papers for LLM agents: finding them, what cites them, references in a style, and whether one is real.

`works` is what a paper is, and when two records are one; `asking` how a service is asked, `scholars` the services.
`search`, `graph`, `bibliography` and `verification` are the tools.
"""
