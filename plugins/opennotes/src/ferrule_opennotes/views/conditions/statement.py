"""A whole query in the notation of OpenNotes as one SELECT: which notes, in what groups and order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_opennotes.views.conditions.comparison import Condition, combine, parse_condition
from ferrule_opennotes.views.conditions.fields import Expression, parse
from ferrule_opennotes.views.definitions import DefinitionError
from ferrule_opennotes.views.table import NotesTable

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_opennotes.notebook.notes import Note
    from ferrule_opennotes.views.parameters import Values
    from ferrule_opennotes.views.table import Row

_ORDER = re.compile(r"(.+?)(?:\s+|(?<!:):)(ASC|DESC)(?:\s+NULLS\s+(FIRST|LAST))?", re.IGNORECASE | re.DOTALL)
_COMMA = re.compile(r",(?![^(']*\))(?=(?:[^']*'[^']*')*[^']*\Z)")  # in neither brackets nor quotes
_MAX_CHARS = 2_000  # characters of an order
_PARTS = ("conditions", "groupby", "limit", "orderby")
_OF_A_SUMMARY = ("path", "title", "tags", "created", "modified", "group")


class Order(NamedTuple):
    """One part of an order. NULL comes last in either direction, unless the definition says otherwise."""

    expression: Expression
    direction: str = "ASC"
    nulls: str = "LAST"

    def write(self, table: NotesTable) -> str:
        """The SQL of it."""
        return f"{self.expression.write(table)} {self.direction} NULLS {self.nulls}"


class Statement(NamedTuple):
    """A query. limit: 0 if there is none."""

    where: Sequence[Condition]
    group: Sequence[Expression]
    order: Sequence[Order]
    limit: int

    def run(self, notes: Sequence[Note], values: Values) -> list[Row]:
        """The rows of the query, over notes in the order of their paths, which decides where nothing else does.

        Groups are in the order of their names. Raises DefinitionError for a value that cannot be compared.
        """
        table = NotesTable()
        groups = [each.write_text(table) for each in self.group]
        order = [*(f"{each} NULLS LAST" for each in groups), *(each.write(table) for each in self.order), "id"]
        found = table.select(
            notes,
            f"SELECT {', '.join(['id', *groups])} FROM notes WHERE {combine(self.where, table, values)} "  # noqa: S608 - values are bound
            f"ORDER BY {', '.join(order)} LIMIT {self.limit or -1}",
        )
        fields = self._list_fields()
        return [_make_row(note, fields, names) for note, names in found]

    def _list_fields(self) -> list[str]:
        """The fields of the frontmatter that the query is about, which a summary does not have."""
        used = [*(each.expression for each in self.where), *(each.expression for each in self.order), *self.group]
        return list(dict.fromkeys(each.field for each in used if each.field and each.field not in _OF_A_SUMMARY))


def parse_statement(query: JSONMapping) -> Statement:
    """The query of a definition, whose names may be written with capitals or underscores. Raises DefinitionError."""
    known = {name.replace("_", "").lower(): value for name, value in query.items()}
    if unknown := set(known).difference(_PARTS):
        raise DefinitionError(f"its query has '{min(unknown)}', which is none of {', '.join(_PARTS)}")
    conditions, limit = known.get("conditions"), known.get("limit") or 0
    if not isinstance(conditions, list | None):
        raise DefinitionError("its 'conditions' is no list")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise DefinitionError("its 'limit' is no whole number from 0 on")
    order = [_parse_order(text) for text in _split(known.get("orderby"))]
    return Statement(
        [parse_condition(each) for each in conditions or []],
        [parse(text) for text in _split(known.get("groupby"))],
        order,
        limit,
    )


def _make_row(note: Note, fields: Sequence[str], groups: Sequence[object]) -> Row:
    facts = {name: value for name in fields if (value := note.frontmatter.get(name)) is not None}
    return note, facts | ({"group": groups[0] if len(groups) == 1 else list(groups)} if groups else {})


def _parse_order(text: str) -> Order:
    found = _ORDER.fullmatch(text)
    return Order(parse(found[1]), found[2].upper(), (found[3] or "LAST").upper()) if found else Order(parse(text))


def _split(value: object) -> list[str]:
    """The parts of a text that commas divide, except in brackets and quotes."""
    if value is None:
        return []
    if not isinstance(value, str) or len(value) > _MAX_CHARS:
        raise DefinitionError(f"{str(value)[:100]!r} is no order")
    return [part.strip() for part in _COMMA.split(value) if part.strip()]
