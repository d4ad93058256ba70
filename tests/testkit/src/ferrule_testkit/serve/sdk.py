"""The words of the official SDK of MCP, imported when a test first uses one, since that takes half a second."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import mcp_types as types

__all__ = ["types"]


class _Types:
    """What `mcp_types` has."""

    def __getattr__(self, name: str) -> Any:
        if not name[:1].isupper():  # what pytest asks of whatever a module of tests has
            raise AttributeError(name)
        return getattr(import_module("mcp_types"), name)


if not TYPE_CHECKING:
    types = _Types()
