"""All checks in their order, and what makes them one after the other."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrule.admin.author_interface import Signals
from ferrule.text.redaction import redact_value
from ferrule_dev.conformance.definitions import CHECKS
from ferrule_dev.conformance.plan import Plan, make_plan
from ferrule_dev.conformance.report import FAILED, PASSED, SKIPPED, WARNED, Fault, Report, Result
from ferrule_dev.conformance.runs.surroundings import fresh_folder
from ferrule_dev.conformance.session import MADE_UP, Session, Skipped, Warned
from ferrule_dev.conformance.subjects import (
    call_checks,
    credentials_checks,
    input_checks,
    schema_checks,
    surroundings_checks,
)
from ferrule_dev.conformance.target import find_target

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

SECONDS, QUICK_SECONDS = 120.0, 10.0

_FUNCTIONS: dict[str, Callable[[Session], str]] = {
    "schema-answers": schema_checks.check_answers,
    "schema-size": schema_checks.check_size,
    "schema-name": schema_checks.check_name,
    "shadows-client-tool": schema_checks.check_shadows,
    "schema-rules": schema_checks.check_rules,
    "stdin-held-open": schema_checks.check_held_open,
    "schema-deterministic": schema_checks.check_deterministic,
    "schema-imports": schema_checks.check_imports,
    "schema-time": schema_checks.check_time,
    "schema-agrees": schema_checks.check_agrees,
    "declaration": schema_checks.check_declaration,
    "good-input": call_checks.check_good_input,
    "examples": call_checks.check_examples,
    "answer-form": call_checks.check_form,
    "answer-size": call_checks.check_size,
    "stderr-quiet": call_checks.check_stderr,
    "exit-code": call_checks.check_exit_code,
    "result-schema": call_checks.check_result_schema,
    "missing-argument": input_checks.check_missing,
    "wrong-type": input_checks.check_types,
    "extra-argument": input_checks.check_extra,
    "optional-filled": input_checks.check_filled,
    "bounds": input_checks.check_bounds,
    "not-json": input_checks.check_not_json,
    "not-utf8": input_checks.check_not_utf8,
    "unusual-text": input_checks.check_unusual_text,
    "huge-input": input_checks.check_huge,
    "deep-input": input_checks.check_deep,
    "stdin-closed": input_checks.check_closed,
    "stdout-closed": surroundings_checks.check_stdout_closed,
    "sigterm": surroundings_checks.check_sigterm,
    "no-home": surroundings_checks.check_no_home,
    "locale": surroundings_checks.check_locale,
    "full-disk": surroundings_checks.check_full_disk,
    "no-network": surroundings_checks.check_no_network,
    "parallel": call_checks.check_parallel,
    "credentials-hidden": credentials_checks.check_credentials,
    "leftover-processes": call_checks.check_leftovers,
    "permissions": surroundings_checks.check_permissions,
}
_WITHOUT_RUNS = (
    "schema-size", "schema-name", "shadows-client-tool", "schema-rules", "schema-time", "schema-agrees", "declaration",
    "answer-form", "answer-size", "stderr-quiet", "exit-code", "result-schema", "leftover-processes", "permissions",
)  # fmt: skip
_AT_THE_END = ("exit-code", "leftover-processes", "permissions")  # which look at all runs

Progress = Callable[[str, "Plan | None"], None]


# Long by its parameters, of which each is explained here and nowhere else.
def run(
    target: str,
    *,
    quick: bool = False,
    seconds: float | None = None,
    examples: Iterable[JSONObject] = (),
    credentials: Iterable[str] = (),
    home: str | None = None,
    work: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Run an executable as clients do, and report what it does.

    To be called in the main thread of a process that starts no others meanwhile, since what the executable leaves
    behind is found among this process's children.

    Args:
        target: an installed tool, or the path of an executable.
        quick: 10 s where it is 120 s otherwise; what does not fit is left out, and told.
        seconds: another time.
        examples: arguments beside those that the tool declares.
        credentials: names of variables that hold its credentials, whose values it gets.
        home: a folder, a copy of which is its HOME; an empty one by default.
        work: a folder, a copy of which is its working directory.
        progress: is called before each check with its id, and with the plan as soon as there is one.

    Raises:
        FerruleError if there is no such target, and CallInterrupted.
    """
    began = time.monotonic()
    named = list(credentials)
    with fresh_folder() as folder, Signals() as signals:
        found = find_target(target, folder)
        found.examples = [*found.examples, *examples]
        found.credentials = [*found.credentials, *named]
        limit = seconds if seconds is not None else (QUICK_SECONDS if quick else SECONDS)
        session = Session(found, folder, seconds=limit, quick=quick)
        session.home, session.work = home, work
        session.environ = {name: os.environ.get(name) if name in named else None for name in found.credentials}
        session.environ[MADE_UP] = f"ferrule-check-{secrets.token_hex(12)}"
        report = Report(target, found.path)
        results = _make_all(session, signals, progress or (lambda *_: None))
        report.results = [_redacted(results[check], session.secrets()) for check in CHECKS]
    report.left_out = [f"{one.id}: {one.left_out}" for one in report.results if one.left_out]
    report.call_seconds, report.calls = session.call_seconds, session.calls
    report.seconds = time.monotonic() - began
    return report


