"""The checks of one executable while they are made: its calls, what is known of it, and the time that is left."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ferrule.errors import PermissionDenied
from ferrule.text import strict_json
from ferrule.text.redaction import redact
from ferrule_dev.conformance.report import Fault
from ferrule_dev.conformance.runs import execution
from ferrule_dev.conformance.runs.execution import End, Start
from ferrule_dev.conformance.runs.outcome import (
    ANSWER,
    BROKEN,
    MAX_STREAM_BYTES,
    Outcome,
    as_failure,
    judge,
    tells_a_reason,
)
from ferrule_dev.conformance.runs.surroundings import fresh_place

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_dev.conformance.plan import Plan
    from ferrule_dev.conformance.target import Target

_Item = TypeVar("_Item")
MADE_UP = "FERRULE_CHECK_API_KEY"  # a credential that no tool knows; one that shows it prints all its variables
CREDENTIALS_FILE = ".config/ikigai/credentials.json"  # where the tools of the client look, below HOME
CLIENT_SECONDS = 30.0  # after which the client gives a call up
_PATIENCE_SECONDS, _QUICK_PATIENCE_SECONDS = 10.0, 5.0
_PATIENCE_CALLS = 100  # good calls that fit into the time of any other one
_SETTLED_SECONDS = 0.1
_SHARE = 0.2  # of all time, for the calls of one check


class Skipped(Exception):
    """A check that was not made, or has proved nothing. Its text says why."""


class Warned(Fault):
    """A fault that is no breach of the contract."""


class Trial(NamedTuple):
    """One call of a check that makes several. label: what is special about it. outcome: what came of it."""

    label: str
    outcome: Outcome


class Session:
    """What the checks of one executable share.

    schema, schema_text: what `--schema` printed. good: the arguments that stand for good ones. base: what a call with
    them came to. call_seconds: of such a call. calls: how often the executable was started. tells_faults_apart: whether
    a bad call was refused otherwise than a good one, so that arguments are looked at first. lost: outcomes
    that no client shows. denied: outcomes of calls that wanted what the tool may not. environ: changes of the variables
    of each run. home, work: folders of which HOME and the working directory are copies. shown: credentials that stood
    in an output.
    """

    def __init__(self, target: Target, folder: str, *, seconds: float, quick: bool) -> None:
        self.target = target
        self.folder = folder
        self.schema: JSONObject | None = None
        self.schema_text = b""
        self.schema_seconds: list[float] = []
        self.good: JSONObject = {}
        self.base: Outcome | None = None
        self.call_seconds: float | None = None
        self.calls = 0
        self.leftovers: list[str] = []
        self.lost: list[Outcome] = []
        self.denied: list[Outcome] = []
        self.causes: dict[str, str] = {}
        self.tells_faults_apart = False
        self.plan: Plan | None = None
        self.environ: dict[str, str | None] = {}
        self.home: str | None = None
        self.work: str | None = None
        self.shown: list[str] = []
        self._budget = seconds
        self._quick = quick
        self._deadline = time.monotonic() + seconds
        self._left_out: str | None = None

    @property
    def parameters(self) -> JSONObject:
        """The schema of the arguments; an empty one if there is none that can be used."""
        parameters = (self.schema or {}).get("parameters")
        return parameters if isinstance(parameters, dict) else {}

    @property
    def patience(self) -> float:
        """Seconds that a call gets, whatever it is given: far more than a good one takes."""
        least = _QUICK_PATIENCE_SECONDS if self._quick else _PATIENCE_SECONDS
        return min(max(least, _PATIENCE_CALLS * (self.call_seconds or 0.0)), CLIENT_SECONDS)

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time for all checks is over."""
        return not self.seconds_left

    def require_base(self) -> Outcome:
        """What the good call came to. Raises Skipped if there is none to compare with."""
        if self.schema is None:
            raise Skipped("Not tried: there is no schema, see schema-answers.")
        if self.base is None or self.base.kind == BROKEN:
            raise Skipped("Not tried: a good call has not come to an answer or a failure, see above.")
        return self.base

    def require_answer(self) -> Outcome:
        """As `require_base`, where the good call was answered."""
        base = self.require_base()
        if base.kind != ANSWER:
            raise Skipped(f"It proved nothing: also the good call is refused ({base.code or base.reason}).")
        return base

    def call(self, arguments: object = None, **how: Any) -> Outcome:
        """One call with these arguments, by default with the good ones, in fresh folders.

        how: fields of `execution.Start`; `environ` are changes of the variables, None for one that is to be missing;
        `home_files` are contents of files below HOME.
        """
        with self.prepared(arguments, **how) as start:
            return self.judge(execution.run(start))

    def require_repeatable(self) -> None:
        """Raise Skipped where a good call that was answered is refused by now, since it has changed something."""
        again = self.call()
        if again.kind != ANSWER:
            raise Skipped(f"It proved nothing: by now a good call is refused as well ({again.code or again.reason}).")

    def require_answer_to_second(self) -> None:
        """Raise Skipped where the second of two good calls in the same folders is refused, one after the other."""
        with self.prepared() as start:
            outcomes = [self.judge(execution.run(start)) for _ in range(2)]
        if outcomes[1].kind != ANSWER:
            why = outcomes[1].code or outcomes[1].reason
            raise Skipped(f"It proved nothing: also one after the other, the second call is refused ({why}).")

    def call_together(self, number: int) -> list[Outcome]:
        """As many good calls at the same time, in the same folders."""
        with self.prepared() as start:
            return [self.judge(end) for end in execution.run_together([start] * number)]

    def prepared(self, arguments: object = None, **how: Any) -> _Prepared:
        """A context manager that gives the start of a call in fresh folders."""
        if "data" not in how:
            how["data"] = strict_json.dumps(self.good if arguments is None else arguments)
        how.setdefault("seconds", self.patience)
        return _Prepared(self, how)

    def ask_schema(self, **how: Any) -> End:
        """One run with `--schema`, in fresh folders, with an empty stdin."""
        how.setdefault("seconds", _PATIENCE_SECONDS)
        with _Prepared(self, {**how, "arguments": ("--schema",)}) as start:
            end = execution.run(start)
        self.leftovers += end.leftovers
        return end

    def judge(self, end: End) -> Outcome:
        """Say what a run came to, and remember what it left behind."""
        self.leftovers += end.leftovers
        for name, value in self.environ.items():
            if value and stream_with(end, value):
                self.shown.append(name)
        outcome = judge(end)
        answer = self.base.document if self.base and self.base.kind == ANSWER else None
        if outcome.kind == ANSWER and tells_a_reason(outcome.document, answer):
            outcome = as_failure(outcome)
        if outcome.is_lost:
            self.lost.append(outcome)
        if outcome.code == PermissionDenied.code:
            self.denied.append(outcome)
        return outcome

    def secrets(self) -> list[str]:
        """The values that no output may show: of the variables, and of the credentials file in the copied HOME."""
        values = [value for value in self.environ.values() if value]
        if self.home is None:
            return values
        try:
            with open(os.path.join(self.home, CREDENTIALS_FILE), "rb") as file:
                waiting: list[object] = [strict_json.loads(file.read())]
        except (OSError, strict_json.MalformedJSON):
            return values
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict | list):
                waiting += one.values() if isinstance(one, dict) else one
            elif isinstance(one, str):
                values.append(one)
        return values

    def trials(self, variants: Iterable[_Item], call: Callable[[_Item], Trial | None]) -> Iterator[Trial]:
        """The calls of one check, as far as its share of the time goes; at least one."""
        waiting = list(variants)
        most = max(1, int(self._budget * _SHARE / max(self.call_seconds or 0.0, 0.001)))
        for index, one in enumerate(waiting):
            if index >= most or (index and self.is_out_of_time):
                self._left_out = f"{len(waiting) - index} of its {len(waiting)} calls, for lack of time"
                return
            trial = call(one)
            if trial is not None:
                yield trial

    @property
    def seconds_left(self) -> float:
        """Of the time for all checks."""
        return max(self._deadline - time.monotonic(), 0.0)

    def take_left_out(self) -> str | None:
        """What the last check left out; None where it left out nothing."""
        left_out, self._left_out = self._left_out, None
        return left_out

    def breach(self, outcome: Outcome) -> tuple[str, str] | None:
        """What is wrong with an outcome that the good call did not have as well, and its cause."""
        if outcome.kind == BROKEN:
            return outcome.reason, outcome.cause or outcome.reason
        known = self.base.form if self.base else None
        if outcome.form and not is_newline_missing(outcome.form) and not known:
            return outcome.form, f"form: {outcome.form.partition(':')[0]}"
        base_bytes = self.base.end.output_bytes if self.base else 0
        if outcome.end.output_bytes > MAX_STREAM_BYTES >= base_bytes:
            return f"printed {outcome.end.output_bytes:,} bytes, and the client reads {MAX_STREAM_BYTES:,}", "size"
        return None

    def require_no_breach(self, trials: Sequence[Trial], fix: str | None = None) -> None:
        """Raise Fault for the calls that came to nothing a client can use."""
        found = [(one, breach) for one in trials if (breach := self.breach(one.outcome)) is not None]
        new = [pair for pair in found if pair[1][1] not in self.causes] or found
        if new:
            trial, (reason, cause) = new[0]
            details = [f"{one.label}: it {text}." for one, (text, _) in found]
            raise Fault(f"With {trial.label} it {reason.rstrip('.')}.", details if len(found) > 1 else [], fix, cause)


