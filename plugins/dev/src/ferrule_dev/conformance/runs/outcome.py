"""What a call has come to: an answer, a failure in its form, or something that no client can use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrule.admin.author_interface import name_signal
from ferrule.errors import (
    ConfigurationMalformed,
    LockUnusable,
    ProxyUnusable,
    SchemaInvalid,
    ToolDiffers,
    ToolDisabled,
    ToolNameClash,
    ToolUnavailable,
    ToolUnknown,
)
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_dev.conformance.runs.execution import End

ANSWER, FAILURE, BROKEN = "answer", "failure", "broken"
MAX_STREAM_BYTES = 65_535  # that the client reads of each stream
_MAX_SHOWN_CHARS = 160
_CRASH_CODES = {"INTERNAL_ERROR", "OUT_OF_MEMORY"}
_HOST_CODES = {  # with which ferrule refuses a call before it reaches the tool
    error.code
    for error in (
        *(ToolUnavailable, ToolUnknown, ToolNameClash, ToolDisabled, ToolDiffers),
        *(SchemaInvalid, ConfigurationMalformed, LockUnusable, ProxyUnusable),
    )
}
_FAILED_STATES = ("error", "fail", "failed", "failure")
_REASONS = ("message", "detail", "reason", "title", "description", "msg")
_LATE_CODES = {"TIMEOUT"}
_INPUT_CODES = re.compile(
    r"INVALID|ARGUMENT|PARAM|SCHEMA|VALIDATION|MALFORMED|BAD_REQUEST|MISSING_(?!KEY|CRED|TOKEN)", re.I
)
_SURROUNDINGS = frozenset((
    "AUTH", "CREDENTIAL", "CREDENTIALS", "KEY", "TOKEN", "NETWORK", "CONNECTION", "DNS", "HTTP", "UNREACHABLE",
    "UNAVAILABLE", "OFFLINE", "TIMEOUT", "RATE", "QUOTA", "CONFIG", "CONFIGURED", "INSTALLED",
))  # fmt: skip
"""Words in codes of failures that no arguments end."""
_TRACEBACKS = (
    (re.compile(rb"^Traceback \(most recent call last\):", re.M), "a Python traceback"),
    (re.compile(rb"^\s+at .+:\d+:\d+\)?$\n(?:^\s+at )?", re.M), "a JavaScript stack trace"),
    (re.compile(rb"^panic: .*\n(?:.*\n)*?goroutine \d+", re.M), "a Go panic"),
    (re.compile(rb"^thread '.*' (?:\(\d+\) )?panicked at ", re.M), "a Rust panic"),
    (re.compile(rb"^Exception in thread .*\n\s+at ", re.M), "a Java stack trace"),
    (re.compile(rb"AddressSanitizer|^runtime error: ", re.M), "a report of a sanitizer"),
)


@dataclass(frozen=True)
class Outcome:
    """One call, judged.

    kind: `answer`; `failure`, in a form that the client can show; or `broken`, for what no client can use.
    document: the JSON object, also where something else stands beside it. reason: of a failure, its text; of what is
    broken, what is wrong, without a subject, as in `was ended by SIGSEGV`. code: a failure's code, where it has one.
    cause: equal for what is broken in the same way. form: what is wrong with the form of stdout, though there is a
    document in it.
    """

    kind: str
    end: End
    document: JSONObject | None = None
    reason: str = ""
    code: str | None = None
    cause: str | None = None
    form: str | None = None

    @property
    def is_lost(self) -> bool:
        """Whether it stands on stdout alone, which a client throws away where the exit code is not 0."""
        return bool(self.end.exit_code) and self.document is not None and not self.end.errors.strip()

    @property
    def refuses_input(self) -> bool:
        """Whether the failure says that the arguments were wrong, as far as its code tells."""
        return self.kind == FAILURE and bool(_INPUT_CODES.search(self.code or ""))

    @property
    def lacks_surroundings(self) -> bool:
        """Whether the failure says that a key, a service or a network is not there, as far as its code tells."""
        return self.kind == FAILURE and not _SURROUNDINGS.isdisjoint((self.code or "").upper().split("_"))

    @property
    def lacks_something(self) -> bool:
        """Whether the failure says that something was not found, as far as its code tells."""
        return self.kind == FAILURE and (self.code or "").upper().endswith("NOT_FOUND")

    def is_same_failure(self, other: Outcome) -> bool:
        """Whether both failed for the same reason."""
        if self.code or other.code:
            return self.code == other.code
        return self.reason == other.reason


def judge(end: End) -> Outcome:
    """Say what a run has come to. Time, size and what was left behind are looked at elsewhere."""
    broken = _break(end)
    if broken is not None:
        return Outcome(BROKEN, end, reason=broken[0], cause=broken[1])
    document, form = read_document(end.output)
    if end.exit_code != 0:
        return _judge_exit(end, document)
    if document is None:
        return Outcome(BROKEN, end, reason=form or "", cause=f"form: {_start(form)}", form=form)
    if is_failure(document):
        return _failure(end, document, form)
    return Outcome(ANSWER, end, document, form=form)


def read_document(output: bytes) -> tuple[JSONObject | None, str | None]:
    """The JSON object in the text, and what is wrong with the text's form.

    Where more than one document or other lines stand there, it is the last line that is an object.
    """
    if not output.strip():
        return None, "printed nothing"
    try:
        document = strict_json.loads(output)
    except strict_json.MalformedJSON as error:
        found = _last_object(output)
        return found, f"printed what is not one JSON document: {error}"
    if not isinstance(document, dict):
        return None, f"printed {_kind(document)} where a JSON object was expected"
    return document, None if output.endswith(b"\n") else "printed no newline after its document"


def shown(text: str) -> str:
    """A text on one line, cut to what fits a table."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHOWN_CHARS else line[: _MAX_SHOWN_CHARS - 1] + "…"


