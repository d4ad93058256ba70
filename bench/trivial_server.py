"""An MCP server with one tool that does next to nothing, as its framework's own pages write one.

Usage: python trivial_server.py {fastmcp,sdk} {stdio,http} [PORT]
"""

from __future__ import annotations

import sys
from typing import Any


def example(city: str) -> dict[str, Any]:
    """Greet a city."""
    return {"success": True, "greeting": f"Hello, {city}!"}


def main() -> None:
    """Serve until the client goes, or a signal comes."""
    framework, transport, *port = sys.argv[1:]
    options: dict[str, Any] = {"host": "127.0.0.1", "port": int(port[0]), "stateless_http": True} if port else {}
    if framework == "fastmcp":
        from fastmcp import FastMCP  # type: ignore[import-not-found]

        server = FastMCP("trivial")
        server.tool(example)
        server.run(transport=transport, show_banner=False, **options, **({"log_level": "error"} if port else {}))
    else:
        from mcp.server.mcpserver import MCPServer

        own = MCPServer("trivial", log_level="ERROR")
        own.tool()(example)
        own.run("streamable-http" if port else "stdio", **options)


if __name__ == "__main__":
    main()