class _Prepared:
    """The start of a run, while its folders are there."""

    def __init__(self, session: Session, how: Mapping[str, Any]) -> None:
        self._session = session
        self._how = dict(how)

    def __enter__(self) -> Start:
        session = self._session
        session.calls += 1
        self._folders = fresh_place(session.folder, str(session.calls))
        place = self._folders.__enter__()
        if session.home is not None:
            place.copy_home(session.home)
        if session.work is not None:
            place.copy_work(session.work)
        for name, content in self._how.pop("home_files", {}).items():
            place.write_home(name, content)
        changes = {**session.environ, **self._how.pop("environ", {})}
        self.place = place
        work = self._how.pop("work", place.work)
        if session.leftovers:  # which is known by now, and need not be waited for again and again
            self._how.setdefault("settle_seconds", _SETTLED_SECONDS)
        path = os.path.abspath(session.target.path)
        return Start(path, place.root, work, place.environ(changes), **self._how)

    def __exit__(self, *_: object) -> None:
        self._folders.__exit__(None, None, None)


def is_newline_missing(form: str | None) -> bool:
    """Whether nothing is wrong with the form but the missing newline, which a client can do without."""
    return form is not None and "newline" in form


def stream_with(end: End, value: str) -> str | None:
    """The stream of a run that shows a credential, in whatever spelling; None where neither does."""
    for name, text in (("stdout", end.output), ("stderr", end.errors)):
        odd = (value[::-1].encode(), value.encode().hex().encode())
        if any(one in text for one in odd) or redact(text, [value]) != text:
            return name
    return None
