"""The check of credentials: which variables and files hold them, and whether what is in there shows anywhere."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule.text import strict_json
from ferrule_dev.conformance.report import Fault
from ferrule_dev.conformance.runs import isolation
from ferrule_dev.conformance.runs.surroundings import is_credential_name
from ferrule_dev.conformance.sample import without_each_required
from ferrule_dev.conformance.session import CREDENTIALS_FILE, MADE_UP, Session, Skipped, stream_with

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_dev.conformance.runs.execution import End
    from ferrule_dev.conformance.runs.outcome import Outcome

_FIX = "Take the value out of each text before it is printed, also out of errors."


class _Demand(NamedTuple):
    """What a tool says by `config_required`. names: of variables. file: an example of the credentials file."""

    names: list[str]
    file: JSONObject | None


def check_credentials(session: Session) -> str:
    """A made-up credential that shows anywhere is a real one that will."""
    if session.shown:
        known = [name for name in session.shown if name != MADE_UP]
        if not known:
            raise Fault(f"It prints all its variables: the value of {MADE_UP} stands in an output.", fix=_FIX)
        raise Fault(f"The value of {known[0]} stands in an output.", fix=_FIX)
    demand = _read_demand(session.require_base())
    names = sorted({*session.target.credentials, *demand.names})
    if not names and not demand.file:
        raise Skipped("No variable is known to hold a credential of it; name one with --credential.")
    place = ", ".join([*names, *(["the credentials file"] if demand.file else [])])
    for ending, form in (("", "a value of the usual form"), ("\n", "a value that ends in a newline")):
        value = f"ferrule-check-{secrets.token_hex(12)}"
        for label, end in _run_with(session, names, demand.file, value, ending):
            where = stream_with(end, value)
            if where:
                message = f"With {form} in {place}, {label} shows it on {where}."
                raise Fault(message, fix=_FIX)
    return f"The value of {place} shows nowhere."


def _run_with(
    session: Session, names: list[str], file: JSONObject | None, value: str, ending: str
) -> Iterator[tuple[str, End]]:
    """Good and bad runs with a made-up value; without a network where that can be taken away."""
    how: dict[str, Any] = {"environ": dict.fromkeys(names, value + ending)}
    if file is not None:
        how["home_files"] = {CREDENTIALS_FILE: strict_json.dumps(_filled(file, value + ending))}
    offline = {} if isolation.why_always_network() else {"surroundings": "no-network"}
    yield "a good call", session.call(**how, **offline).end
    yield "a call with what is not JSON", session.call(data=b"hello", **how).end
    missing = next(iter(without_each_required(session.good, session.parameters)), None)
    if missing:
        yield f"a call with {missing.label}", session.call(missing.arguments, **how).end
    yield "`--schema`", session.ask_schema(**how)


def _read_demand(base: Outcome) -> _Demand:
    """What the `config_required` events of a call name."""
    names: list[str] = []
    file: JSONObject | None = None
    for line in base.end.errors.splitlines():
        try:
            event = strict_json.loads(line)
        except strict_json.MalformedJSON:
            continue
        if isinstance(event, dict) and event.get("kind") == "config_required":
            text = " ".join(value for value in event.values() if isinstance(value, str))
            words = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split()
            names += [word for word in words if word.isupper() and is_credential_name(word)]
            file = file or _example_file(str(event.get("content", "")))
    return _Demand(names, file)


def _example_file(text: str) -> JSONObject | None:
    """The JSON object at the end of a text that tells a user what to write into the credentials file."""
    start = text.find("{")
    try:
        return strict_json.loads_object(text[start:]) if start >= 0 else None
    except strict_json.MalformedJSON:
        return None


def _filled(value: object, text: str) -> object:
    """The value with the text instead of each text in it."""
    if isinstance(value, dict):
        return {name: _filled(inner, text) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, text) for inner in value]
    return text
