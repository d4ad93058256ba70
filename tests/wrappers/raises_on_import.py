"""Raises when it is imported."""

raise RuntimeError("on purpose")
