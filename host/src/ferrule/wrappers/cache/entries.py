"""What is kept of one call, as bytes that prove themselves whole, and how old it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex
from ferrule.wrappers.cache.keys import SHAPE

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

MAX_BYTES = 32 << 20  # of an entry; what is larger is not kept
_DIGEST_CHARS = 64
_CLOCK_SLACK_SECONDS = 1.0  # by which a wall clock may step back before an entry counts as from the future


class Moment:
    """An instant. wall: `time.time()`. uptime: seconds since the system started. boot: which start that was, or ""."""

    __slots__ = ("boot", "uptime", "wall")

    def __init__(self, wall: float, uptime: float = 0.0, boot: str = "") -> None:
        self.wall = wall
        self.uptime = uptime
        self.boot = boot


def now() -> Moment:
    """This instant."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    boot = _boot() if clock is not None else ""
    return Moment(time.time(), time.clock_gettime(clock) if clock is not None else 0.0, boot)


class Entry:
    """What a call has come to.

    Args:
        question: what was asked, as it may be kept here.
        outcome: `{"result": …}`, or `{"error": facts}` with its `kind`.
        stored: when.
        seconds: how long it may be given again.
    """

    __slots__ = ("key", "outcome", "question", "seconds", "stored")

    def __init__(self, key: str, question: JSONMapping, outcome: JSONMapping, stored: Moment, seconds: float) -> None:
        self.key = key
        self.question = question
        self.outcome = outcome
        self.stored = stored
        self.seconds = seconds

    @property
    def tool(self) -> str:
        """The tool that was asked."""
        return str(self.question.get("tool", ""))

    def age(self, moment: Moment) -> float | None:
        """Seconds since it was stored; None where the clock that says so has been set back.

        Within one run of the system its uptime counts, which cannot be set. After a restart there is the wall clock.
        """
        if moment.boot and moment.boot == self.stored.boot:
            age = moment.uptime - self.stored.uptime
        else:
            age = moment.wall - self.stored.wall
        return max(0.0, age) if age > -_CLOCK_SLACK_SECONDS else None

    def is_live(self, moment: Moment) -> bool:
        """Whether it may still be given."""
        age = self.age(moment)
        return age is not None and age < self.seconds


def write(entry: Entry) -> bytes:
    """An entry as bytes: the hash of a document, and the document."""
    document = {
        "shape": SHAPE,
        "key": entry.key,
        "question": entry.question,
        "outcome": entry.outcome,
        "seconds": entry.seconds,
        "stored": entry.stored.wall,
        "uptime": entry.stored.uptime,
        "boot": entry.stored.boot,
    }
    body = strict_json.dumps(document)  # in the order that the tool has written: a client gets the same bytes again
    return sha256_hex(body).encode() + b"\n" + body + b"\n"


def read(data: bytes, key: str) -> Entry | None:
    """The entry of a key; None for bytes that are anything else, be they torn, altered, of another key or shape."""
    digest, body = data[:_DIGEST_CHARS], data[_DIGEST_CHARS + 1 : -1]
    if data[_DIGEST_CHARS : _DIGEST_CHARS + 1] != b"\n" or data[-1:] != b"\n" or sha256_hex(body).encode() != digest:
        return None
    try:
        document = strict_json.loads(body)
        return _entry(document, key) if isinstance(document, dict) else None
    except (ValueError, TypeError, KeyError):
        return None


def freshness(age: float, seconds: float) -> str:
    """`fresh` for the first half of its time, `aging` until four fifths of it, `expiring` after that."""
    share = age / seconds if seconds else 1.0
    return "fresh" if share < 0.5 else "aging" if share < 0.8 else "expiring"


def _entry(document: JSONObject, key: str) -> Entry | None:
    question, outcome = document["question"], document["outcome"]
    is_ours = document["shape"] == SHAPE and document["key"] == key
    if not is_ours or not isinstance(question, dict) or not _is_outcome(outcome):
        return None
    stored = Moment(float(document["stored"]), float(document["uptime"]), str(document["boot"]))
    return Entry(key, question, outcome, stored, float(document["seconds"]))


def _is_outcome(outcome: object) -> bool:
    if not isinstance(outcome, dict):
        return False
    error = outcome.get("error")
    if isinstance(error, dict):
        return isinstance(error.get("code"), str) and isinstance(error.get("message"), str)
    return isinstance(outcome.get("result"), dict)


def _boot() -> str:
    """What the system calls this run of itself, empty where it does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return file.read(64).decode(errors="replace").strip()
    except OSError:
        return ""
