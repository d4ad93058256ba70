"""The attacks as tools of other hosts, as their own pages say that tools are written.

Usage: python attack_servers.py {fastmcp,sdk,sandlock} FOLDER        serves them over stdio
       python attack_servers.py functions FOLDER                     prints a file of functions, for `llm --functions`

FOLDER: where the package `hostile_attacks` is installed. A tool gets the scene as its argument, and returns the loot.
"""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_FUNCTION = '''
def {name}(scene: dict) -> str:
    """{tries}"""
    return _tried("{name}", scene)
'''
_HEAD = """\
import sys
sys.path.insert(0, {folder!r})
from hostile_attacks.table import load

def _tried(name, scene):
    loot = load()[name].function(scene)
    if not loot:
        raise ValueError("nothing found")
    return str(loot)
"""


def functions(folder: str) -> str:
    """The source of a module with a function for each attack."""
    sys.path.insert(0, folder)
    table = import_module("hostile_attacks.table").load()
    bodies = [_FUNCTION.format(name=one.name, tries=one.tries.replace('"', "'")) for one in table.values()]
    return _HEAD.format(folder=folder) + "".join(bodies)


def main() -> None:
    """Serve until the client goes."""
    framework, folder = sys.argv[1:3]
    source = functions(folder)
    if framework == "functions":
        print(source)
        return
    path = Path(folder) / "attack_functions.py"
    if not path.exists() or path.read_text() != source:  # where it is written before, the folder may be read-only
        path.write_text(source)
    module = import_module("attack_functions")
    tools = {name: getattr(module, name) for name in import_module("hostile_attacks.table").load()}
    {"fastmcp": _fastmcp, "sdk": _sdk, "sandlock": _sandlock}[framework](tools, folder)


def _fastmcp(tools: dict[str, Callable[..., str]], _: str) -> None:
    from fastmcp import FastMCP  # type: ignore[import-not-found] # only the peer's own environment has it

    server = FastMCP("attacks")
    for tool in tools.values():
        server.tool(tool)
    server.run(transport="stdio", show_banner=False)


def _sdk(tools: dict[str, Callable[..., str]], _: str) -> None:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("attacks", log_level="ERROR")
    for tool in tools.values():
        server.tool()(tool)
    server.run("stdio")


def _sandlock(tools: dict[str, Callable[..., str]], folder: str) -> None:
    """As `sandlock.mcp.server` wires its own tools; none of these declares a capability."""
    from mcp import types as current_types
    from mcp.server.lowlevel.server import Server
    from mcp.server.stdio import stdio_server
    from sandlock.mcp import McpSandbox  # type: ignore[import-not-found] # only the peer's own environment has it

    sandbox = McpSandbox(workspace=str(Path(folder) / "workspace"))
    Path(folder, "workspace").mkdir(exist_ok=True)
    for name, tool in tools.items():
        sandbox.add_tool(name, tool, description=tool.__doc__ or "", capabilities={})
    # sandlock wants the first version of this library, which mypy does not see here.
    server: Any = Server("attacks")
    types: Any = current_types

    async def listed() -> list[Any]:
        return [types.Tool(name=name, inputSchema={"type": "object"}) for name in tools]

    async def called(name: str, arguments: dict[str, Any] | None) -> list[Any]:
        text = await sandbox.call_tool(name, arguments)
        return [types.TextContent(type="text", text=text)]

    server.list_tools()(listed)
    server.call_tool()(called)

    async def serve() -> None:
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    asyncio.run(serve())


if __name__ == "__main__":
    main()
