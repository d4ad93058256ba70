"""Each innocent function as a tool: `innocent.PACKAGE:tools.NAME` is the plugin of the function NAME."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import hookimpl

from .table import INNOCENTS

if TYPE_CHECKING:
    from ferrule import Context, JSONObject


class Plugin:
    """One tool."""

    def __init__(self, name: str) -> None:
        self._innocent = INNOCENTS[name]

    @hookimpl
    def schema(self) -> JSONObject:
        """The scene is an argument."""
        scene = {"type": "object", "description": "If there is something to read or to reach"}
        return {
            "name": self._innocent.name,
            "description": self._innocent.does,
            "parameters": {"type": "object", "properties": {"scene": scene}, "required": ["scene"]},
        }

    @hookimpl
    def execute(self, arguments: JSONObject, context: Context) -> JSONObject:
        """What it does."""
        return {"success": True, "done": self._innocent.function({**arguments["scene"], "tool": context.tool})}


class Tools:
    """The tools by their names."""

    def __getattr__(self, name: str) -> Plugin:
        if name not in INNOCENTS:
            raise AttributeError(name)
        return Plugin(name)
