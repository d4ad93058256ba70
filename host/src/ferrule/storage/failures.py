"""How a store fails."""

from __future__ import annotations


class StoreFailed(Exception):
    """A store cannot be used now. The text says why, without a value of anybody's; for a call it is a miss."""
