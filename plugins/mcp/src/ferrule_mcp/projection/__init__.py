"""The tools of MCP servers in the format of ferrule, and arguments back.

    project(tool, name)                            one entry of tools/list as a schema of ferrule
    name_tools(server, names)                      names for a server's tools that every provider takes
    translate_arguments(translation, arguments)    what a call sends to the server

`translate_arguments` is on the path of every call: each name is loaded when it is first used.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule_mcp.projection.names import name_tools
    from ferrule_mcp.projection.tools import Projection, project
    from ferrule_mcp.projection.translation import translate_arguments

__all__ = ["Projection", "name_tools", "project", "translate_arguments"]

__getattr__ = attach(
    __name__,
    {
        "Projection": "ferrule_mcp.projection.tools",
        "name_tools": "ferrule_mcp.projection.names",
        "project": "ferrule_mcp.projection.tools",
        "translate_arguments": "ferrule_mcp.projection.translation",
    },
)
