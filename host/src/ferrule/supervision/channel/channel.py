"""The messages of a supervised child to its parent, over a pipe that nothing else writes to: one a line.

A message is one letter and a JSON document: `s` a secret that must be kept out of every output, `e` an event, `f` a
failure (`FerruleError.facts()`), `r` the result. The first `f` or `r` ends the call. Where wrappers are on, `w` is the
one whose code runs (null: none), and `k` with one of the last two is the preliminary outcome, the tool's own, in case a
wrapper ends the process after it. `m` is a list of the modules that the call has imported. `u` says that nothing that
the call has started runs any more, and that the process finds out next whether it may take another one. `l`, where it
is the first message, is the number of the descriptor by which the child's system calls are judged, and `d` a list of
what the call was denied, each a kind and what it was. `q` is a question, see
`ferrule.supervision.channel.questions`.

A child may say so many of each kind, of so many bytes together. What the parent does with a message takes time in which
nothing else is looked at, such as the deadline. So all that a child can make it do is bounded, and one that says more
is ended.
"""

from __future__ import annotations

import os
from _thread import RLock  # threading itself takes a while to import, and a plugin may have replaced what is in it

from ferrule.errors import FerruleError, ResultInvalid, ResultTooLarge
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ferrule.errors import ErrorFacts
    from ferrule.supervision.channel.questions import AnswerPipe
    from ferrule.text.json_types import JSONObject

# A plugin may replace these in os, and the child's end must be its own.
_write, _getpid = os.write, os.getpid

_MAX_TEXT_CHARS = 8_000
_MAX_NAME_CHARS = 100
_TOO_LARGE = "The tool sent more than the client reads."
_FRAME_BYTES = 3  # of a line beside its document: one or two letters, and the newline
SECRET, EVENT, FAILURE, RESULT, ACTIVE_WRAPPER, PRELIMINARY, IMPORTS = b"s", b"e", b"f", b"r", b"w", b"k", b"m"
LISTENER, DENIED, QUESTION, CHECK = b"l", b"d", b"q", b"u"
_KINDS = (SECRET, EVENT, FAILURE, RESULT, ACTIVE_WRAPPER, IMPORTS, LISTENER, DENIED, QUESTION, CHECK)
_MAX_DENIALS = 50
_KINDS_OF_FACTS: Mapping[str, type | tuple[type, ...]] = {
    "hint": str, "admin": str, "retry_after": (int, float), "event": dict, "details": dict,
}  # fmt: skip

_KIB = 1 << 10

# By the letter of the kind: how many, how many bytes together (0: what an answer may have, each), and what they are.
LIMITS: Mapping[bytes, tuple[int, int, str]] = {
    b"s": (200, 64 * _KIB, "secrets"),
    b"e": (10_000, 16 << 20, "events"),
    b"f": (20, 0, "failures"),  # the first that is one ends the call
    b"r": (20, 0, "results"),  # as above
    b"w": (10_000, 1 << 20, "names of wrappers"),
    b"k": (4, 0, "preliminary results"),
    b"m": (1, 128 * _KIB, "lists of imported modules"),
    b"l": (1, 64, "listeners"),
    b"d": (20, 512 * _KIB, "lists of what was denied"),
    b"q": (300, 16 << 20, "questions"),
    b"u": (1, 64, "words on its further use"),
}
_OTHERS = 1_000, 1 << 20, "lines that are no message"
KEPT_EVENTS, KEPT_EVENT_BYTES = 100, 8 << 20  # of those that nobody takes as they come
_LARGEST_SECRET_BYTES = 16 * _KIB

_current: Channel | None = None


def current_channel() -> Channel | None:
    """The channel of this process to its parent, where that answers questions; None anywhere else."""
    return _current if _current is not None and _current.is_owned else None


