"""An MCP server with a tool that does next to nothing, one that reads a page and one that waits, as authors write them.

Usage: python trivial_server.py {fastmcp,sdk} {stdio,http} [PORT]
"""

from __future__ import annotations

import asyncio
import sys
import time
import urllib.request
from typing import Any

from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12


class Greeting(TypedDict):
    """What our own tool declares of its result, which clients check."""

    success: bool
    greeting: str


def example(city: str) -> Greeting:
    """Greet a city."""
    return {"success": True, "greeting": f"Hello, {city}!"}


def web_fetch(url: str) -> dict[str, Any]:
    """Read a web page as Markdown."""
    from markdownify import markdownify

    with urllib.request.urlopen(url) as answer:
        return {"success": True, "content": markdownify(answer.read().decode())}


def wait(seconds: float) -> dict[str, Any]:
    """Wait."""
    time.sleep(seconds)
    return {"success": True}


async def wait_in_loop(seconds: float) -> dict[str, Any]:
    """Wait, as an author writes it who knows that the server has one loop."""
    await asyncio.sleep(seconds)
    return {"success": True}


def main() -> None:
    """Serve until the client goes, or a signal comes."""
    framework, transport, *port = sys.argv[1:]
    options: dict[str, Any] = {"host": "127.0.0.1", "port": int(port[0]), "stateless_http": True} if port else {}
    if framework == "fastmcp":
        from fastmcp import FastMCP  # type: ignore[import-not-found] # only the peer's own environment has it

        server = FastMCP("trivial")
        for tool in (example, web_fetch, wait):
            server.tool(tool)
        server.run(transport=transport, show_banner=False, **options, **({"log_level": "error"} if port else {}))
    else:
        from mcp.server.mcpserver import MCPServer

        own = MCPServer("trivial", log_level="ERROR")
        own.tool()(example)
        own.tool(name="wait")(wait_in_loop)
        own.run("streamable-http" if port else "stdio", **options)


if __name__ == "__main__":
    main()
