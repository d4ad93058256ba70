"""The checks of good calls: what they answer, in which form, of which size, and what they leave behind."""

from __future__ import annotations

from ferrule.errors import PermissionDenied
from ferrule.text import strict_json
from ferrule_dev.conformance import sample
from ferrule_dev.conformance.report import Fault
from ferrule_dev.conformance.runs.outcome import ANSWER, BROKEN, FAILURE, MAX_STREAM_BYTES, Outcome, is_failure, shown
from ferrule_dev.conformance.session import CLIENT_SECONDS, Session, Skipped, Trial, Warned, is_newline_missing
from ferrule_dev.conformance.subjects.fit import find_misfits
from ferrule_dev.conformance.subjects.missing_permissions import how_to_declare

_PARALLEL_CALLS = 6
_HOW_TO_GIVE = "Give the check what the example needs: --in FOLDER (working directory), --home FOLDER; or fix it."


def check_good_input(session: Session) -> str:
    """One call with arguments made from the schema; it is the measure of all others."""
    if session.schema is None:
        raise Skipped("Not tried: there is no schema, see schema-answers.")
    session.good = sample.arguments(session.parameters)
    outcome = session.base = session.call(seconds=CLIENT_SECONDS)
    session.call_seconds = outcome.end.seconds
    if outcome.kind == FAILURE and _prefer_example(session):
        return f"It is refused ({_named(outcome)}); an example of the author is answered, and stands for it below."
    if outcome.kind == BROKEN:
        if (outcome.cause or "").startswith("form:"):
            raise Skipped("It answers in a form that no client reads, see answer-form.")
        if outcome.cause and "schema-agrees" in session.causes:
            session.causes.setdefault(outcome.cause, "schema-agrees")  # the file is why these arguments are wrong
        fix = "Answer, or print a JSON object that says what is wrong."
        raise Fault(f"With arguments made from its schema it {outcome.reason}.", [_given(session)], fix, outcome.cause)
    if outcome.kind == FAILURE:
        return f"It is refused ({_named(outcome)}), so what an answer looks like was not seen here."
    return f"It is answered in {outcome.end.seconds:.2f} s."


def check_examples(session: Session) -> str:
    """What the author says that the tool takes."""
    if not session.target.examples:
        raise Skipped("The author gives no examples.")
    cause = "schema-agrees" if "schema-agrees" in session.causes else None  # an example fits the code, not the file
    for number, example in enumerate(session.target.examples, start=1):
        findings = find_misfits(example, session.parameters)
        if findings:
            raise Fault(f"Example {number} does not fit the schema: {findings[0]}.", findings[1:], cause=cause)
    labelled = list(enumerate(session.target.examples, start=1))
    trials = list(session.trials(labelled, lambda one: Trial(f"example {one[0]}", session.call(one[1]))))
    session.require_no_breach(trials)
    refused = [one for one in trials if one.outcome.kind == FAILURE]
    for one in refused:
        if one.outcome.refuses_input:
            message = f"With {one.label} it refuses its input: {_named(one.outcome).rstrip('.')}."
            raise Fault(message, fix="Fix the example.", cause=cause)
    _require_answers(session, refused, len(trials))
    return f"{len(trials)} answered."


def _require_answers(session: Session, refused: list[Trial], number: int) -> None:
    """Raise Fault for examples that are refused, and Skipped where what is around a check is the reason."""
    if not refused:
        return
    own = [one for one in refused if not _is_of_surroundings(session, one.outcome)]
    first = (own or refused)[0]
    told = f"{len(refused)} of {number} are refused, {first.label} with {_named(first.outcome).rstrip('.')}."
    if not own:
        raise Skipped(f"They prove nothing here: {told}")
    fix = how_to_declare([first.outcome]) if first.outcome.code == PermissionDenied.code else _HOW_TO_GIVE
    raise Fault(told, [f"{one.label}: {_named(one.outcome)}" for one in own] if own[1:] else [], fix)


def _is_of_surroundings(session: Session, outcome: Outcome) -> bool:
    """Whether a key, a network or something else is missing here that a call needs whatever its arguments are."""
    base = session.base
    # A good call that was refused for its input was not far enough to miss anything.
    is_of_every_call = (
        base is not None and base.kind == FAILURE and (base.refuses_input or outcome.is_same_failure(base))
    )
    return outcome.lacks_surroundings or (outcome.lacks_something and is_of_every_call)


