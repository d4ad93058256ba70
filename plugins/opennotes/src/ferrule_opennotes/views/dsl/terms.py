"""The terms of a filter as tests of notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from operator import attrgetter, eq
from typing import TYPE_CHECKING, Any

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.globs import matches
from ferrule_opennotes.notebook.notes import Note, to_text
from ferrule_opennotes.query.text import UNDIVIDED
from ferrule_opennotes.views import variables
from ferrule_opennotes.views.conditions.comparison import ORDERED
from ferrule_opennotes.views.conditions.fields import to_number
from ferrule_opennotes.views.definitions import DefinitionError

if TYPE_CHECKING:
    from ferrule_opennotes.views.dsl.grammar import Term
    from ferrule_opennotes.views.parameters import Values

Test = Callable[[Note], bool]

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
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {"=": eq, **ORDERED}
_RELATIVE = {"this-week": ("this_week", "next_week"), "this-month": ("this_month", "next_month")}
_INSTANT = timedelta(microseconds=1)
_LAST = datetime.max.replace(tzinfo=UTC)


def make_test(alternatives: Sequence[Sequence[Term]], values: Values) -> Test:
    """The filter as one test. Raises DefinitionError for a value that makes no sense."""
    tests = [[_make_term_test(term, values) for term in terms] for terms in alternatives]
    if not tests:
        return lambda note: True
    return lambda note: any(all(test(note) for test in terms) for terms in tests)


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


def compile_words(text: str) -> re.Pattern[str]:
    """What finds the words of a text one after the other, whatever their capitals and what stands between them."""
    parts = [re.escape(part) for part in re.findall(r"\w+", text)]
    if not parts or UNDIVIDED.search(text):
        return re.compile(re.escape(text), re.IGNORECASE)
    return re.compile(r"(?<!\w)" + r"[\W_]+".join(parts) + r"(?!\w)", re.IGNORECASE)


def _make_term_test(term: Term, values: Values) -> Test:
    test = _make_positive_test(term, values)
    return (lambda note: not test(note)) if term.is_negated else test


def _make_positive_test(term: Term, values: Values) -> Test:
    if term.operator in ("has", "missing"):
        wanted, field = term.operator == "has", normalize_name(values.text(term.value))
        return lambda note: (_read_value(note, field) not in (None, "", [], {})) is wanted
    found = values.alternatives(term.value)
    if term.field and "," in term.value and not term.is_quoted:  # any of them, as jot takes a list of words
        found = [item for value in found for item in value.split(",") if item]
    tests = [_make_value_test(term, value, values.now) for value in found]
    return lambda note: any(test(note) for test in tests)


def _make_value_test(term: Term, value: str, now: datetime) -> Test:
    if term.field is None:
        pattern = compile_words(value)
        return lambda note: bool(pattern.search(note.name) or pattern.search(note.body))
    field = normalize_name(term.field)
    if field in ("created", "modified"):
        return _test_date(field, term.operator, value, now)
    if field in _FIELDS and term.operator == "=":
        return _FIELDS[field](value)
    return lambda note: any(_compare(each, term.operator, value) for each in _list_items(_read_value(note, field)))


def _read_value(note: Note, field: str) -> object:
    return _READ[field](note) if field in _READ else find_value(note, field)


def _list_items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [] if value is None or isinstance(value, dict) else [value]


def _compare(value: object, kind: str, wanted: str) -> bool:
    """Numbers as numbers where both are, dates as dates; else as text, whose capitals do not matter."""
    compare = _COMPARE[kind]
    if kind != "=":
        numbers = to_number(value), to_number(wanted)
        if numbers[0] is not None and numbers[1] is not None:
            return compare(*numbers)
        instants = dates.parse(value), dates.parse(wanted)
        if instants[0] and instants[1]:
            return compare(*instants)
    return compare(to_text(value).strip().casefold(), wanted.strip().casefold())


def _test_tag(value: str) -> Test:
    wanted = value.strip().removeprefix("#").casefold()
    return lambda note: any(tag.casefold() == wanted for tag in note.tags)


def _test_words(read: Callable[[Note], str], value: str) -> Test:
    pattern = compile_words(value)
    return lambda note: pattern.search(read(note)) is not None


def _test_path(value: str) -> Test:
    if "*" in value or "?" in value:
        return lambda note: matches(note.path, value)
    prefix = value.removeprefix("./").removeprefix("/")
    return lambda note: note.path.startswith(prefix)


_FIELDS: dict[str, Callable[[str], Test]] = {
    "tag": _test_tag,
    "title": partial(_test_words, attrgetter("name")),
    "body": partial(_test_words, attrgetter("body")),
    "path": _test_path,
}
_READ: dict[str, Callable[[Note], object]] = {
    **{name: attrgetter(name) for name in ("title", "path", "created", "modified")},
    "tag": attrgetter("tags"),
    "body": lambda note: note.body.strip(),
}


def _test_date(field: str, kind: str, value: str, now: datetime) -> Test:
    """A test of a date. A day is all of it: `>` means after its end, `<=` until its end."""
    start, end = _find_span(value.strip(), now)

    def test(note: Note) -> bool:
        instant = dates.parse(note.created if field == "created" else note.modified)
        if instant is None:
            return False
        if kind == "=":
            return start <= instant < end
        return _COMPARE[kind](instant, start) if kind in ("<", ">=") else (instant < end) is (kind == "<=")

    return test


def _find_span(value: str, now: datetime) -> tuple[datetime, datetime]:
    """From when until when a date is: a day, a week, a month, or one instant."""
    first, after = _RELATIVE.get(value.lower(), (value.lower(), ""))
    if day := variables.resolve_day(first, now):
        next_day = variables.resolve_day(after, now)
        return _midnight(day), _midnight(next_day) if next_day else _midnight(day, 1)
    try:
        day = date.fromisoformat(value)
    except ValueError:
        instant = dates.parse(value)
        if instant is None:
            allowed = "YYYY-MM-DD, today, yesterday, this-week, this-month"
            raise DefinitionError(f"{value[:60]!r} is no date: {allowed}") from None
        return instant, min(instant, _LAST - _INSTANT) + _INSTANT
    return _midnight(day), _midnight(day, 1)


def _midnight(day: date, days: int = 0) -> datetime:
    """When the day begins, or one that is `days` later; the first or last instant where no calendar goes that far."""
    try:
        return datetime.combine(day + timedelta(days=days), time()).astimezone()
    except (OverflowError, ValueError):
        return _LAST if day.year > 1 else datetime.min.replace(tzinfo=UTC)
