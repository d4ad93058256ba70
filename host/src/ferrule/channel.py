"""What a supervised child tells its parent, over a pipe that nothing else writes to: one message a line.

A message is one letter and a JSON document: `s` a secret that must be kept out of every output, `e` an event, `f` a
failure (`FerruleError.facts()`), `r` the result. The first `f` or `r` ends the call.
"""

import os

from ferrule import strict_json
from ferrule.errors import FerruleError, ResultInvalid

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SECRET, EVENT, FAILURE, RESULT = b"s", b"e", b"f", b"r"


class Channel:
    """The child's end of the pipe."""

    __slots__ = ("_file", "_owner", "_size_limit")

    def __init__(self, file: int, size_limit: int) -> None:
        self._file = file
        self._size_limit = size_limit
        self._owner = os.getpid()

    def secrets(self, values: "Iterable[str]") -> None:
        """Name values that the parent keeps out of every output. Said before a plugin sees any of them."""
        for value in values:
            self._send(SECRET, strict_json.dumps(value))

    def event(self, event: "Mapping[str, object]") -> None:
        """Hand on one event for stderr; ResultInvalid where it is no JSON object or larger than an answer may be."""
        self._send(EVENT, _document(dict(event), self._size_limit, "event"))

    def result(self, value: object) -> None:
        """Hand on the result; ResultInvalid where it cannot be written as JSON, or is larger than the client reads."""
        self._send(RESULT, _document(value, self._size_limit, "result"))

    def failure(self, error: FerruleError) -> None:
        """Hand on a failure. Facts that cannot be written as JSON are left out."""
        facts = error.facts()
        if error.event is not None:
            facts.pop("event")
            self.event(error.event)
        try:
            document = _document(facts, self._size_limit, "failure")
        except ResultInvalid:
            plain = {name: _legible(facts[name]) for name in ("code", "message", "hint") if name in facts}
            document = strict_json.dumps(plain)
        self._send(FAILURE, document)

    def _send(self, kind: bytes, document: bytes) -> None:
        if os.getpid() != self._owner:
            return  # a copy of the child that the plugin forked off; only the original may answer
        data = memoryview(kind + document + b"\n")
        while data:
            data = data[os.write(self._file, data) :]


class Messages:
    """The parent's end: bytes in, messages out. What is no message is ignored; a plugin may have written it."""

    __slots__ = ("_pending", "_size_limit", "events", "failure", "overflow", "result", "secrets")

    def __init__(self, size_limit: int) -> None:
        self._size_limit = size_limit
        self._pending = bytearray()
        self.secrets: list[str] = []
        self.events: list[dict[str, object]] = []
        self.failure: dict[str, object] | None = None
        self.result: bytes | None = None
        self.overflow = False

    @property
    def ended(self) -> bool:
        """True once the child has said how the call ended, or has said far too much."""
        return self.overflow or self.failure is not None or self.result is not None

    def feed(self, data: bytes) -> None:
        """Take what was read from the pipe."""
        self._pending += data
        while not self.ended:
            line, newline, rest = self._pending.partition(b"\n")
            if not newline:
                self.overflow = len(self._pending) > self._size_limit + 2
                return
            self._pending = rest
            self._take(bytes(line[:1]), bytes(line[1:]))

    def _take(self, kind: bytes, document: bytes) -> None:
        try:
            value = strict_json.loads(document)
        except strict_json.MalformedJSON:
            return
        if kind == RESULT and len(document) <= self._size_limit:
            self.result = document
        elif kind == SECRET and isinstance(value, str):
            self.secrets.append(value)
        elif kind == FAILURE and isinstance(value, dict):
            self.failure = value
        elif kind == EVENT and isinstance(value, dict) and len(self.events) < 100:
            self.events.append(value)


def _document(value: object, size_limit: int, what: str) -> bytes:
    try:
        document = strict_json.dumps(value)
    except strict_json.Unrepresentable as error:
        raise ResultInvalid(f"The tool's {what} cannot be written as JSON: {error}.") from None
    if len(document) > size_limit:
        raise ResultInvalid(
            f"The tool's {what} takes {len(document):,} bytes, more than the {size_limit:,} that the client reads.",
            hint="Ask for less at a time." if what == "result" else None,
        )
    return document


def _legible(value: object) -> str:
    text = str(value).encode(errors="replace").decode().replace("\0", "\ufffd")
    return text if len(text) <= 2000 else text[:2000] + "…"