def _make_all(session: Session, signals: Signals, progress: Progress) -> dict[str, Result]:
    """The results by the id of their check. What was left out is made last, if there is time after all."""
    results: dict[str, Result] = {}

    def make(check: str) -> None:
        progress(check, session.plan)
        results[check] = _make(session, check)
        if signals.interrupted:  # between two runs; while something runs, that is looked at there
            raise signals.interrupted

    for check in CHECKS:
        if check not in _AT_THE_END:
            make(check)
    left_out = session.plan.left_out if session.plan else {}
    session.plan = None
    for check, seconds in left_out.items():
        if session.seconds_left > seconds:
            make(check)
    for check in _AT_THE_END:
        make(check)
    return results


def _make(session: Session, check: str) -> Result:
    began = time.monotonic()
    why_not = _why_left_out(session, check)
    result = Result(check, SKIPPED, f"Left out, {why_not}.") if why_not else _judge(session, check)
    result.left_out = why_not or session.take_left_out()
    if check == "good-input" and session.call_seconds is not None:
        session.plan = _plan(session, session.call_seconds)
    result.seconds = time.monotonic() - began
    return result


def _plan(session: Session, call_seconds: float) -> Plan | None:
    try:
        return make_plan(session.parameters, len(session.target.examples), call_seconds, session.seconds_left)
    except (TypeError, ValueError, LookupError, OverflowError):
        if "schema-rules" in session.causes.values():
            return None  # of such a schema nothing can be made
        raise


def _why_left_out(session: Session, check: str) -> str | None:
    if check in _WITHOUT_RUNS:
        return None
    if session.plan and check in session.plan.left_out:
        return f"since it would take {session.plan.left_out[check]:.1f} s"
    return "for lack of time" if session.is_out_of_time else None


def _judge(session: Session, check: str) -> Result:
    try:
        return Result(check, PASSED, _FUNCTIONS[check](session))
    except Skipped as reason:
        return Result(check, SKIPPED, str(reason))
    except Fault as fault:
        if isinstance(fault, Warned):
            return Result(check, WARNED, fault.message, fault.details, fault.fix)
        first = session.causes.setdefault(fault.cause or check, check)
        if first != check:
            return Result(check, SKIPPED, f"The same fault as {first}: {fault.message}", fault.details)
        return Result(check, FAILED, fault.message, fault.details, fault.fix)
    except (TypeError, ValueError, LookupError, OverflowError, RecursionError) as error:
        if "schema-rules" in session.causes.values():
            return Result(
                check, SKIPPED, f"Not tried: no values can be made from the schema ({error}), see schema-rules."
            )
        raise


def _redacted(result: Result, values: list[str]) -> Result:
    """The result without the user's own credentials, which a tool may have printed."""
    return replace(
        result,
        message=redact_value(result.message, values),
        details=redact_value(result.details, values),
        fix=redact_value(result.fix, values),
    )
