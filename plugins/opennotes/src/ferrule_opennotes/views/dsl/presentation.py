"""A whole query in the notation of jot as one SELECT: the filter, and what the directives ask for."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ferrule_opennotes.notebook.notes import Note, to_text
from ferrule_opennotes.views.definitions import DefinitionError
from ferrule_opennotes.views.dsl.terms import (
    compile_words,
    find_value,
    normalize_name,
    read_value,
    write_filter,
    write_seconds,
)
from ferrule_opennotes.views.table import NotesTable

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.views.dsl.grammar import Query
    from ferrule_opennotes.views.parameters import Values
    from ferrule_opennotes.views.table import Row

NO_GROUP = "(none)"  # what jot calls the group of the notes that are in none
_TITLE_WEIGHT = 10
_OF_A_SUMMARY = ("path", "title", "tag", "created", "modified", "body", "group", "tags")


class TextQuery(NamedTuple):
    """A query in the notation of jot, ready to be run."""

    query: Query

    def run(self, notes: list[Note], values: Values) -> list[Row]:
        """The rows of the query, over notes in the order of their paths, which decides where nothing else does.

        Groups are in the order of their names, that of the notes in none last. Raises DefinitionError for a value that
        makes no sense.
        """
        table, directives = NotesTable(), self.query.directives
        group = self._write_group(table, values)
        place = f"row_number() OVER (ORDER BY {self._write_order(table, values)}) AS place"
        where = write_filter(self.query.alternatives, table, values)
        limit, offset = (_read_number(text, values) for text in (directives.limit, directives.offset))
        found = f"SELECT id, {group} AS name, {place} FROM notes WHERE {where} ORDER BY place"  # noqa: S608 - values are bound
        found += f" LIMIT {limit or -1} OFFSET {offset}"
        rows = table.select(notes, f"SELECT id, name FROM ({found}) ORDER BY name NULLS LAST, place")  # noqa: S608 - SQL that the view was compiled to
        fields = self._list_fields()
        return [
            _make_row(note, fields, {"group": name or NO_GROUP} if directives.group else {}) for note, (name,) in rows
        ]

    def _list_fields(self) -> list[str]:
        """The fields of the frontmatter that the query names, which a summary does not have."""
        named = [term.field for terms in self.query.alternatives for term in terms if term.field]
        named += [term.value for terms in self.query.alternatives for term in terms if term.operator == "has"]
        named += [self.query.directives.sort[0]] if self.query.directives.sort else []
        return [name for name in dict.fromkeys(map(normalize_name, named)) if name not in _OF_A_SUMMARY]

    def _write_group(self, table: NotesTable, values: Values) -> str:
        """The SQL of the name of a note's group, the first where it has several."""
        if not self.query.directives.group:
            return "NULL"
        field = normalize_name(values.text(self.query.directives.group))
        if field == "path":
            return table.column("folder", lambda note: note.path.rpartition("/")[0] or ".")
        return _write_first(field, table)

    def _write_order(self, table: NotesTable, values: Values) -> str:
        """The SQL of the order. Notes without a value come last in either direction, and numbers before text."""
        if not self.query.directives.sort:
            return "id"
        field, direction = map(values.text, self.query.directives.sort)
        if direction.lower() not in ("asc", "desc"):
            raise DefinitionError(f"the order {direction[:60]!r} is neither asc nor desc")
        keys = self._write_keys(field, table, values)
        return ", ".join([*(f"{key} {direction} NULLS LAST" for key in keys), "id"])

    def _write_keys(self, field: str, table: NotesTable, values: Values) -> list[str]:
        if field.lower() == "relevance":
            return [self._write_relevance(table, values)]
        name = normalize_name(field)
        if name in ("created", "modified"):
            return [write_seconds(name, table)]
        value = _write_first(name, table)
        if name == "path":
            return [value]
        if name == "title":
            return [f"fold({value})"]
        is_text = f"CASE WHEN {value} IS NOT NULL THEN number({value}) IS NULL END"
        return [is_text, f"number({value})", f"fold({value})"]

    def _write_relevance(self, table: NotesTable, values: Values) -> str:
        """The SQL of how often the words of the query are there; in the title they count for more."""
        terms = [term for terms in self.query.alternatives for term in terms]
        wanted = [term.value for term in terms if term.field in (None, "title", "body") and not term.is_negated]
        title, body = table.column("title", attrgetter("name")), table.column("body", attrgetter("body"))
        patterns = [table.value(compile_words(values.text(text))) for text in wanted]
        return (
            " + ".join(f"{_TITLE_WEIGHT} * ({title} REGEXP {each}) + occurrences({each}, {body})" for each in patterns)
            or "0"
        )


def _make_row(note: Note, fields: Sequence[str], group: JSONObject) -> Row:
    return note, {name: value for name in fields if (value := find_value(note, name)) is not None} | group


def _write_first(field: str, table: NotesTable) -> str:
    """The SQL of the value of a field as text, of the first item of a list; NULL if there is nothing."""

    def read(note: Note) -> str | None:
        value = read_value(note, field)
        first = (value[0] if value else None) if isinstance(value, list) else value
        return None if first is None or first == "" else to_text(first)

    return table.column(f"first of {field}", read)


def _read_number(directive: str | None, values: Values) -> int:
    if directive is None:
        return 0
    text = values.text(directive)
    if not text.isdecimal() or len(text) > 9:
        raise DefinitionError(f"{text[:60]!r} is no whole number")
    return int(text)
