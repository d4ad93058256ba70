"""Checks `parameters` against the metaschema of JSON Schema 2020-12, which is what Anthropic requires of it.

jsonschema is imported when it is needed, and reads the metaschemas that it ships: nothing is ever fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ferrule.schema.rules.contract import too_deep_at
from ferrule.schema.rules.findings import Finding, pointer_to

if TYPE_CHECKING:
    from jsonschema import FormatChecker

_MAX_MESSAGE_CHARS = 160


def metaschema(document: object) -> Iterator[Finding]:
    """One finding for each place in `parameters` that the metaschema refuses, unusable patterns included.

    The document must be no deeper than `too-deep` allows. Nothing is found where `parameters` is no object.
    """
    parameters = document.get("parameters") if isinstance(document, dict) else None
    if not isinstance(parameters, dict):
        return
    from ferrule.schema.rules import flat_metaschema

    # The schema is the instance here, so no reference in it is ever followed.
    seen = set()
    try:
        for error in flat_metaschema.validator(_pattern_checker()).iter_errors(parameters):
            pointer = pointer_to("/parameters", *error.absolute_path)
            if pointer not in seen:
                seen.add(pointer)
                yield _make_finding(pointer, error.message)
    except RecursionError:
        yield too_deep_at("/parameters")


def _make_finding(pointer: str, message: str) -> Finding:
    cost = "This is not JSON Schema 2020-12, and Anthropic refuses every request with the tool in it"
    fix = "Correct the keyword that the pointer names, or take it out."
    return Finding("metaschema", pointer, f"{cost}: {_shorten(message)}.", fix)


def _shorten(message: str) -> str:
    """The message starts with the value, however long that is, and ends with what is wrong with it."""
    if len(message) <= _MAX_MESSAGE_CHARS:
        return message
    return f"{message[:40]} ... {message[40 - _MAX_MESSAGE_CHARS :]}"


def _pattern_checker() -> FormatChecker:
    """Only regular expressions: an unusable `pattern` would fail when arguments are checked with it."""
    import re

    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())

    def compiles(value: object) -> bool:
        return not isinstance(value, str) or bool(re.compile(value))

    checker.checks("regex", raises=(re.error, RecursionError, OverflowError))(compiles)
    return checker
