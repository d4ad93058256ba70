"""MCP servers as sets of tools. Empty: each module is imported where it is needed."""

from __future__ import annotations