class Channel:
    """The child's end of the pipe. answers: where the parent's answers are read, None where it answers nothing."""

    __slots__ = (
        "_held", "_lock", "_notes", "_outcome", "_owner", "_size_limit", "answers", "file", "known_secrets",
    )  # fmt: skip

    def __init__(self, file: int, size_limit: int, answers: AnswerPipe | None = None) -> None:
        global _current
        self.file = file
        self.answers = answers
        self.known_secrets: list[str] = []
        self._size_limit = size_limit
        self._owner = _getpid()
        self._lock = RLock()
        self._notes = b""
        self._held = b""
        self._outcome: tuple[bytes, bytes] | None = None
        if answers is not None:
            _current = self

    @property
    def is_owned(self) -> bool:
        """Whether this process is the one that the channel was made for, and not a copy of it."""
        return _getpid() == self._owner

    def ask(self, question: Mapping[str, object]) -> JSONObject | None:
        """The parent's answer, whose `secrets` are known from then on; None where it answers no questions.

        Raises AnswerMissing where it has not answered this question.
        """
        if self.answers is None or not self.is_owned:
            return None
        with self._lock:  # an answer is for the thread that has asked
            number = self.answers.next_number()
            self._send(QUESTION, strict_json.dumps({**question, "number": number}))
            answer = self.answers.read(number)
        self.known_secrets += [str(one) for one in answer.get("secrets", ())]
        return answer

    def secrets(self, values: Iterable[str]) -> None:
        """Name values that the parent keeps out of every output. Said before a plugin sees any of them."""
        for value in values:
            self.known_secrets.append(value)
            self._send(SECRET, strict_json.dumps(value))

    def event(self, event: Mapping[str, object]) -> None:
        """Hand on one event for stderr; ResultInvalid where it is no JSON object or larger than an answer may be."""
        self._send(EVENT, _document(dict(event), self._size_limit, "event"))

    def result(self, value: object) -> None:
        """Keep the result; ResultInvalid where it cannot be written as JSON, ResultTooLarge where it is too large."""
        self._outcome = RESULT, _document(value, self._size_limit, "result")

    def failure(self, error: FerruleError) -> None:
        """Keep a failure. Facts that are not what they should be, or that JSON cannot hold, are left out."""
        facts = _sound_facts(error, self.known_secrets)
        event = facts.pop("event", None)
        if event is not None:
            try:
                self.event(event)
            except (ResultInvalid, TypeError, ValueError):
                pass  # the error says what happened without it
        self._outcome = FAILURE, self._write_facts(facts)

    def enter_wrapper(self, wrapper: str | None, *, may_wait: bool = False) -> None:
        """Say whose code runs next: a wrapper's, or None for the tool's and the host's.

        may_wait: only the host's code runs until something else is said.
        """
        self._send(ACTIVE_WRAPPER, strict_json.dumps(wrapper), may_wait=may_wait)

    def keep_preliminary(self, document: bytes) -> None:
        """Say the tool's result ahead, which counts if the child ends without an outcome. Raises ResultTooLarge.

        It is sent before the code of a wrapper runs.
        """
        self._send(PRELIMINARY + RESULT, _fitting(document, self._size_limit, "result"), may_wait=True)

    def keep_preliminary_failure(self, error: FerruleError) -> None:
        """Send the tool's failure ahead, without its event, which counts if the child ends without an outcome."""
        facts = _sound_facts(error, self.known_secrets)
        facts.pop("event", None)
        self._send(PRELIMINARY + FAILURE, self._write_facts(facts), may_wait=True)

    def keep_imports(self, modules: Sequence[str]) -> None:
        """Say with the outcome which modules the call has imported, in the order in which it did."""
        if modules:
            self._notes += IMPORTS + strict_json.dumps(list(modules)) + b"\n"

    def keep_check(self) -> None:
        """Say with the outcome that the process finds out next whether it may take another call."""
        self._notes += CHECK + b"true\n"

    def send_listener(self, number: int) -> None:
        """Say by which descriptor the system calls of this process are judged, before anything else is said."""
        self._send(LISTENER, strict_json.dumps(number))

    def send_denials(self, denials: Sequence[tuple[str, str]]) -> None:
        """Say what the call was denied: each a kind, and what it was."""
        self._send(DENIED, strict_json.dumps([list(one) for one in denials]))

    def finish(self) -> None:
        """Send the result or the failure, which ends the call for the parent."""
        if self._outcome:
            kind, document = self._outcome
            self._send(self._notes + kind, document)

    def _write_facts(self, facts: Mapping[str, object]) -> bytes:
        document = strict_json.dumps(facts)
        if len(document) > self._size_limit:
            document = strict_json.dumps({"code": facts["code"], "message": facts["message"]})
        return document

    def _send(self, kind: bytes, document: bytes, *, may_wait: bool = False) -> None:
        if not self.is_owned:
            return  # a copy of the child that the plugin forked off; only the original may answer
        # The pipe takes a long message in pieces, between which a thread of the plugin could put its event.
        with self._lock:
            self._held += kind + document + b"\n"
            if may_wait:
                return
            data, self._held = memoryview(self._held), b""
            while data:
                data = data[_write(self.file, data) :]


