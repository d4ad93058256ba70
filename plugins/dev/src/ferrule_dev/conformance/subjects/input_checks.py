"""The checks of what may come on stdin: arguments that are missing or wrong, and what is no arguments at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ferrule.text import strict_json
from ferrule_dev.conformance import sample
from ferrule_dev.conformance.report import Fault
from ferrule_dev.conformance.runs.execution import CLOSED
from ferrule_dev.conformance.runs.outcome import ANSWER, FAILURE
from ferrule_dev.conformance.sample import Variant
from ferrule_dev.conformance.session import Session, Skipped, Trial, Warned

_UNKNOWN = "not_in_the_schema"
_HUGE_CHARS = 1_200_000
_DEEP_LEVELS = 100_000
_REFUSE = "Check the arguments before anything else, and refuse with a message that names the argument."
_FORM = "Catch what can go wrong, and print a JSON object that says so."


def check_missing(session: Session) -> str:
    """Without a required argument there is nothing to do."""
    session.require_base()
    variants = list(sample.without_each_required(session.good, session.parameters))
    if not variants:
        raise Skipped("No argument is required.")
    trials = _try(session, variants)
    _require_refusal(session, trials, ", though the schema requires it")
    return _proved(session, trials)


def check_types(session: Session) -> str:
    """A model that mixes up types is to be told."""
    session.require_base()
    variants = list(sample.of_another_type(session.good, session.parameters))
    if not variants:
        raise Skipped("No argument has a type that something else would not fit.")
    required = {variant.label for is_required, variant in variants if is_required}
    trials = _try(session, [variant for _, variant in variants])
    _require_refusal(session, [one for one in trials if one.label in required], "")
    session.require_no_breach(trials, _FORM)
    ignored = [one.label for one in trials if one.outcome.kind == ANSWER]
    if ignored:
        details = [f"With {one} it answers." for one in ignored[1:]]
        raise Warned(f"With {ignored[0]} it answers, as if the argument were absent or right.", details, _REFUSE)
    return _proved(session, trials)


def check_extra(session: Session) -> str:
    """Whether what the schema does not have is refused is the tool's affair; a crash is not."""
    base = session.require_base()
    trials = _try(session, [Variant("an argument that the schema does not have", {**session.good, _UNKNOWN: 1})])
    session.require_no_breach(trials, _FORM)
    if not trials or trials[0].outcome.kind == FAILURE:
        return "It is refused." if base.kind == ANSWER else _proved(session, trials)
    if sample.is_closed(session.parameters):
        raise Fault(
            "It answers with an extra argument, though its schema has `additionalProperties: false`.", fix=_REFUSE
        )
    return "It is ignored; a model that misspells an argument is not told."


def check_filled(session: Session) -> str:
    """In strict mode a provider fills every argument, meant or not."""
    base = session.require_base()
    variants = list(sample.filled(session.good, session.parameters))
    if not variants:
        raise Skipped("No argument is optional.")
    trials = _try(session, variants)
    fix = "Treat null, an empty text, an empty list, and a 0 below the minimum as if the argument were absent."
    session.require_no_breach(trials, fix)
    refused = [one for one in trials if one.outcome.kind == FAILURE]
    if base.kind == FAILURE:
        refused = [one for one in refused if not one.outcome.is_same_failure(base)]
        if not refused and not session.tells_faults_apart:
            raise Skipped(f"It proved nothing: the good call is refused as well ({base.code or base.reason}).")
    if refused:
        if base.kind == ANSWER:
            session.require_repeatable()
        culprits = _find_culprits(session)
        message = f"With {refused[0].label} it refuses what it answers without: {refused[0].outcome.reason}"
        raise Fault(message, culprits, fix)
    return f"{len(trials)} calls came to the same as without."


def check_bounds(session: Session) -> str:
    """What the schema excludes is refused. Fillers are not tried: they count as absent."""
    session.require_base()
    limits = sample.limits_of(session.parameters)
    variants = list(sample.outside_of_limits(session.good, session.parameters))
    if not limits:
        raise Skipped("The schema has no enum and no limits at its top level.")
    if not variants:
        raise Skipped("It proved nothing: only fillers lie outside of the limits, and they count as absent.")
    trials = _try(session, variants)
    _require_refusal(session, trials, ", though the schema excludes it")
    return _proved(session, trials)


def check_not_json(session: Session) -> str:
    """What is not a JSON object cannot be a call."""
    session.require_base()
    inputs = {
        "text that is not JSON": b"hello\n",
        "half a document": strict_json.dumps({**session.good, _UNKNOWN: "x"})[:-3],
        "an array": b"[]",
        "an empty input": b"",
    }
    trials = list(session.trials(inputs.items(), lambda one: Trial(one[0], session.call(data=one[1]))))
    session.require_no_breach(trials, _FORM)
    answered = [one.label for one in trials if one.outcome.kind == ANSWER]
    if answered and sample.has_required(session.parameters):
        raise Fault(f"It answers {answered[0]}.", [f"It answers {one}." for one in answered[1:]], _REFUSE)
    if answered and answered != ["an empty input"]:
        raise Warned(f"It answers {answered[0]}, so it does not read its arguments.", answered[1:], _REFUSE)
    return _proved(session, trials)


