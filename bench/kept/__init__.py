"""Calls by a keeper, beside the same calls cold: the tools, the machine, and what a call takes."""
