"""What the directives ask for: an order, a part of the results, groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.notes import Note, to_text
from ferrule_opennotes.views.conditions.fields import to_number
from ferrule_opennotes.views.definitions import DefinitionError
from ferrule_opennotes.views.dsl.grammar import Query, parse
from ferrule_opennotes.views.dsl.terms import compile_words, find_value, make_test, normalize_name
from ferrule_opennotes.views.rows import Row

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.views.parameters import Values

NO_GROUP = "(none)"  # what jot calls the group of the notes that are in none
_MAX_COUNTED = 9  # of one word in one note
_TITLE_WEIGHT = 10


class TextQuery(NamedTuple):
    """A query in the notation of jot, ready to be run."""

    query: Query

    def run(self, notes: list[Note], values: Values) -> list[Row]:
        """The rows of the query, over notes in the order of their paths, which decides where nothing else does.

        Raises DefinitionError for a value that makes no sense.
        """
        directives = self.query.directives
        matches = make_test(self.query.alternatives, values)
        found = [note for note in notes if matches(note)]
        if directives.sort:
            found = self._sort(found, values.text(directives.sort[0]), values.text(directives.sort[1]), values)
        found = found[_read_number(directives.offset, values) or 0 :][: _read_number(directives.limit, values) or None]
        used = self._find_used_fields()
        if not directives.group:
            return [Row(note, _collect_facts(note, used)) for note in found]
        return _group_notes(found, normalize_name(values.text(directives.group)), used)

    def _sort(self, notes: list[Note], field: str, direction: str, values: Values) -> list[Note]:
        """The notes in an order. Those without a value come last in either direction."""
        if direction.lower() not in ("asc", "desc"):
            raise DefinitionError(f"the order {direction[:60]!r} is neither asc nor desc")
        key = self._relevance(values) if field.lower() == "relevance" else _make_key(normalize_name(field))
        keyed = [(key(note), note) for note in notes]
        full = [each for each in keyed if each[0] is not None]
        full.sort(key=lambda each: each[0], reverse=direction.lower() == "desc")
        return [note for _, note in full] + [note for value, note in keyed if value is None]

    def _relevance(self, values: Values) -> Callable[[Note], int]:
        """How often the words of the query are there; in the title they count for more."""
        terms = [term for terms in self.query.alternatives for term in terms]
        wanted = [term.value for term in terms if term.field in (None, "title", "body") and not term.is_negated]
        patterns = [compile_words(values.text(text)) for text in wanted]

        def relevance(note: Note) -> int:
            in_title = sum(1 for pattern in patterns if pattern.search(note.name))
            return in_title * _TITLE_WEIGHT + sum(min(len(each.findall(note.body)), _MAX_COUNTED) for each in patterns)

        return relevance

    def _find_used_fields(self) -> list[str]:
        """The fields of the frontmatter that the query names as they are."""
        named = [term.field for terms in self.query.alternatives for term in terms if term.field]
        named += [term.value for terms in self.query.alternatives for term in terms if term.operator == "has"]
        named += [self.query.directives.sort[0]] if self.query.directives.sort else []
        return [name for name in dict.fromkeys(map(normalize_name, named)) if name not in _OF_A_SUMMARY]


_OF_A_SUMMARY = ("path", "title", "tag", "created", "modified", "body", "group", "tags")


def parse_text(query: str) -> TextQuery:
    """The query that a text stands for. Raises DefinitionError."""
    return TextQuery(parse(query))


def _read_number(directive: str | None, values: Values) -> int:
    if directive is None:
        return 0
    text = values.text(directive)
    if not text.isdecimal() or len(text) > 9:
        raise DefinitionError(f"{text[:60]!r} is no whole number")
    return int(text)


def _make_key(field: str) -> Callable[[Note], Any]:
    return _KEYS.get(field, lambda note: _make_comparable(_read_first(note, field)))


_KEYS: dict[str, Callable[[Note], Any]] = {
    "modified": lambda note: dates.sort_key(note.modified),
    "created": lambda note: dates.sort_key(note.created) if note.created else None,
    "title": lambda note: note.title.casefold() if note.title else None,
    "path": lambda note: note.path,
}


def _make_comparable(value: object) -> tuple[int, float, str] | None:
    """Numbers before text."""
    if value is None or value == "":
        return None
    number = to_number(value)
    return (1, 0.0, to_text(value).casefold()) if number is None else (0, float(number), "")


def _read_first(note: Note, field: str) -> object:
    value = note.tags if field == "tag" else find_value(note, field)
    return (value[0] if value else None) if isinstance(value, list) else value


def _group_notes(notes: list[Note], field: str, used: list[str]) -> list[Row]:
    """The notes with the `group` that each is of, the first where it has several; groups by their names, none last."""
    keyed = [(_name_group(note, field), note) for note in notes]
    keyed.sort(key=lambda each: (each[0] == NO_GROUP, each[0]))
    return [Row(note, _collect_facts(note, used) | {"group": group}) for group, note in keyed]


def _name_group(note: Note, field: str) -> str:
    if field in ("created", "modified"):
        return (note.created if field == "created" else note.modified) or NO_GROUP
    if field == "path":
        return note.path.rpartition("/")[0] or "."
    value = note.title if field == "title" else _read_first(note, field)
    return NO_GROUP if value is None or value == "" else to_text(value)


def _collect_facts(note: Note, fields: list[str]) -> JSONObject:
    found = {name: find_value(note, name) for name in fields}
    return {name: value for name, value in found.items() if value is not None}
