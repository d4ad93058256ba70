"""Research on the web for LLM agents: searches, pages, both at once, and sessions that keep what was found.

`sessions` is public, for other plugins; the other packages belong to a tool each.
"""