class MessageCount:
    """What one child has said. size_limit: bytes that an answer may have."""

    __slots__ = ("_bytes", "_counts", "_size_limit")

    def __init__(self, size_limit: int) -> None:
        self._size_limit = size_limit
        self._counts: dict[bytes, int] = {}
        self._bytes: dict[bytes, int] = {}

    def add(self, kind: bytes, size: int) -> str | None:
        """Count a message; why it is too much, as a sentence, or None. size: bytes of its document."""
        name = kind if kind in LIMITS else b""
        number, total, what = LIMITS.get(name, _OTHERS)
        count = self._counts[name] = self._counts.get(name, 0) + 1
        said = self._bytes[name] = self._bytes.get(name, 0) + size
        if count > number:
            return f"The tool's process sent the host more than {number:,} {what}."
        most = total or count * (self._size_limit + 1)  # a preliminary result has the letter of its kind
        if said > most:
            return f"The tool's process sent the host more than {most:,} bytes of {what}."
        if name == SECRET and size > _LARGEST_SECRET_BYTES:
            return f"The tool's process named a secret of more than {_LARGEST_SECRET_BYTES:,} bytes."
        return None


class Messages:
    """The parent's end: bytes in, messages out. What is no message is ignored; a plugin may have written it.

    on_event: gets each event as it comes, and the secrets known by then. Without it, `events` keeps the first ones.
    result, failure: the outcome. secrets: those that have come. imports: the modules that the call has imported.
    is_checked: the process finds out next whether it may take another call. active_wrapper: the one whose code runs.
    excess: why the child has said too much, as a sentence, or None. listener: of the child, if there is one.
    denials: see `Channel.send_denials`. questions: those that wait for an answer.
    refusals: the failures in answers that were given.
    """

    __slots__ = (
        "_count", "_kept_bytes", "_on_event", "_pending", "_preliminary", "_size_limit", "active_wrapper", "denials",
        "events", "excess", "failure", "imports", "is_checked", "listener", "questions", "refusals", "result",
        "secrets",
    )  # fmt: skip

    def __init__(self, size_limit: int, on_event: Callable[[JSONObject, Sequence[str]], None] | None = None) -> None:
        self._size_limit = size_limit
        self._on_event = on_event
        self._count = MessageCount(size_limit)
        self._kept_bytes = 0
        self._pending = bytearray()
        self.secrets: list[str] = []
        self.events: list[JSONObject] = []
        self.imports: list[str] = []
        self.denials: list[tuple[str, str]] = []
        self.listener: int | None = None
        self.questions: list[JSONObject] = []
        self.refusals: list[ErrorFacts] = []
        self.failure: ErrorFacts | None = None
        self.result: bytes | None = None
        self.active_wrapper: str | None = None
        self.is_checked = False
        self._preliminary = b""
        self.excess: str | None = None

    @property
    def preliminary(self) -> tuple[bytes | None, ErrorFacts | None] | None:
        """Result and failure of the tool alone; None where they have not come."""
        kind, document = self._preliminary[:1], self._preliminary[1:]
        try:
            value = strict_json.loads(document)
        except strict_json.MalformedJSON:
            return None
        if not isinstance(value, dict) or strict_json.is_nested_too_deeply(document, value):
            return None
        if kind == RESULT:
            return document, None
        failure = _failure_in(value)
        return None if failure is None else (None, failure)

    @property
    def ended(self) -> bool:
        """True once the child has said how the call ended, or has said far too much."""
        return self.excess is not None or self.failure is not None or self.result is not None

    def feed(self, data: bytes) -> None:
        """Take what was read from the pipe."""
        self._pending += data
        if b"\n" in data:  # a large message comes in many pieces, and only the last one ends it
            *lines, rest = bytes(self._pending).split(b"\n")
            self._pending = bytearray(rest)
            for line in lines:
                if not self.ended:
                    self._take(line[:1], line[1:])
        if not self.ended and len(self._pending) > self._size_limit + _FRAME_BYTES:
            self.excess = _TOO_LARGE

    def _take(self, kind: bytes, document: bytes) -> None:
        self.excess = self._count.add(kind, len(document))
        if self.excess is not None:
            return
        if kind == PRELIMINARY and document[:1] in (RESULT, FAILURE):
            self._preliminary = document  # which is read where it counts
        if kind not in _KINDS:
            return
        try:
            value = strict_json.loads(document)
        except strict_json.MalformedJSON:
            return
        if strict_json.is_nested_too_deeply(document, value):
            return
        if kind == RESULT and isinstance(value, dict):
            self.result = document
        elif kind == SECRET and isinstance(value, str):
            self.secrets.append(value)
        elif kind == FAILURE and isinstance(value, dict):
            self.failure = _failure_in(value)
        elif kind == EVENT and isinstance(value, dict):
            self._take_event(value, len(document))
        elif kind == QUESTION and isinstance(value, dict):
            self.questions.append(value)
        elif kind == IMPORTS and isinstance(value, list):
            self.imports = [name for name in value if isinstance(name, str)]
        elif kind == CHECK:
            self.is_checked = value is True
        elif kind == LISTENER and isinstance(value, int) and self.listener is None:
            self.listener = value
        elif kind == DENIED and isinstance(value, list):
            self.denials = [(str(one[0]), str(one[1])) for one in value[:_MAX_DENIALS] if _is_denial(one)]
        elif kind == ACTIVE_WRAPPER:
            self.active_wrapper = value[:_MAX_NAME_CHARS] if isinstance(value, str) else None

    def _take_event(self, event: JSONObject, size: int) -> None:
        if self._on_event is not None:
            self._on_event(event, self.secrets)
        elif len(self.events) < KEPT_EVENTS and self._kept_bytes + size <= KEPT_EVENT_BYTES:
            self._kept_bytes += size
            self.events.append(event)