def check_form(session: Session) -> str:
    """What the client reads is one document of strict JSON."""
    if session.base is None:
        raise Skipped("Not tried: no call was made.")
    if session.base.kind == BROKEN and not session.base.form:
        raise Skipped("Not tried: the good call has not come to an answer, see good-input.")
    form = session.base.form
    if is_newline_missing(form):
        raise Warned(f"It {form}.", fix="End it by a newline, for clients that read lines.")
    if form:
        fix = "Print one JSON object and a newline; progress and messages belong on stderr."
        raise Fault(f"It {form}.", [_start_of(session.base)], fix, f"form: {form.partition(':')[0]}")
    return "One JSON object and a newline."


def check_size(session: Session) -> str:
    """A longer answer is cut, and then is no JSON."""
    base = session.require_base()
    if base.end.output_bytes > MAX_STREAM_BYTES:
        fix = "Answer with a part, and say how to get the next one."
        message = f"The good call prints {base.end.output_bytes:,} bytes, and the client reads {MAX_STREAM_BYTES:,}."
        raise Fault(message, fix=fix, cause="size")
    return f"{base.end.output_bytes:,} bytes."


def check_stderr(session: Session) -> str:
    """The client reads stderr after stdout; what a pipe does not hold blocks both."""
    base = session.require_base()
    if base.end.error_bytes > MAX_STREAM_BYTES:
        message = f"The good call prints {base.end.error_bytes:,} bytes on stderr: a pipe holds 65,536, then it blocks."
        raise Fault(message, fix="Print less, or into a file.")
    return f"{base.end.error_bytes:,} bytes on stderr."


def check_result_schema(session: Session) -> str:
    """A tool may declare what its results look like."""
    schema = session.target.declaration.result_schema
    if not schema:
        raise Skipped("No schema of results is declared.")
    answer = session.require_answer()
    findings = find_misfits(answer.document, schema)
    if findings:
        raise Fault(f"The answer does not fit the schema of results: {findings[0]}.", findings[1:])
    return "The answer fits it."


def check_parallel(session: Session) -> str:
    """A model makes several calls at once."""
    base = session.require_base()
    outcomes = session.call_together(_PARALLEL_CALLS)
    trials = [
        Trial(f"call {number} of {len(outcomes)} at the same time", one) for number, one in enumerate(outcomes, 1)
    ]
    session.require_no_breach(trials, "Give each call files of its own, or lock what they share.")
    for one in trials:
        if base.kind == ANSWER and one.outcome.kind == FAILURE:
            session.require_answer_to_second()
            message = f"Of {len(trials)} calls at the same time, one is refused: {_named(one.outcome).rstrip('.')}."
            raise Fault(message, fix="Give each call files of its own, or wait for the others.")
    return f"{len(trials)} at the same time came to the same as one."


def check_exit_code(session: Session) -> str:
    """Where the exit code is not 0, the client throws stdout away, and shows what stands on stderr."""
    base = session.require_base()
    fix = "End with 0, also after a failure, at least where IKIGAI_AGENT_ID is set; or say on stderr what is wrong."
    if base.is_lost and not is_failure(base.document):
        raise Fault(f"It ends with {base.end.exit_code} after its answer, which the client throws away.", fix=fix)
    if session.lost:
        first = session.lost[0]
        message = f"A failure ends with {first.end.exit_code} and nothing on stderr: the client shows no word of it."
        raise Fault(message, [f"stdout had {shown(strict_json.dumps(first.document).decode())}"], fix)
    return "Each answer ended with 0, and so did each failure, or it said why on stderr."


def check_leftovers(session: Session) -> str:
    """A process that stays keeps the client waiting, or the machine busy."""
    session.require_base()
    if session.leftovers:
        found = list(dict.fromkeys(session.leftovers))
        fix = "End what the call has started before it ends itself."
        raise Fault(f"After a call this was still running: {found[0]}.", found[1:], fix)
    return f"None after {session.calls} runs."


def _prefer_example(session: Session) -> bool:
    """An example of the author that is answered proves more than what was made from the schema."""
    for example in session.target.examples[:3]:
        outcome = session.call(example)
        if outcome.kind == ANSWER:
            session.good, session.base, session.call_seconds = example, outcome, outcome.end.seconds
            return True
    return False


def _named(outcome: Outcome) -> str:
    return f"{outcome.code}: {outcome.reason}" if outcome.code else outcome.reason


def _given(session: Session) -> str:
    return f"The arguments were {shown(strict_json.dumps(session.good).decode())}"


def _start_of(outcome: Outcome) -> str:
    return f"stdout begins with {outcome.end.output[:80]!r}"
