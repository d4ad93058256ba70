"""What `ferrule check` has found out about one executable: a result for each check, and all of them as a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypedDict

PASSED: Literal["passed"] = "passed"
FAILED: Literal["failed"] = "failed"
WARNED: Literal["warned"] = "warned"
SKIPPED: Literal["skipped"] = "skipped"

State = Literal["passed", "failed", "warned", "skipped"]


class ResultDocument(TypedDict):
    """One check in the JSON document. seconds: that it took."""

    id: str
    state: State
    message: str
    details: list[str]
    fix: str | None
    seconds: float


class ReportDocument(TypedDict):
    """One executable in the JSON document. call_seconds: of one good call, None where none was made.

    left_out: what there was no time for.
    """

    target: str
    executable: str
    conforms: bool
    call_seconds: float | None
    seconds: float
    calls: int
    left_out: list[str]
    checks: list[ResultDocument]


class Fault(Exception):
    """What a check has found to be wrong.

    Args:
        details: a sentence for each place.
        fix: what to do about it.
        cause: a text that is the same for what has the same cause, so that one cause is named once; None for what
            stands alone.
    """

    def __init__(
        self, message: str, details: Iterable[str] = (), fix: str | None = None, cause: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = list(details)
        self.fix = fix
        self.cause = cause


@dataclass
class Result:
    """How one check ended.

    id: of the check, a key of `definitions.CHECKS`. message: a sentence, for `passed` what was seen, for `skipped` why.
    details: a sentence for each place. fix: what to do about it. seconds: that the check took.
    left_out: what there was no time for, as `3 of its 5 calls, …`; None where all was made.
    """

    id: str
    state: State
    message: str
    details: list[str] = field(default_factory=list)
    fix: str | None = None
    seconds: float = 0.0
    left_out: str | None = None

    def as_dict(self) -> ResultDocument:
        """The result as JSON."""
        return {
            "id": self.id,
            "state": self.state,
            "message": self.message,
            "details": self.details,
            "fix": self.fix,
            "seconds": round(self.seconds, 3),
        }


@dataclass
class Report:
    """What is known of one executable after all checks.

    target: as it was named. executable: the file that was run. call_seconds: of one good call, None where none could be
    made. calls: how often it was started. left_out: what there was no time for, as `bounds: 3 of its 5 calls, …`.
    """

    target: str
    executable: str
    results: list[Result] = field(default_factory=list)
    call_seconds: float | None = None
    seconds: float = 0.0
    calls: int = 0
    left_out: list[str] = field(default_factory=list)

    @property
    def conforms(self) -> bool:
        """Whether no check has failed; warnings and skipped checks do not count."""
        return not self.failed

    @property
    def failed(self) -> list[str]:
        """The ids of the checks that have failed."""
        return [one.id for one in self.in_state(FAILED)]

    @property
    def warned(self) -> list[str]:
        """The ids of the checks that warn."""
        return [one.id for one in self.in_state(WARNED)]

    def in_state(self, state: State) -> Iterator[Result]:
        """The results in that state, in the order of the checks."""
        return (one for one in self.results if one.state == state)

    def __getitem__(self, check: str) -> Result:
        """The result of the check with that id. Raises KeyError where the check was not made."""
        for one in self.results:
            if one.id == check:
                return one
        raise KeyError(check)

    def as_dict(self) -> ReportDocument:
        """The report as JSON."""
        return {
            "target": self.target,
            "executable": self.executable,
            "conforms": self.conforms,
            "call_seconds": None if self.call_seconds is None else round(self.call_seconds, 4),
            "seconds": round(self.seconds, 2),
            "calls": self.calls,
            "left_out": self.left_out,
            "checks": [one.as_dict() for one in self.results],
        }
