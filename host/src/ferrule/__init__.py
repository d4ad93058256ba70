"""The public names of ferrule, the host that gives Python functions to LLM agents as executables.

A plugin imports from here and from the public modules `ferrule.http` and `ferrule.testing`, and from nothing else of
the host. Every name is loaded when it is first used: an executable that only prints its schema never pays for pluggy.
"""

from ferrule._version import __version__

TYPE_CHECKING = False  # spelt out, because importing typing costs as much as starting the interpreter

if TYPE_CHECKING:
    import pluggy

    from ferrule.errors import ToolError
    from ferrule.schema.schema_file import static_schema
    from ferrule.tool.context import Context
    from ferrule.tool.credentials import Credential
    from ferrule.tool.result_policy import Results

    hookimpl: pluggy.HookimplMarker

__all__ = ["Context", "Credential", "Results", "ToolError", "__version__", "hookimpl", "static_schema"]


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for (PEP 562), and keep it."""
    value: object
    if name == "hookimpl":
        from ferrule.tool.hookspecs import hookimpl as value
    elif name == "Context":
        from ferrule.tool.context import Context as value
    elif name == "Credential":
        from ferrule.tool.credentials import Credential as value
    elif name == "ToolError":
        from ferrule.errors import ToolError as value
    elif name == "Results":
        from ferrule.tool.result_policy import Results as value
    elif name == "static_schema":
        from ferrule.schema.schema_file import static_schema as value
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