def check_not_utf8(session: Session) -> str:
    """A client may pass on bytes of a file."""
    session.require_base()
    data = strict_json.dumps(sample.with_text(session.good, session.parameters, "FERRULE"))
    return _require_end(session, "bytes that are not UTF-8", data.replace(b"FERRULE", b"a\xff\xfe\xc3(b"))


def check_unusual_text(session: Session) -> str:
    """Models write in all languages, and copy what they find."""
    session.require_base()
    data = strict_json.dumps(sample.with_text(session.good, session.parameters, "FERRULE"))
    beyond = data.replace(b"FERRULE", "Zürich, 東京, 🙂".encode())
    calls: dict[str, dict[str, Any]] = {
        "text beyond ASCII": {"data": beyond},
        "text beyond ASCII under LC_ALL=C": {"data": beyond, "environ": {"LANG": None, "LC_ALL": "C"}},
        "an escaped NUL in a text": {"data": data.replace(b"FERRULE", rb"a\u0000b")},
    }
    trials = list(session.trials(calls.items(), lambda one: Trial(one[0], session.call(**one[1]))))
    # A tool that answers with the NUL that it was given has done nothing wrong.
    judged = [one for one in trials if rb"\u0000" not in one.outcome.end.output]
    session.require_no_breach(judged, _FORM)
    answered = sum(one.outcome.kind == ANSWER for one in trials)
    return f"{answered} answered, {len(trials) - answered} refused."


def check_huge(session: Session) -> str:
    """A model may copy a whole file into an argument."""
    session.require_base()
    arguments = sample.with_text(session.good, session.parameters, "x" * _HUGE_CHARS)
    trial = Trial("an input of 1.2 MB", session.call(arguments))
    session.require_no_breach([trial], _FORM)
    if trial.outcome.end.unread:
        message = f"It left {trial.outcome.end.unread:,} bytes of its input unread: the client may die of SIGPIPE."
        raise Warned(message, fix="Read stdin to its end before you answer, also to refuse.")
    return _what(trial)


def check_deep(session: Session) -> str:
    """A parser that calls itself dies of it."""
    session.require_base()
    data = strict_json.dumps(sample.with_text(session.good, session.parameters, "FERRULE"))
    deep = b"[" * _DEEP_LEVELS + b"]" * _DEEP_LEVELS
    return _require_end(session, f"an input of {_DEEP_LEVELS:,} levels", data.replace(b'"FERRULE"', deep))


def check_closed(session: Session) -> str:
    """A client that has no arguments may close stdin."""
    session.require_base()
    trial = Trial("stdin closed", session.call(data=b"", stdin=CLOSED))
    session.require_no_breach([trial], _FORM)
    if trial.outcome.kind == ANSWER and sample.has_required(session.parameters):
        if "not-json" in session.causes.values():
            raise Skipped("The same fault as not-json: without input it answers.")
        raise Fault("With stdin closed it answers, though it requires arguments.", fix=_REFUSE)
    return _what(trial)


def _try(session: Session, variants: Iterable[Variant]) -> list[Trial]:
    return list(session.trials(variants, lambda one: Trial(one.label, session.call(one.arguments))))


def _require_end(session: Session, label: str, data: bytes) -> str:
    trial = Trial(label, session.call(data=data))
    session.require_no_breach([trial], _FORM)
    return _what(trial)


def _what(trial: Trial) -> str:
    if trial.outcome.kind == ANSWER:
        return "It is answered."
    return f"It is refused: {trial.outcome.reason}"


def _require_refusal(session: Session, trials: list[Trial], message: str) -> None:
    session.require_no_breach(trials, _FORM)
    answered = [one.label for one in trials if one.outcome.kind == ANSWER]
    if answered:
        details = [f"With {one} it answers." for one in answered[1:]]
        raise Fault(f"With {answered[0]} it answers{message}.", details, _REFUSE)


def _proved(session: Session, trials: list[Trial]) -> str:
    """What was seen. Raises Skipped where the good call is refused in the same way."""
    base = session.base
    if base is not None and base.kind == FAILURE and all(one.outcome.is_same_failure(base) for one in trials):
        raise Skipped(f"It proved nothing: the good call is refused as well ({base.code or base.reason}).")
    session.tells_faults_apart = True
    return f"{len(trials)} refused, as in: {trials[0].outcome.reason}" if trials else "Nothing was tried."


def _find_culprits(session: Session) -> list[str]:
    """Which fillers are refused one by one."""
    culprits = []
    for one in _try(session, sample.each_filled(session.good, session.parameters)):
        if one.outcome.kind == FAILURE:
            culprits.append(f"{one.label}: {one.outcome.reason}")
    return culprits
