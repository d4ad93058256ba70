"""The first start of a server, as the call of a tool that is there for it alone: held as every later call will be.

What the server says is left in a file of its home, since the list of its tools may be larger than any answer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.text import strict_json
from ferrule_mcp.variables import fill_command, make_variables

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_mcp.record import ServerRecord
    from ferrule_mcp.remote.interview import RemoteInterview
    from ferrule_mcp.stdio.interview import Interview

_FILE = ".ferrule-interview.json"
_MAX_BYTES = 64 << 20


def hold_interview(record: ServerRecord, context: Context) -> JSONObject:
    """Ask a server what it is and has; the file with its answer. Raises ToolError as the start of a server does."""
    found = _ask_remote(record, context) if record["transport"] == "http" else _ask(record, context)
    path = os.path.join(record["home"], _FILE)
    with open(path, "wb") as file:
        file.write(strict_json.dumps(found._asdict()))
    return {"file": path}


def _ask(record: ServerRecord, context: Context) -> Interview:
    from ferrule_mcp.stdio.interview import interview

    return interview(
        fill_command(record, context.credential),
        make_variables(record, context.credential),
        record["folder"] or record["home"],
        context.remaining(),
        name=record["name"],
        roots=record["roots"],
        secrets=context.secrets(),
    )


def _ask_remote(record: ServerRecord, context: Context) -> RemoteInterview:
    from ferrule_mcp.remote.interview import interview

    return interview(
        record["url"],
        headers=record["headers"],
        credentials=context,
        network=record["permissions"].get("network"),
        seconds=context.remaining(),
    )


def take_answer(home: str) -> JSONObject | None:
    """What the last interview has left in the home of a server, which is taken away; None where it left nothing."""
    path = os.path.join(home, _FILE)
    try:
        with open(path, "rb") as file:
            found = strict_json.loads_object(file.read(_MAX_BYTES))
        os.unlink(path)
    except (FileNotFoundError, ValueError):
        return None
    return found