def _break(end: End) -> tuple[str, str] | None:
    """What no client can use, and its cause; None for what ended by itself, and not in a crash."""
    if end.problem:
        return f"could not be started: {end.problem}", "not started"
    if end.is_late:
        return f"had not ended after {end.seconds:.0f} s", "late"
    if end.exit_code is not None and end.exit_code < 0:
        return f"was ended by {name_signal(-end.exit_code)}", f"signal {-end.exit_code}"
    if end.exit_code is not None and end.exit_code > 128 and end.exit_code - 128 in (4, 6, 7, 8, 11):
        return f"was ended by {name_signal(end.exit_code - 128)}", f"signal {end.exit_code - 128}"
    for where, text in (("stdout", end.output), ("stderr", end.errors)):
        for pattern, name in _TRACEBACKS:
            if pattern.search(text) and (where == "stdout" or not _is_document(end.output)):
                last = _last_line(text)
                return f"crashed, with {name} on {where}: {shown(last)}", f"{name}: {last.partition(':')[0][:60]}"
    return None


def _is_document(output: bytes) -> bool:
    return read_document(output)[0] is not None


def _judge_exit(end: End, document: JSONObject | None) -> Outcome:
    """Of a run that did not end with 0 the client shows stderr alone; elsewhere a document is read."""
    text = end.errors.decode(errors="replace").strip()
    if document is not None:
        return _failure(end, document, None)
    if text:
        return Outcome(FAILURE, end, reason=shown(text))
    said = "nothing on stderr, so nobody learns why"
    return Outcome(BROKEN, end, reason=f"ended with exit code {end.exit_code} and {said}", cause="silent")


def _failure(end: End, document: JSONObject, form: str | None) -> Outcome:
    code, text = _code(document), _reason(document)
    if code in _CRASH_CODES:
        return Outcome(BROKEN, end, document, f"crashed: {shown(text)}", code, f"crash: {text[:60]}", form)
    if code in _HOST_CODES:
        return Outcome(BROKEN, end, document, f"was not called: {shown(text)}", code, f"{code}: {text[:60]}", form)
    if code in _LATE_CODES:
        return Outcome(BROKEN, end, document, f"took too long: {shown(text)}", code, "late", form)
    return Outcome(FAILURE, end, document, shown(text), code, form=form)


def is_failure(document: JSONObject | None) -> bool:
    """Whether a document says that a call has failed."""
    if document is None:
        return False
    if document.get("success") is False or document.get("ok") is False or document.get("is_error") is True:
        return True
    if document.get("isError") is True or isinstance(document.get("error_code"), str):
        return True
    if document.get("status") in _FAILED_STATES or (document.get("errors") and isinstance(document["errors"], list)):
        return True
    error = document.get("error")
    return bool(error) and isinstance(error, str | dict | bool) and document.get("success") is not True


def as_failure(answer: Outcome) -> Outcome:
    """An outcome that was taken for an answer, as a failure."""
    return _failure(answer.end, answer.document or {}, answer.form)


def tells_a_reason(document: JSONObject | None, answer: JSONObject | None) -> bool:
    """Whether a document of another shape than an answer tells a reason: `{"detail": "city is missing"}`."""
    if not document or not answer or document.keys() & answer.keys():
        return False
    return any(isinstance(document.get(name), str) and document[name] for name in _REASONS)


def _code(document: JSONObject) -> str | None:
    error = document.get("error")
    places = [document, error if isinstance(error, dict) else {}]
    for place in places:
        for name in ("error_code", "code", "errorCode", "type"):
            if isinstance(place.get(name), str):
                return str(place[name])
    return None


def _reason(document: JSONObject) -> str:
    error = document.get("error")
    for value in (error.get("message") if isinstance(error, dict) else error, *map(document.get, _REASONS)):
        if isinstance(value, str) and value:
            return value
    return strict_json.dumps(document).decode()


def _last_object(output: bytes) -> JSONObject | None:
    for line in reversed(output.splitlines()):
        try:
            return strict_json.loads_object(line)
        except strict_json.MalformedJSON:
            continue
    return None


def _last_line(text: bytes) -> str:
    """The line of a traceback that says what happened."""
    lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
    errors = [
        line.strip() for line in lines if re.match(r"[\w.]*(?:Error|Exception|Interrupt|Exit|panic|thread)\b", line)
    ]
    return errors[-1] if errors else (lines[-1].strip() if lines else "")


def _start(text: str | None) -> str:
    return (text or "").partition(":")[0]


def _kind(value: object) -> str:
    names = {list: "an array", str: "a text", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")
