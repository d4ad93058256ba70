"""The first start of a server, as the call of a tool that is there for it alone: held as every later call will be.

What the server says is left in a file of its home, since the list of its tools may be larger than any answer. The
server can write there too, so the answer of the call has the digest of the file, and what has another one is not taken.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING

from ferrule import ToolError
from ferrule.text import strict_json
from ferrule.text.redaction import redact_value
from ferrule_mcp.variables import fill_command, make_variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_mcp.interview import Interview
    from ferrule_mcp.record import ServerRecord

_PREFIX = ".ferrule-interview-"
_MAX_BYTES = 64 << 20


def hold_interview(record: ServerRecord, context: Context) -> JSONObject:
    """Ask a server what it is and has; the name and the digest of the file with its answer.

    Raises ToolError as the start of a server does, and for an answer that is too large.
    """
    found = _ask_remote(record, context) if record["transport"] == "http" else _ask(record, context)
    data = strict_json.dumps(_hide_secrets(found._asdict(), context.secrets()))
    if len(data) > _MAX_BYTES:
        raise ToolError(
            "SERVER_FAILED",
            f"What the MCP server {record['name']} says of its tools is larger than {_MAX_BYTES >> 20} MiB.",
            hint="Ask its author for fewer tools, or shorter texts.",
        )
    _remove_older(record["home"])
    name = f"{_PREFIX}{token_hex(8)}"
    with open(os.path.join(record["home"], name), "xb") as file:
        file.write(data)
    return {"file": name, "sha256": hashlib.sha256(data).hexdigest()}


def _remove_older(home: str) -> None:
    """Remove what a process has left that was killed before it took the answer."""
    for name in os.listdir(home):
        if name.startswith(_PREFIX):
            with suppress(OSError):
                os.unlink(os.path.join(home, name))


def _hide_secrets(found: JSONObject, secrets: Sequence[str]) -> JSONObject:
    """The answer without the server's secrets, since every tool can read what is written of it.

    A tool whose name holds one is left out: by another name it could not be called.
    """
    named = [one for one in found["tools"] if redact_value(one["name"], secrets) == one["name"]]
    left = len(found["tools"]) - len(named)
    findings = [*found["findings"], *([f"{left} tools are left out: their names hold a secret."] if left else [])]
    return redact_value({**found, "tools": named, "findings": findings}, secrets)


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


def _ask_remote(record: ServerRecord, context: Context) -> Interview:
    from ferrule_mcp.remote.interview import interview

    return interview(
        record["url"],
        headers=record["headers"],
        credentials=context,
        network=record["permissions"].get("network"),
        seconds=context.remaining(),
    )


def take_answer(home: str, answer: JSONMapping) -> JSONObject | None:
    """What the interview has left in the home of a server, which is taken away; None where it left nothing.

    Args:
        home: of the server, which may have put anything in the file's place.
        answer: of the call of `hold_interview`.
    """
    name, digest = answer.get("file"), answer.get("sha256")
    if not isinstance(name, str) or not name.startswith(_PREFIX) or "/" in name:
        return None
    path = os.path.join(home, name)
    try:
        data = _read_regular(path)
        os.unlink(path)
    except OSError:
        return None
    return strict_json.loads_object(data) if hashlib.sha256(data).hexdigest() == digest else None


def _read_regular(path: str) -> bytes:
    """The content of a file, and of no link, pipe or device. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        return file.read(_MAX_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
