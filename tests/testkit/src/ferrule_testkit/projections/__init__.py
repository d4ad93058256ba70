"""Schemas of MCP servers, arguments that fit them, and how these are written for the projected schemas."""
