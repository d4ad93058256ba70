"""MCP servers that are reached over HTTP, by the official SDK: a session with one, and the login that it may want.

It loads the SDK, pydantic and httpx2, so it is imported inside of functions, for servers over HTTP alone.
"""

from __future__ import annotations

import logging

# Without a handler the SDK's warnings would be printed, with what a server has said.
logging.getLogger("mcp").addHandler(logging.NullHandler())
