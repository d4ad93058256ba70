"""The public names of ferrule, the host that gives Python functions to LLM agents as executables.

A plugin imports from here and from the public module `ferrule.http`, and from nothing else of the host. Every
name is loaded when it is first used: an executable that only prints its schema never pays for pluggy.
"""

from __future__ import annotations

TYPE_CHECKING = False  # spelt out, because importing typing costs as much as starting the interpreter

if TYPE_CHECKING:
    import pluggy

    from ferrule._version import __version__
    from ferrule.content.media import Audio, File, Image
    from ferrule.errors import ToolError
    from ferrule.plugin.function.decorator import tool
    from ferrule.plugin.function.signature import Range
    from ferrule.plugin.hooks.context import Context
    from ferrule.plugin.hooks.credentials import Credential, CredentialValue, static_credentials
    from ferrule.plugin.hooks.lasting_state import Lasting
    from ferrule.plugin.hooks.result_policy import ResultPolicy
    from ferrule.plugin.wrapper_context import WrapperContext
    from ferrule.schema.schema_file import static_schema
    from ferrule.supervision.bounded import bounded, run_bounded
    from ferrule.text.json_types import JSONObject

    hookimpl: pluggy.HookimplMarker

__all__ = [
    "Audio",
    "Context",
    "Credential",
    "CredentialValue",
    "File",
    "Image",
    "JSONObject",
    "Lasting",
    "Range",
    "ResultPolicy",
    "ToolError",
    "WrapperContext",
    "__version__",
    "bounded",
    "hookimpl",
    "run_bounded",
    "static_credentials",
    "static_schema",
    "tool",
]


_MODULES = {
    "__version__": "ferrule._version",
    "Audio": "ferrule.content.media",
    "Context": "ferrule.plugin.hooks.context",
    "Credential": "ferrule.plugin.hooks.credentials",
    "CredentialValue": "ferrule.plugin.hooks.credentials",
    "File": "ferrule.content.media",
    "Image": "ferrule.content.media",
    "JSONObject": "ferrule.text.json_types",
    "Lasting": "ferrule.plugin.hooks.lasting_state",
    "Range": "ferrule.plugin.function.signature",
    "ResultPolicy": "ferrule.plugin.hooks.result_policy",
    "ToolError": "ferrule.errors",
    "WrapperContext": "ferrule.plugin.wrapper_context",
    "bounded": "ferrule.supervision.bounded",
    "hookimpl": "ferrule.plugin.hooks.hookspecs",
    "run_bounded": "ferrule.supervision.bounded",
    "static_credentials": "ferrule.plugin.hooks.credentials",
    "static_schema": "ferrule.schema.schema_file",
    "tool": "ferrule.plugin.function.decorator",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:  # such as a module of this package, which Python looks for here first
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ferrule.lazy import load  # not above: what is on the path of a call pays for each file

    return load(__name__, _MODULES[name], name)
