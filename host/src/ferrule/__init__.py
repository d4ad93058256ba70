"""The public names of ferrule, the host that gives Python functions to LLM agents as executables.

A plugin imports from here and from the public modules `ferrule.http` and `ferrule.testing`, and from nothing else of
the host. Every name is loaded when it is first used: an executable that only prints its schema never pays for pluggy.
"""

from __future__ import annotations

from ferrule._version import __version__
from ferrule.lazy import attach

TYPE_CHECKING = False  # spelt out, because importing typing costs as much as starting the interpreter

if TYPE_CHECKING:
    import pluggy

    from ferrule.errors import ToolError
    from ferrule.schema.schema_file import static_schema
    from ferrule.text.json_types import JSONObject
    from ferrule.tool.context import Context
    from ferrule.tool.credentials import Credential
    from ferrule.tool.result_policy import ResultPolicy

    hookimpl: pluggy.HookimplMarker

__all__ = [
    "Context",
    "Credential",
    "JSONObject",
    "ResultPolicy",
    "ToolError",
    "__version__",
    "hookimpl",
    "static_schema",
]


__getattr__ = attach(
    __name__,
    {
        "Context": "ferrule.tool.context",
        "Credential": "ferrule.tool.credentials",
        "JSONObject": "ferrule.text.json_types",
        "ResultPolicy": "ferrule.tool.result_policy",
        "ToolError": "ferrule.errors",
        "hookimpl": "ferrule.tool.hookspecs",
        "static_schema": "ferrule.schema.schema_file",
    },
)
