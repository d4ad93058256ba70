"""One call of a tool of a server over HTTP, by the server's record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_mcp.remote.failures import LOGIN
from ferrule_mcp.remote.session import RemoteSession

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_mcp.remote.session import Handler


def call_tool(
    server: JSONMapping,
    tool: str,
    arguments: JSONObject,
    context: Context,
    *,
    network: Sequence[str] | None = None,
    on_progress: Handler | None = None,
    on_log: Handler | None = None,
) -> JSONObject:
    """Call a tool, and return the server's result as it is.

    Args:
        server: the record of the server, as in server.json: its `name`, `url`, `headers` and `era`.
        tool: the server's own name of the tool.
        arguments: as the server takes them.
        context: of the call: its deadline, and the credentials that the headers name.
        network: the permission of the tool; what names the server's own address where it is None.
        on_progress, on_log: see `RemoteSession.call`.

    Raises:
        ToolError: see `RemoteSession`.
    """
    session = RemoteSession.start(
        server["url"],
        deadline=context.deadline,
        headers=server.get("headers"),
        credentials=context,
        network=network,
        login=f"{LOGIN} {server['name']}",
    )
    with session:
        session.initialize(server.get("era", ""))
        return session.call(tool, arguments, on_progress, on_log)
