"""The credentials of a server: one declaration for all its tools, named so that no other distribution has the same."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule.text.json_types import JSONObject


def declare(server: str, names: Iterable[str]) -> list[JSONObject]:
    """The key `credentials` of `tool.json`. names: of credentials.

    The variables have the server's name in them: `BRAVE_API_KEY` may be the credential of a tool that is no server's.
    """
    return [
        {
            "name": name,
            "environment": f"FERRULE_MCP_{server}_{name}".upper(),
            "path": f"mcp.{server}.{name}",
            "description": f"for the MCP server {server}",
        }
        for name in sorted(set(names))
    ]
