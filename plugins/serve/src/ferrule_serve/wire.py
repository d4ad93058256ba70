"""What the serving process and a worker tell each other, over a pair of sockets.

A frame is one byte for its kind, four for the length of its body, and the body. A body that begins with facts has them
as one line of JSON, and after it a document as it stands.

To a worker: CALL (facts: tool, seconds; the arguments), CANCEL (the call that runs), PREPARE (facts: tool), and the
socket's end, which ends the worker. From a worker: BEGUN (the call is being made; it is not to be made again), EVENT
(one JSON object), ANSWER (facts: is_error, seconds, text; the document), IDLE (facts about the worker).
"""

from __future__ import annotations

import struct
from typing import Any

from ferrule.text import strict_json

CALL, CANCEL, PREPARE = b"c", b"x", b"p"
BEGUN, EVENT, ANSWER, IDLE = b"b", b"e", b"a", b"i"

_HEAD = struct.Struct(">cI")
HEAD_BYTES = _HEAD.size


def frame(kind: bytes, facts: dict[str, Any] | None = None, document: bytes = b"") -> bytes:
    """One frame; without facts, its body is the document alone."""
    body = document if facts is None else strict_json.dumps(facts) + b"\n" + document
    return _HEAD.pack(kind, len(body)) + body


def head(data: bytes) -> tuple[bytes, int]:
    """The kind and the length of the body, from the first HEAD_BYTES of a frame."""
    kind, size = _HEAD.unpack(data)
    return kind, size


def facts_and_document(body: bytes) -> tuple[dict[str, Any], bytes]:
    """The two parts of a body."""
    line, _, document = body.partition(b"\n")
    facts: dict[str, Any] = strict_json.loads(line)  # type: ignore[assignment]
    return facts, document
