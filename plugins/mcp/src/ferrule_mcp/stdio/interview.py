"""What a server is asked when it is added: the release that it speaks, what it is, and its tools."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule_mcp.interview import Interview
from ferrule_mcp.stdio import eras
from ferrule_mcp.stdio.session import ServerError, Session
from ferrule_mcp.stdio.state_signs import keeps_state
from ferrule_mcp.stdio.tool_list import read_tools

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.text.json_types import JSONObject

__all__ = ["interview", "keeps_state"]

DEFAULT_SECONDS = 120.0
"""That an interview may take: the first start of a server can take far longer than all that follow."""
_QUIET_SECONDS = 0.01  # in which a server says what it says after the handshake


# Long by its parameters, of which each is explained here and nowhere else.
def interview(
    command: Sequence[str],
    variables: Mapping[str, str],
    folder: str = "",
    seconds: float = DEFAULT_SECONDS,
    *,
    name: str,
    roots: Sequence[str] = (),
    secrets: Sequence[str] = (),
) -> Interview:
    """Start a server, ask what it is and which tools it has, and end it.

    `initialize` comes first, which every server of a release with a handshake takes. Where it is refused, a second
    process is asked by `server/discover`: for a server, the first message may decide for the whole session.

    Args:
        command: the program and its arguments.
        variables: the whole environment of the server.
        folder: the one it works in, "" for that of this process.
        seconds: that all of this may take.
        name: the server's, for errors.
        roots: folders that it is given as its roots; without any, roots are not offered.
        secrets: values that no error and no line may show.

    Raises:
        ToolError: it does not start, does not answer, or is no server.
    """
    started = time.monotonic()
    refused: ServerError | None = None
    for era in ("", eras.ENVELOPE):
        session = Session.start(
            command, variables, folder,
            name=name, deadline=started + seconds, roots=roots, secrets=lambda: secrets,
        )  # fmt: skip
        with session:
            try:
                answer = session.discover(seconds) if era else session.initialize(seconds)
            except ServerError as error:
                refused = refused or error
                continue
            return _ask(session, answer, started, secrets)
    raise _explain_refusal(refused, name)


def _ask(session: Session, answer: JSONObject, started: float, secrets: Sequence[str]) -> Interview:
    from ferrule.text.redaction import redact_value

    session.await_messages(_QUIET_SECONDS)
    tools, findings = _read_list(session, answer)
    seconds = time.monotonic() - started
    session.close()
    meta = answer.get("_meta")
    server = answer.get("serverInfo") or (meta.get(eras.SERVER_KEY) if isinstance(meta, dict) else None)
    instructions, capabilities = answer.get("instructions"), answer.get("capabilities")
    found = Interview(
        era=session.era,
        server=server if isinstance(server, dict) else {},
        capabilities=capabilities if isinstance(capabilities, dict) else {},
        offered=session.offered,
        instructions=instructions if isinstance(instructions, str) else "",
        tools=tools,
        findings=[*findings, *_describe_oddities(session)],
        stderr=session.stderr_lines,
        seconds=seconds,
    )
    return found._replace(**{key: redact_value(getattr(found, key), secrets) for key in ("findings", "stderr")})


def _read_list(session: Session, answer: JSONObject) -> tuple[list[JSONObject], list[str]]:
    """The tools, none where the server says that it has none or knows no `tools/list`."""
    capabilities = answer.get("capabilities")
    try:
        return read_tools(session)
    except ServerError as error:
        if isinstance(capabilities, dict) and "tools" not in capabilities:
            return [], ["It has no tools: it offers resources or prompts alone."]
        return [], [f"It refuses to list its tools: {error.message} ({error.code})."]


def _describe_oddities(session: Session) -> list[str]:
    count, lines = session.garbage
    found = []
    if count:
        found.append(f"It wrote {count:,} lines to stdout that are no messages, such as: {lines[0]}")
    if session.declined:
        found.append(f"It asked for what it was not offered, and was declined: {'; '.join(session.declined)}.")
    return found


def _explain_refusal(refused: ServerError | None, name: str) -> Exception:
    from ferrule import ToolError
    from ferrule_mcp.stdio.failures import SERVER_FAILED

    words = f"{refused.message} ({refused.code})" if refused else "it said nothing"
    return ToolError(
        SERVER_FAILED,
        f"The MCP server {name} refuses to begin: {words}.",
        hint=f"Releases that are spoken: {', '.join((*eras.HANDSHAKES, eras.ENVELOPE))}. Install a version of it that "
        "speaks one of them.",
    )
