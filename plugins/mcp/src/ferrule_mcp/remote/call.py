"""One call of a tool of a server over HTTP, from the arguments to what `execute` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_mcp.remote.session import RemoteSession
from ferrule_mcp.results.conversion import read_result
from ferrule_mcp.results.events import EventRelay

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_mcp.record import ServerRecord
    from ferrule_mcp.results.blocks import Item


def call_remote_tool(
    record: ServerRecord, tool: str, arguments: JSONObject, context: Context
) -> JSONObject | list[Item] | str:
    """Call one tool of a server.

    Args:
        record: of the server.
        tool: the server's own name of the tool.
        arguments: as the server takes them.
        context: of the call. Progress and logs become events.

    Raises:
        ToolError: with the server's own words.
    """
    relay = EventRelay(context.event)
    with start_session(record, context) as session:
        session.initialize(record["era"])
        answer = session.call(tool, arguments, relay.report_progress, relay.report_log)
    result = read_result(answer, [])
    relay.report_doubt(result)
    return result


def start_session(record: ServerRecord, context: Context) -> RemoteSession:
    """A session with a server, to which nothing is sent yet. Raises ToolError."""
    return RemoteSession.start(
        record["url"],
        deadline=context.deadline,
        headers=record["headers"],
        credentials=context,
        network=record["permissions"].get("network"),
    )
