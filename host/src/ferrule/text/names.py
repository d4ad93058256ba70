"""The two names of a tool: `web_search_brave` for the model, `web-search-brave-tool` for the shell. Pure."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIX = "-tool"
SERVER_SUFFIX = "-mcp"
CLIENT_TOOLS = frozenset(
    ("bash", "edit", "file_edit", "file_read", "file_write", "glob", "grep", "list", "ls", "read", "todo", "write")
)
"""Tools that clients bring along. An executable of such a name takes the place of the client's own."""


def executable_name(tool: str) -> str:
    """`web_search_brave` -> `web-search-brave-tool`."""
    return tool.replace("_", "-") + SUFFIX


def tool_name(path: str) -> str:
    """`/any/folder/web-search-brave-tool` -> `web_search_brave`, as the client does it.

    A file name without the `-tool` ending gives the name that it would have with it.
    """
    name = path.rpartition("/")[2]
    return name.removesuffix(SUFFIX).replace("-", "_")


def served_tool(path: str) -> str:
    """`/any/folder/web-search-brave-mcp` -> `web_search_brave`."""
    return path.rpartition("/")[2].removesuffix(SERVER_SUFFIX).replace("-", "_")


def is_tool_name(name: str) -> bool:
    """True where the name holds ASCII letters, digits and underscores only, which is what every provider takes."""
    return bool(name) and name.isascii() and name.replace("_", "a").isalnum()


def record_name(name: str) -> str:
    """How a file about a tool is named: as the tool, or, for what is no name of one, as no tool can be."""
    if is_tool_name(name):
        return name
    from ferrule.text.sha256 import sha256_hex

    return f"-{sha256_hex(name.encode(errors='surrogatepass'))}"


def same_distribution(name: str) -> str:
    """The form in which two spellings of a distribution's name are equal: `Ferrule_Fetch` -> `ferrule-fetch`."""
    parts = name.replace("_", "-").replace(".", "-").lower().split("-")
    return "-".join(part for part in parts if part)


def normalise_distributions(names: Iterable[str]) -> list[str]:
    """The same of each of several names."""
    return [same_distribution(name) for name in names]