def _sound_facts(error: FerruleError, secrets: Sequence[str]) -> JSONObject:
    """The facts of an error; a plugin may have raised it with anything in them, or made its own kind of it."""
    from ferrule.supervision.exception_text import legible

    try:
        facts = error.facts()
        texts = {name: legible(facts[name], secrets, _MAX_TEXT_CHARS) for name in ("code", "message")}
    except Exception:  # noqa: BLE001 - whatever a plugin's own class raises
        return {"code": "INTERNAL_ERROR", "message": f"The tool raised {type(error).__name__}, which says nothing."}
    return {**{name: value for name, value in facts.items() if _is_sound(name, value)}, **texts}


def _failure_in(facts: JSONObject) -> ErrorFacts | None:
    """The facts of a failure that a plugin may have written, without those of another kind; None where it has none."""
    if not (isinstance(facts.get("code"), str) and isinstance(facts.get("message"), str)):
        return None
    return {name: value for name, value in facts.items() if isinstance(value, _KINDS_OF_FACTS.get(name, object))}  # type: ignore[return-value] # those that it must have are there


def _is_denial(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def _is_sound(name: str, value: object) -> bool:
    try:
        is_of_kind = isinstance(value, _KINDS_OF_FACTS.get(name, object))
        return is_of_kind and not strict_json.is_nested_too_deeply(strict_json.dumps(value), [value])
    except Exception:  # noqa: BLE001 - a plugin's own type may raise when it is read
        return False


def written(value: object, what: str) -> bytes:
    """A value as JSON, of any size; ResultInvalid where it cannot be written. what: `result` or `event`."""
    try:
        document = strict_json.dumps(value)
    except strict_json.Unrepresentable as error:
        raise ResultInvalid(f"The tool's {what} cannot be written as JSON: {error}.") from None
    if strict_json.is_nested_too_deeply(document, value):
        raise ResultInvalid(f"The tool's {what} cannot be written as JSON: it is nested too deeply.")
    return document


def _document(value: object, size_limit: int, what: str) -> bytes:
    return _fitting(written(value, what), size_limit, what)


def _fitting(document: bytes, size_limit: int, what: str) -> bytes:
    if len(document) > size_limit:
        raise ResultTooLarge(
            f"The tool's {what} takes {len(document):,} bytes, more than the {size_limit:,} that the client reads.",
            hint="Ask for less at a time." if what == "result" else None,
        )
    return document
