"""What the serving process and its supervisor send each other, over a pair of sockets.

A frame is one byte for its kind, four for the number of the call, four for the length of its body, and the body. A body
that begins with facts has them as one line of JSON, and after it a document as it stands.

To the supervisor: CALL (CallFacts; the arguments), CANCEL (the call of that number), PREPARE (the name of a tool to
load), RENEW (the name of a tool to load anew, or nothing for all), FACTS, and the socket's end, which ends the
supervisor. From it: EVENT (one JSON object), ANSWER (AnswerFacts; the document), RENEWED and FACTS (ServerFacts),
with the number of what asked for it. Numbers grow.

Both have a file open in which the supervisor notes the number of the call that it has begun last, as NUMBER packs it:
where the supervisor is lost, calls of greater numbers may be made again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.calls.server_interface import Client

CALL, CANCEL, PREPARE, RENEW, FACTS = b"c", b"x", b"p", b"r", b"f"
EVENT, ANSWER, RENEWED = b"e", b"a", b"d"

_HEAD = struct.Struct(">cII")
NUMBER = struct.Struct(">I")


class CallFacts(TypedDict):
    """The tool to call. seconds: that the call may take, None for the configured deadline. client: who asks."""

    tool: str
    seconds: float | None
    client: Client | None


class AnswerFacts(TypedDict):
    """How a call ended, as `CallAnswer` has it. text: what it printed. seconds: that it took."""

    is_error: bool
    text: str
    seconds: float


class Frame(NamedTuple):
    """One that has come."""

    kind: bytes
    number: int
    body: bytes


def frame(kind: bytes, number: int, facts: Mapping[str, object] | None = None, document: bytes = b"") -> bytes:
    """One frame; without facts, its body is the document alone."""
    body = document if facts is None else strict_json.dumps(facts) + b"\n" + document
    return _HEAD.pack(kind, number, len(body)) + body


class FrameBuffer:
    """What has come of a stream, until frames are whole."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take what has come; the frames that are whole by now."""
        self._data += data
        while len(self._data) >= _HEAD.size:
            kind, number, size = _HEAD.unpack_from(self._data)
            end = _HEAD.size + size
            if len(self._data) < end:
                return
            body = bytes(self._data[_HEAD.size : end])
            del self._data[:end]
            yield Frame(kind, number, body)


def facts_and_document(body: bytes) -> tuple[Any, bytes]:
    """The two parts of a body. What the facts are is said by the frame's kind; both ends are of one version."""
    line, _, document = body.partition(b"\n")
    return strict_json.loads(line), document
