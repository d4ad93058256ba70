"""Converters and extractors, each in a process of its own that has what it needs."""
