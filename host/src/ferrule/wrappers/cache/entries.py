"""What is kept of one call, as bytes that prove themselves whole, and how old it is."""

from __future__ import annotations

import os
import time

from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex
from ferrule.wrappers.cache.keys import SHAPE

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LARGEST = 32 << 20  # bytes of an entry; whatever is larger is not kept
_DIGEST = 64
_SLACK = 1.0  # seconds by which a wall clock may step back before an entry counts as from the future


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

    question: what was asked, as far as a person may read it here. outcome: `{"result": …}`, or `{"error": facts}` with
    its `kind`. stored: when. seconds: how long it may be given again.
    """

    __slots__ = ("key", "outcome", "question", "seconds", "stored")

    def __init__(
        self, key: str, question: Mapping[str, Any], outcome: Mapping[str, Any], stored: Moment, seconds: float
    ) -> None:
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

        Within one run of the system its uptime counts, which nobody sets. After a restart there is the wall clock.
        """
        if moment.boot and moment.boot == self.stored.boot:
            age = moment.uptime - self.stored.uptime
        else:
            age = moment.wall - self.stored.wall
        return max(0.0, age) if age > -_SLACK else None

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
    digest, body = data[:_DIGEST], data[_DIGEST + 1 : -1]
    if data[_DIGEST : _DIGEST + 1] != b"\n" or data[-1:] != b"\n" or sha256_hex(body).encode() != digest:
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


def _entry(document: dict[str, Any], key: str) -> Entry | None:
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
        file = os.open("/proc/sys/kernel/random/boot_id", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(file, 64).decode(errors="replace").strip()
    except OSError:
        return ""
    finally:
        os.close(file)
