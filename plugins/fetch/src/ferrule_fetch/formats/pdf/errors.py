"""The error of a PDF that has nothing to read."""

from __future__ import annotations


class UnreadablePDF(Exception):
    """A PDF without text that can be had; its only argument says what it is, in words: "an encrypted PDF"."""
