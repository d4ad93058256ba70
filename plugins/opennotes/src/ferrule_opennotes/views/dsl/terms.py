"""The terms of a filter as SQL."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from operator import attrgetter
from typing import TYPE_CHECKING

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.query.text import UNDIVIDED
from ferrule_opennotes.views import variables
from ferrule_opennotes.views.definitions import DefinitionError
from ferrule_opennotes.views.table import NotesTable, Read, to_number

if TYPE_CHECKING:
    from ferrule_opennotes.notebook.notes import Note
    from ferrule_opennotes.views.dsl.grammar import Term
    from ferrule_opennotes.views.parameters import Values

_ALIASES = {
    "tags": "tag",
    "t": "title",
    "p": "path",
    "b": "body",
    "content": "body",
    **dict.fromkeys(("date", "created_at"), "created"),
    **dict.fromkeys(("updated", "updated_at"), "modified"),
}
_OF_FRONTMATTER = ("data.", "meta.", "metadata.")
_RELATIVE = {"this-week": ("this_week", "next_week"), "this-month": ("this_month", "next_month")}
_INSTANT_SECONDS = 1e-6
# A day is all of it: `>` means after its end, `<=` until its end. NULL is in none.
_IN_SPAN = {"=": "{0} >= {1} AND {0} < {2}", "<": "{0} < {1}", ">=": "{0} >= {1}", ">": "{0} >= {2}", "<=": "{0} < {2}"}


def write_filter(alternatives: Sequence[Sequence[Term]], table: NotesTable, values: Values) -> str:
    """The SQL of the filter. Raises DefinitionError for a value that makes no sense."""
    joined = (" AND ".join(_write_term(term, table, values) for term in terms) for terms in alternatives)
    return " OR ".join(f"({each})" for each in joined) or "TRUE"


def normalize_name(field: str) -> str:
    """The name that a field goes by, of which some have several, without what only says that it is a field."""
    name = field.lower()
    for prefix in _OF_FRONTMATTER:
        name = name.removeprefix(prefix)
    return _ALIASES.get(name, name)


def find_value(note: Note, field: str) -> object:
    """What a note has in a field of its frontmatter, whose capitals do not matter; None where it has nothing."""
    if field in note.frontmatter:
        return note.frontmatter[field]
    return next((value for name, value in note.frontmatter.items() if name.lower() == field), None)


def read_value(note: Note, field: str) -> object:
    """What a note has in a field of the notation: of its own, or of the frontmatter's."""
    return _READ[field](note) if field in _READ else find_value(note, field)


def write_seconds(field: str, table: NotesTable) -> str:
    """The SQL of the instant when a note was `created` or `modified`."""
    return table.column(f"seconds of {field}", _SECONDS[field])


def compile_words(text: str) -> str:
    """What finds the words of a text one after the other, whatever their capitals and what stands between them."""
    parts = [re.escape(part) for part in re.findall(r"\w+", text)]
    if not parts or UNDIVIDED.search(text):
        return f"(?i){re.escape(text)}"
    return r"(?i)(?<!\w)" + r"[\W_]+".join(parts) + r"(?!\w)"


def _write_term(term: Term, table: NotesTable, values: Values) -> str:
    test = _write_test(term, table, values)
    return f"(({test}) IS {'NOT ' * term.is_negated}TRUE)"


def _write_test(term: Term, table: NotesTable, values: Values) -> str:
    if term.operator in ("has", "missing"):
        field = normalize_name(values.text(term.value))
        column = table.column(f"JSON of {field}", lambda note: json.dumps(read_value(note, field)))
        return f"{column} {'NOT ' * (term.operator == 'has')}IN ('null', '\"\"', '[]', '{{}}')"
    found = values.alternatives(term.value)
    if term.field and "," in term.value and not term.is_quoted:  # any of them, as jot takes a list of words
        found = [item for value in found for item in value.split(",") if item]
    return " OR ".join(f"({_write_value_test(term, value, table, values.now)})" for value in found) or "FALSE"


def _write_value_test(term: Term, value: str, table: NotesTable, now: datetime) -> str:
    if term.field is None:
        pattern = table.value(compile_words(value))
        return " OR ".join(f"{table.column(name, read)} REGEXP {pattern}" for name, read in _WORDED.items())
    field = normalize_name(term.field)
    if field in ("created", "modified"):
        span = map(table.value, _find_span(value.strip(), now))
        return _IN_SPAN[term.operator].format(write_seconds(field, table), *span)
    if field in _WORDED and term.operator == "=":
        return f"{table.column(field, _WORDED[field])} REGEXP {table.value(compile_words(value))}"
    if field == "path" and term.operator == "=":
        return _write_path_test(value, table)
    wanted = value.removeprefix("#") if field == "tag" else value
    return table.write_item_test(
        field, lambda note: read_value(note, field), lambda sql: _write_comparison(sql, term.operator, wanted, table)
    )


def _write_path_test(value: str, table: NotesTable) -> str:
    path = table.column("path", attrgetter("path"))
    if "*" in value or "?" in value:
        return f"{path} GLOB {table.value(value)}"
    return f"instr({path}, {table.value(value.removeprefix('./').removeprefix('/'))}) = 1"


def _write_comparison(sql: str, operator: str, wanted: str, table: NotesTable) -> str:
    """Numbers as numbers where both are, dates as dates; else as text, whose capitals do not matter."""
    cases = ""
    for function, value in (("number", to_number(wanted)), ("seconds", dates.to_seconds(wanted))):
        if value is not None and operator != "=":
            read = f"{function}({sql})"
            cases += f"WHEN {read} IS NOT NULL THEN {read} {operator} {table.value(value)} "
    as_text = f"fold({sql}) {operator} {table.value(wanted.strip().casefold())}"
    return f"CASE {cases}ELSE {as_text} END" if cases else as_text


_WORDED: dict[str, Callable[[Note], str]] = {"title": attrgetter("name"), "body": attrgetter("body")}
_SECONDS: dict[str, Read] = {
    "created": lambda note: dates.to_seconds(note.created),
    "modified": attrgetter("modified_at"),
}
_READ: dict[str, Callable[[Note], object]] = {
    **{name: attrgetter(name) for name in ("title", "path", "created", "modified")},
    "tag": attrgetter("tags"),
    "body": lambda note: note.body.strip(),
}


def _find_span(value: str, now: datetime) -> tuple[float, float]:
    """From when until when a date is, in seconds since 1970: a day, a week, a month, or one instant."""
    first, after = _RELATIVE.get(value.lower(), (value.lower(), ""))
    if day := variables.resolve_day(first, now):
        next_day = variables.resolve_day(after, now)
        return dates.midnight(day), dates.midnight(next_day) if next_day else dates.midnight(day, 1)
    try:
        day = date.fromisoformat(value)
    except ValueError:
        instant = dates.to_seconds(value)
        if instant is None:
            allowed = "YYYY-MM-DD, today, yesterday, this-week, this-month"
            raise DefinitionError(f"{value[:60]!r} is no date: {allowed}") from None
        return instant, instant + _INSTANT_SECONDS
    return dates.midnight(day), dates.midnight(day, 1)
