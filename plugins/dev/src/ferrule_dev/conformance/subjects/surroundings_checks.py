"""The checks of what is around a call: streams, signals, HOME, the language, the disk, the network, credentials."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ferrule.admin.author_interface import clauses, declared, name_signal, unenforced
from ferrule.text import strict_json
from ferrule_dev.conformance.report import Fault
from ferrule_dev.conformance.runs import execution, isolation
from ferrule_dev.conformance.runs.execution import UNREAD, End
from ferrule_dev.conformance.runs.outcome import ANSWER, FAILURE, Outcome
from ferrule_dev.conformance.runs.surroundings import FILES, comma_locale, written_below
from ferrule_dev.conformance.session import CLIENT_SECONDS, Session, Skipped, Trial, Warned
from ferrule_dev.conformance.subjects.missing_permissions import how_to_declare

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_CRASHES = (4, 6, 7, 8, 11)
_SIGNAL_SECONDS = 0.3
NOWHERE = "/proc/nonexistent/home"  # where root cannot make a folder either, which would be left on the machine
_NO_LOCALE = "Print numbers in a way that does not ask the locale."
_NO_NETWORK, _FULL_DISK, _NO_CONTENT = "no-network", "full-disk", "no-content"


def check_stdout_closed(session: Session) -> str:
    """A client that has gone away reads nothing."""
    session.require_base()
    for label, stdout in (("without a reader", UNREAD), ("closed", execution.CLOSED)):
        with session.prepared(stdout=stdout) as start:
            end = execution.run(start)
        session.leftovers += end.leftovers
        if end.is_late:
            raise Fault(f"With stdout {label} it does not end.", fix="Let an error of writing end it.", cause="late")
        if end.exit_code is not None and -end.exit_code in _CRASHES:
            raise Fault(f"With stdout {label} it is ended by {name_signal(-end.exit_code)}.")
    return "It ends."


def check_sigterm(session: Session) -> str:
    """A client that gives a call up asks its process group to end."""
    base = session.require_base()
    after = max(_SIGNAL_SECONDS, 2 * base.end.seconds)
    data = strict_json.dumps(session.good)
    tries: dict[str, dict[str, Any]] = {
        "while it waits for the rest of its input": {
            "data": data[: len(data) // 2],
            "held_open": True,
            "signal_after": after,
        },
        "while it works": {"signal_after": base.end.seconds / 2},
    }
    came = 0
    for label, how in tries.items():
        with session.prepared(**how, seconds=CLIENT_SECONDS) as start:
            end = execution.run(start)
        if not end.signalled:
            continue
        came += 1
        _require_end_by_signal(end, label, leaves_some_anyway=bool(session.leftovers))
    if not came:
        raise Skipped("It proved nothing: each call had ended before the signal came.")
    return "SIGTERM to its group ends it, and nothing is left."


def check_no_home(session: Session) -> str:
    """A service has no HOME, or one that is not there."""
    base = session.require_base()
    homes: list[tuple[str, str | None]] = [("no HOME", None), ("a HOME that is not there", NOWHERE)]
    # Without HOME, the state would be that of the user who checks, and what is recorded there about an earlier version.
    state = {"FERRULE_STATE": os.path.join(session.folder, "state-without-home")}
    trials = [Trial(label, session.call(environ={"HOME": home, **state})) for label, home in homes]
    session.require_no_breach(trials, "Do without HOME, or say that it is needed.")
    refused = [one for one in trials if one.outcome.kind == FAILURE]
    if base.kind == ANSWER and refused:
        session.require_repeatable()
        details = [f"With {one.label}: {one.outcome.reason}" for one in refused[1:]]
        raise Warned(f"It needs HOME. With {refused[0].label} it is refused: {refused[0].outcome.reason}", details)
    return f"With {' and '.join(one.label for one in trials)} it comes to the same."


def check_locale(session: Session) -> str:
    """Under some locales a program in C prints 1,5 for a number, which is no JSON."""
    base = session.require_base()
    comma = comma_locale()
    name = comma or "de_DE.UTF-8"
    trial = Trial(f"LC_ALL={name}", session.call(environ={"LANG": name, "LC_ALL": name}))
    session.require_no_breach([trial], _NO_LOCALE)
    if base.kind == ANSWER and trial.outcome.kind == FAILURE:
        session.require_repeatable()
        raise Fault(f"With {trial.label} it is refused: {trial.outcome.reason}")
    numbers = _numbers(base)
    more = trial.outcome.kind == ANSWER and len(_numbers(trial.outcome)) > len(numbers)
    has_fraction = any(isinstance(one, float) for one in numbers)
    if more and has_fraction and numbers == _numbers(session.call()):  # where these differ anyway, it says nothing
        message = f"With {trial.label} its answer has more numbers: a decimal comma makes two of one."
        raise Fault(message, [f"stdout begins with {trial.outcome.end.output[:80]!r}"], _NO_LOCALE)
    missing = "" if comma else " This system does not have it, so that it was tried by its name alone."
    return f"With {trial.label} it comes to the same.{missing}"


def check_full_disk(session: Session) -> str:
    """What a call writes may not be written; it is not to say otherwise."""
    base = session.require_base()
    with session.prepared() as start:
        usual_outcome = session.judge(execution.run(start))
        found = written_below(start.folder)
        usual = {name: size for name, size in found.items() if size != len(FILES.get(name, b""))}
    why_not = isolation.why_no_full_disk()
    kind = _NO_CONTENT if why_not else _FULL_DISK
    with session.prepared(surroundings=kind) as start:
        end = execution.run(start)
        written = end.disk if kind == _FULL_DISK else written_below(start.folder)
    trial = Trial("a full disk", session.judge(end))
    session.require_no_breach([trial], "Look at the result of each writing, and of closing the file.")
    lost = sorted(name for name, size in usual.items() if written.get(name, 0) < size and name.startswith("work/"))
    if trial.outcome.kind == ANSWER and base.kind == ANSWER and lost:
        named = [name for name in lost if _is_named(name, session.good, usual_outcome)]
        kind_of_fault = Fault if named else Warned  # a file that nobody speaks of may be no more than a cache
        message = f"On a full disk it answers as if {(named or lost)[0]} had been written, which it has not."
        raise kind_of_fault(message, lost[1:], "Look at the result of each writing, and of closing the file.")
    how = f" (writes fail with EFBIG here, since no disk could be mounted: {why_not})" if why_not else ""
    said = "It is answered" if trial.outcome.kind == ANSWER else f"It is refused: {trial.outcome.reason.rstrip('.')}"
    return f"{said}{how}."


def check_no_network(session: Session) -> str:
    """A machine may have no network, or lose it."""
    session.require_base()
    why_not = isolation.why_always_network()
    if why_not:
        raise Skipped(f"The network cannot be taken away: {why_not}.")
    trial = Trial("no network", session.call(surroundings=_NO_NETWORK, seconds=CLIENT_SECONDS))
    session.require_no_breach([trial], "Give each connection a time after which it is given up, and catch its errors.")
    if trial.outcome.kind == FAILURE:
        return f"It is refused: {trial.outcome.reason}"
    return "It is answered, so it needs none."


def check_permissions(session: Session) -> str:
    """Whatever a call was denied, the tool has to declare, or do without."""
    if session.target.tool is None:
        raise Skipped("It is no tool of ferrule, so nothing holds it to permissions.")
    if session.denied:
        details = list(dict.fromkeys(outcome.reason for outcome in session.denied))
        raise Fault(details[0], details if len(details) > 1 else [], how_to_declare(session.denied))
    session.require_base()
    missing = unenforced(has_network=True)
    if missing:
        raise Skipped(f"It proved nothing: {' '.join(missing)}")
    return f"No call was denied anything: it {clauses(declared(session.target.tool))}."


def _numbers(outcome: Outcome) -> list[float]:
    """All numbers of an answer, at any level."""
    found: list[float] = []
    waiting: list[object] = [outcome.document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int | float):
            found.append(value)
    return found


def _is_named(path: str, good: JSONObject, outcome: Outcome) -> bool:
    """Whether the arguments or the answer name a file, by the last part of its path."""
    name = path.rpartition("/")[2]
    return any(name in strict_json.dumps(one).decode() for one in (good, outcome.document))


def _require_end_by_signal(end: End, label: str, *, leaves_some_anyway: bool) -> None:
    if end.is_late:
        fix = "Do not ignore SIGTERM, and pass it on to what the call has started."
        raise Fault(f"SIGTERM to its group {label} does not end it.", fix=fix)
    if end.leftovers and not leaves_some_anyway:  # which leftover-processes says
        raise Fault(f"After SIGTERM to its group {label}, this is left: {end.leftovers[0]}.", end.leftovers[1:])
