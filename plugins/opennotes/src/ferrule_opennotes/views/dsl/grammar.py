"""The notation taken apart: a filter of alternatives and terms, and directives behind the first bar."""

from __future__ import annotations

import re
from typing import NamedTuple

from ferrule_opennotes.views.definitions import DefinitionError

_BAR = re.compile(r"\"[^\"]*\"|\{\{[^{}]*\}\}|(\|)")
_WORD = r"(?:\{\{[^{}]*\}\}|[^\s\"])++"
_TERM = re.compile(
    r"\s*+(?P<minus>-?)(?:(?P<field>[A-Za-z_][\w.-]*+):\s*+(?:(?P<operator>>=|<=|>|<|=)\s*+)?+(?!//))?"
    rf"(?:\"(?P<quoted>[^\"]*)\"|(?P<word>{_WORD}))"
)
_NO_VALUE = re.compile(r"[A-Za-z_][\w.-]*:[<>=]*")
_NO_WORD = re.compile(r"[-:<>=]+")
_BRACKET = re.compile(r"\(+-?[A-Za-z_][\w.-]*:")
_EXISTENCE = ("has", "missing")


class Term(NamedTuple):
    """One term. field: None for words that are looked for in title and body, and then the operator is `=`.

    operator: `=`, `<`, `>`, `<=`, `>=`, `has` or `missing`; of the last two the value is the name of a field.
    """

    field: str | None
    operator: str
    value: str
    is_negated: bool
    is_quoted: bool = False


class Directives(NamedTuple):
    """How results are presented. sort: a field and whether it descends; each None or 0 where it is not said.

    The texts may hold placeholders.
    """

    sort: tuple[str, str] | None = None
    limit: str | None = None
    offset: str | None = None
    group: str | None = None


class Query(NamedTuple):
    """A query. alternatives: of each all terms must match; of none every note does."""

    alternatives: list[list[Term]]
    directives: Directives


def parse(text: str) -> Query:
    """The query that a text stands for. Raises DefinitionError."""
    bar = next((found.start() for found in _BAR.finditer(text) if found[1]), None)
    filters, directives = (text, "") if bar is None else (text[:bar], text[bar + 1 :])
    return Query(_parse_alternatives(filters), _parse_directives(directives))


def _parse_alternatives(text: str) -> list[list[Term]]:
    found: list[list[Term]] = [[]]
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TERM.match(text, position)
        if not match:
            raise DefinitionError(f"a quotation mark is not closed in {text[position:][:60].strip()!r}")
        position = match.end()
        if match["word"] == "AND" and not match["field"]:
            continue
        if _is_or(match):
            found.append([])
        else:
            found[-1].append(_parse_term(match))
    if len(found) > 1 and not all(found):
        raise DefinitionError("an OR has nothing on one side")
    return [terms for terms in found if terms]


def _is_or(match: re.Match[str]) -> bool:
    return match["word"] is not None and match["word"].upper() == "OR" and not match["field"] and not match["minus"]


def _parse_term(match: re.Match[str]) -> Term:
    value = match["word"] if match["quoted"] is None else match["quoted"]
    field = match["field"].lower() if match["field"] else None
    if field is None and match["word"] and _NO_VALUE.fullmatch(value):
        raise DefinitionError(f"{value[:60]!r} has no value")
    if field is None and match["word"] and (_NO_WORD.fullmatch(value) or _BRACKET.match(value)):
        raise DefinitionError(f"{value[:60]!r} is no term; brackets and signs group nothing")
    if field in _EXISTENCE:
        return Term(None, field, value, bool(match["minus"]))
    return Term(field, match["operator"] or "=", value, bool(match["minus"]), match["quoted"] is not None)


def _parse_directives(text: str) -> Directives:
    """The last of several directives of one kind counts."""
    found: dict[str, str] = {}
    for part in re.findall(_WORD, text):
        name, colon, value = part.partition(":")
        if not colon or not value or name.lower() not in Directives._fields:
            raise DefinitionError(f"the directive {part[:60]!r} is not known (sort:, limit:, offset: and group: are)")
        found[name.lower()] = value
    sort = _parse_sort(found["sort"]) if "sort" in found else None
    limit, offset = (_check_whole(found.get(name)) for name in ("limit", "offset"))
    return Directives(sort, limit, offset, found.get("group"))


def _parse_sort(text: str) -> tuple[str, str]:
    field, direction = text.rsplit(":", 1) if ":" in text else (text, "asc")
    if not field or (direction.lower() not in ("asc", "desc") and "{{" not in direction):
        raise DefinitionError(f"the order {text[:60]!r} is neither FIELD:asc nor FIELD:desc")
    return field, direction


def _check_whole(text: str | None) -> str | None:
    if text is not None and not re.fullmatch(r"\d{1,9}|.*\{\{.*", text):
        raise DefinitionError(f"{text[:60]!r} is no whole number")
    return text
