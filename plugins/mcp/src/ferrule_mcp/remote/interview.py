"""What a server over HTTP is asked when it is added: the release that it speaks, what it is, and its tools."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule_mcp.remote.call import start_session
from ferrule_mcp.stdio.interview import Interview

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule_mcp.record import ServerRecord


def interview_remote(record: ServerRecord, context: Context) -> Interview:
    """Ask a server what it is and which tools it has. Raises ToolError."""
    started = time.monotonic()
    with start_session(record, context) as session:
        answer = session.initialize()
        tools = session.list_tools()
    return Interview(
        era=answer["era"],
        server=answer["server"],
        capabilities=answer["capabilities"],
        offered=answer["offered"],
        instructions=answer["instructions"],
        tools=tools,
        findings=[],
        stderr=[],
        seconds=time.monotonic() - started,
    )
