"""What the directives ask for: an order, a part of the results, groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.notes import Note, as_text
from ferrule_opennotes.views.conditions.fields import as_number
from ferrule_opennotes.views.definitions import Malformed
from ferrule_opennotes.views.dsl.grammar import Query, parsed
from ferrule_opennotes.views.dsl.terms import name_of, test_of, value_of, words
from ferrule_opennotes.views.rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule_opennotes.views.parameters import Values

NO_GROUP = "(none)"  # what jot calls the group of the notes that are in none
_MOST_COUNTED = 9  # of one word in one note
_TITLE_COUNTS = 10


class Text(NamedTuple):
    """A query in the notation of jot, ready to be run."""

    query: Query

    def run(self, notes: list[Note], values: Values) -> list[Row]:
        """The rows of the query, over notes in the order of their paths, which decides where nothing else does.

        Raises Malformed for a value that makes no sense.
        """
        directives = self.query.directives
        matches = test_of(self.query.alternatives, values)
        found = [note for note in notes if matches(note)]
        if directives.sort:
            found = self._ordered(found, values.text(directives.sort[0]), values.text(directives.sort[1]), values)
        found = found[_number(directives.offset, values) or 0 :][: _number(directives.limit, values) or None]
        used = self._used()
        if not directives.group:
            return [Row(note, _facts(note, used)) for note in found]
        return _grouped(found, name_of(values.text(directives.group)), used)

    def _ordered(self, notes: list[Note], field: str, direction: str, values: Values) -> list[Note]:
        """The notes in an order. Those without a value come last in either direction."""
        if direction.lower() not in ("asc", "desc"):
            raise Malformed(f"the order {direction[:60]!r} is neither asc nor desc")
        key = self._relevance(values) if field.lower() == "relevance" else _key(name_of(field))
        keyed = [(key(note), note) for note in notes]
        full = [each for each in keyed if each[0] is not None]
        full.sort(key=lambda each: each[0], reverse=direction.lower() == "desc")
        return [note for _, note in full] + [note for value, note in keyed if value is None]

    def _relevance(self, values: Values) -> Callable[[Note], Any]:
        """How often the words of the query are there; in the title they count for more."""
        terms = [term for terms in self.query.alternatives for term in terms]
        wanted = [term.value for term in terms if term.field in (None, "title", "body") and not term.is_negated]
        patterns = [words(values.text(text)) for text in wanted]

        def relevance(note: Note) -> int:
            in_title = sum(1 for pattern in patterns if pattern.search(note.name))
            return in_title * _TITLE_COUNTS + sum(min(len(each.findall(note.body)), _MOST_COUNTED) for each in patterns)

        return relevance

    def _used(self) -> list[str]:
        """The fields of the frontmatter that the query names as they are."""
        named = [term.field for terms in self.query.alternatives for term in terms if term.field]
        named += [term.value for terms in self.query.alternatives for term in terms if term.operator == "has"]
        named += [self.query.directives.sort[0]] if self.query.directives.sort else []
        return [name for name in dict.fromkeys(map(name_of, named)) if name not in _OF_A_SUMMARY]


_OF_A_SUMMARY = ("path", "title", "tag", "created", "modified", "body", "group", "tags")


def text(query: str) -> Text:
    """The query that a text stands for. Raises Malformed."""
    return Text(parsed(query))


def _number(directive: str | None, values: Values) -> int:
    if directive is None:
        return 0
    text = values.text(directive)
    if not text.isdecimal() or len(text) > 9:
        raise Malformed(f"{text[:60]!r} is no whole number")
    return int(text)


def _key(field: str) -> Callable[[Note], Any]:
    if field == "modified":
        return lambda note: dates.sort_key(note.modified)
    if field == "created":
        return lambda note: dates.sort_key(note.created) if note.created else None
    if field == "title":
        return lambda note: note.name.casefold()
    if field == "path":
        return lambda note: note.path
    return lambda note: _comparable(_first(note, field))


def _comparable(value: Any) -> tuple[int, float, str] | None:
    """Numbers before text."""
    if value is None or value == "":
        return None
    number = as_number(value)
    return (1, 0.0, as_text(value).casefold()) if number is None else (0, float(number), "")


def _first(note: Note, field: str) -> Any:
    value = note.tags if field == "tag" else value_of(note, field)
    return (value[0] if value else None) if isinstance(value, list) else value


def _grouped(notes: list[Note], field: str, used: list[str]) -> list[Row]:
    """The notes with the `group` that each is of, the first where it has several; groups by their names, none last."""
    keyed = [(_group(note, field), note) for note in notes]
    keyed.sort(key=lambda each: (each[0] == NO_GROUP, each[0]))
    return [Row(note, _facts(note, used) | {"group": group}) for group, note in keyed]


def _group(note: Note, field: str) -> str:
    if field in ("created", "modified"):
        return (note.created if field == "created" else note.modified) or NO_GROUP
    if field == "path":
        return note.path.rpartition("/")[0] or "."
    value = note.title if field == "title" else _first(note, field)
    return NO_GROUP if value is None or value == "" else as_text(value)


def _facts(note: Note, fields: list[str]) -> dict[str, Any]:
    found = {name: value_of(note, name) for name in fields}
    return {name: value for name, value in found.items() if value is not None}
