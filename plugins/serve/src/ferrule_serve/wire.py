"""What the serving process and a worker send each other, over a pair of sockets.

A frame is one byte for its kind, four for the length of its body, and the body. A body that begins with facts has them
as one line of JSON, and after it a document as it stands.

To a worker: CALL (CallFacts; the arguments), CANCEL (the call that runs), PREPARE (the name of the tool to load), and
the socket's end, which ends the worker. From a worker: BEGUN (the call is being made; it is not to be made again),
EVENT (one JSON object), ANSWER (AnswerFacts; the document), IDLE (WorkerFacts).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, TypedDict

from ferrule.text import strict_json

CALL, CANCEL, PREPARE = b"c", b"x", b"p"
BEGUN, EVENT, ANSWER, IDLE = b"b", b"e", b"a", b"i"

_HEAD = struct.Struct(">cI")
HEAD_BYTES = _HEAD.size


class CallFacts(TypedDict):
    """The tool to call. seconds: that the call may take, None for the configured deadline."""

    tool: str
    seconds: float | None


class AnswerFacts(TypedDict):
    """How a call ended, as `CallAnswer` has it. text: what it printed. seconds: that it took."""

    is_error: bool
    text: str
    seconds: float


class WorkerFacts(TypedDict):
    """The tool that a worker has loaded, the id of the plugin's process, and the calls that it has taken."""

    tool: str | None
    process: int | None
    calls: int


def frame(kind: bytes, facts: Mapping[str, object] | None = None, document: bytes = b"") -> bytes:
    """One frame; without facts, its body is the document alone."""
    body = document if facts is None else strict_json.dumps(facts) + b"\n" + document
    return _HEAD.pack(kind, len(body)) + body


def head(data: bytes) -> tuple[bytes, int]:
    """The kind and the length of the body, from the first HEAD_BYTES of a frame."""
    kind, size = _HEAD.unpack(data)
    return kind, size


def facts_and_document(body: bytes) -> tuple[Any, bytes]:
    """The two parts of a body. What the facts are is said by the frame's kind; both ends are of one version."""
    line, _, document = body.partition(b"\n")
    return strict_json.loads(line), document
