"""A failure as JSON, in the shape of the research tools: the message, its kind, and what to do next."""

from __future__ import annotations

from ferrule_research.failures import render

__all__ = ["render"]
