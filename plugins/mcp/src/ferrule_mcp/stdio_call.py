"""One call of a server's tool, from the arguments to what `execute` returns."""

from __future__ import annotations

import os

from ferrule_mcp.results.conversion import read_result
from ferrule_mcp.results.events import EventRelay
from ferrule_mcp.stdio.session import ServerError, Session

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule import Context
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_mcp.results.blocks import Item
    from ferrule_mcp.used_session import UsedSession

_HOST_VARIABLES = ("FERRULE_", "IKIGAI_", "PYTHON", "VIRTUAL_ENV")
_PLAIN = {"NO_COLOR": "1", "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1"}  # no terminal reads what it writes


def call_tool(
    server: JSONMapping,
    tool: str,
    arguments: JSONObject,
    context: Context,
    variables: Mapping[str, str],
) -> JSONObject | list[Item] | str:
    """Start the server, call one of its tools, end it; where it lasts, call the one that runs, and let it go on.

    Args:
        server: the record of it, as in server.json: its `command`, `name`, `folder` and `era`.
        tool: the server's own name of the tool.
        arguments: as the server takes them.
        context: of the call. Progress, logs and what was declined become events.
        variables: the server's environment, as `build_environment` makes it.

    Raises:
        ToolError: with the server's own words.
    """
    relay = EventRelay(context.event)
    used = _open_session(server, context, variables)
    session = used if isinstance(used, Session) else used.session
    try:
        with used:
            used.initialize()
            answer = session.call(tool, arguments, relay.report_progress, relay.report_log)
    except ServerError as error:
        from ferrule_mcp.results.errors import explain_refusal

        raise explain_refusal(server["name"], error.code, error.message, error.data, session.declined) from None
    finally:
        relay.report_declined(session.declined)
        relay.report_garbage(*session.garbage)
    result = read_result(answer, session.declined)
    relay.report_doubt(result)
    return result


def _open_session(server: JSONMapping, context: Context, variables: Mapping[str, str]) -> Session | UsedSession:
    """A session for this call alone, or with a server that lasts. Raises ToolError where it cannot be started."""
    folder, roots = server.get("folder", ""), server.get("roots", ())

    def begin() -> Session:
        return Session.start(
            server["command"], variables, folder,
            name=server["name"], deadline=context.deadline, era=server.get("era", ""), secrets=context.secrets,
            roots=roots,
        )  # fmt: skip

    if context.lasting is None:
        return begin()
    from ferrule_mcp.used_session import use_session

    return use_session(begin, (server["command"], dict(variables), folder, list(roots)), context, context.lasting)


def build_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server: that of this call, without what is the host's, and these variables.

    variables: the fixed ones, and those with the values of credentials.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_HOST_VARIABLES)}
    return {**kept, **_PLAIN, **variables}
