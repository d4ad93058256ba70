"""A whole query in the notation of OpenNotes: which notes, in what groups and order, and what of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule_opennotes.views.conditions.comparison import Condition, combine, parse_condition
from ferrule_opennotes.views.conditions.fields import MAX_CHARS, Expression, Value, format_value, order_key, parse
from ferrule_opennotes.views.definitions import DefinitionError
from ferrule_opennotes.views.rows import Row

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_opennotes.notebook.notes import Note
    from ferrule_opennotes.views.parameters import Values

_ORDER = re.compile(r"(.+?)(?:\s+|(?<!:):)(ASC|DESC)(?:\s+NULLS\s+(FIRST|LAST))?", re.IGNORECASE | re.DOTALL)
_ALIAS = re.compile(r"(.+)\s+AS\s+\"?(\w+)\"?", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"\w{1,64}")


class Order(NamedTuple):
    """One part of an order. NULL comes last in either direction, unless the definition says otherwise."""

    expression: Expression
    is_descending: bool = False
    has_null_first: bool = False


class Statement(NamedTuple):
    """A query. select: what rows show, by name; nothing where they are notes."""

    where: Sequence[Condition]
    group: Sequence[Expression]
    having: Sequence[Condition]
    select: Mapping[str, Expression]
    order: Sequence[Order]
    is_distinct: bool
    limit: int | None
    offset: int

    def run(self, notes: Sequence[Note], values: Values) -> list[Row]:
        """The rows of the query, over notes in the order of their paths, which decides where nothing else does.

        Raises DefinitionError for a value that cannot be compared.
        """
        matches = combine(self.where, values)
        rows: list[list[Note]] = [[note] for note in notes if matches([note])]
        if self.select:
            rows = self._group_rows(rows)
        if self.having:
            keeps = combine(self.having, values)
            rows = [row for row in rows if keeps(row)]
        for order in reversed(self.order):
            rows = _sort(rows, order)
        return self._bound(self._make_rows(rows))

    def _group_rows(self, rows: list[list[Note]]) -> list[list[Note]]:
        if self.group:
            groups: dict[tuple[str | None, ...], list[Note]] = {}
            for row in rows:
                groups.setdefault(_key(self.group, row), []).extend(row)
            return list(groups.values())
        if any(expression.is_aggregate for expression in self.select.values()):
            return [[note for row in rows for note in row]]
        return rows

    def _make_rows(self, rows: list[list[Note]]) -> list[Row]:
        if self.select:
            return [Row(None, {name: _to_json(read.read(row)) for name, read in self.select.items()}) for row in rows]
        if self.group:
            return self._make_groups(rows)
        return [Row(row[0], self._facts(row)) for row in rows]

    def _make_groups(self, rows: list[list[Note]]) -> list[Row]:
        """The notes with the `group` that each is of; groups are in the order of their names, that of none is last."""
        keyed = [(_key(self.group, row), row) for row in rows]
        keyed.sort(key=lambda each: [(part is None, part or "") for part in each[0]])
        is_single = len(self.group) == 1
        return [Row(row[0], self._facts(row) | {"group": key[0] if is_single else list(key)}) for key, row in keyed]

    def _facts(self, row: list[Note]) -> JSONObject:
        """The fields of the frontmatter that the query is about, which a summary does not have."""
        used = [*(each.expression for each in self.where), *(each.expression for each in self.order), *self.group]
        named = {each.field: row[0].frontmatter.get(each.field) for each in used if each.field}
        return {name: value for name, value in named.items() if value is not None and name not in _OF_A_SUMMARY}

    def _bound(self, rows: list[Row]) -> list[Row]:
        if self.is_distinct and self.select:
            rows = list({format_value(row.facts): row for row in rows}.values())
        return rows[self.offset :][: self.limit]


_OF_A_SUMMARY = ("path", "title", "tags", "created", "modified", "group")


def parse_statement(query: JSONMapping) -> Statement:
    """The query of a definition, whose names may be written with capitals or underscores. Raises DefinitionError."""
    known = {name.replace("_", "").lower(): value for name, value in query.items()}
    if unknown := set(known) - _PARTS:
        raise DefinitionError(f"its query has '{min(unknown)}', which is none of {', '.join(sorted(_PARTS))}")
    aggregates = _parse_aggregates(known.get("aggregatecolumns"))
    group = [parse(text) for text in _split(known.get("groupby"))]
    having = [parse_condition(each, aggregates) for each in _require_list(known.get("having"), "having")]
    select = _parse_selection(known.get("selectcolumns")) | aggregates
    if having and not group:
        raise DefinitionError("its 'having' goes with 'group_by' only")
    if having and not select:
        select = {expression.name: expression for expression in group}
    order = [_parse_order(text, select) for text in _split(known.get("orderby"))]
    where = [parse_condition(each) for each in _require_list(known.get("conditions"), "conditions")]
    if any(each.expression.is_aggregate for each in where):
        raise DefinitionError("an aggregate stands in its 'conditions'; in 'having' it may")
    _check_grouping([*select.values(), *(each.expression for each in order if select)], group)
    is_distinct = known.get("distinct") is True
    limit, offset = (_require_whole(known.get(name), name) for name in ("limit", "offset"))
    return Statement(where, group, having, select, order, is_distinct, limit or None, offset)


_PARTS = {
    *("conditions", "distinct", "orderby", "groupby", "having"),
    *("selectcolumns", "aggregatecolumns", "limit", "offset"),
}


def _check_grouping(expressions: Sequence[Expression], group: Sequence[Expression]) -> None:
    """What is selected with an aggregate must be what notes are grouped by, as SQL asks for."""
    plain = [expression for expression in expressions if not expression.is_aggregate]
    if len(plain) == len(expressions) and not group:
        return
    keys = {expression.name for expression in group}
    for expression in plain:
        if expression.name not in keys:
            raise DefinitionError(f"its {expression.name} is neither an aggregate nor in 'group_by'")


def _parse_aggregates(value: object) -> dict[str, Expression]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise DefinitionError("its 'aggregate_columns' are no object")
    found = {name: parse(text) for name, text in value.items()}
    for name, expression in found.items():
        if not expression.is_aggregate or not _NAME.fullmatch(name):
            raise DefinitionError(f"its aggregate column {name[:100]!r} is none of COUNT, SUM, AVG, MIN and MAX")
    return found


def _parse_selection(value: object) -> dict[str, Expression]:
    found: dict[str, Expression] = {}
    for text in _require_list(value, "select_columns"):
        alias = _ALIAS.fullmatch(text) if isinstance(text, str) and len(text) <= MAX_CHARS else None
        expression = parse(alias[1] if alias else text)
        found[alias[2] if alias else expression.name] = expression
    return found


def _parse_order(text: str, aliases: Mapping[str, Expression]) -> Order:
    if len(text) > MAX_CHARS:
        raise DefinitionError(f"{text[:100]!r} is no order")
    found = _ORDER.fullmatch(text)
    if not found:
        return Order(parse(text, aliases))
    return Order(parse(found[1], aliases), found[2].upper() == "DESC", (found[3] or "").upper() == "FIRST")


def _split(value: object) -> list[str]:
    """The parts of a text that commas divide, except in brackets and quotes; a list is divided already."""
    if value is None:
        return []
    if isinstance(value, list):
        return [str(each) for each in value]
    if not isinstance(value, str):
        raise DefinitionError(f"{str(value)[:100]!r} is no field")
    parts, depth, quoted = [""], 0, False
    for character in value:
        quoted ^= character == "'"
        depth += 0 if quoted else {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _require_list(value: object, name: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise DefinitionError(f"its '{name}' is no list")
    return value


def _require_whole(value: object, name: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DefinitionError(f"its '{name}' is no whole number from 0 on")
    return value


def _key(group: Sequence[Expression], row: Sequence[Note]) -> tuple[str | None, ...]:
    return tuple(None if (value := each.read(row)) is None else format_value(value) for each in group)


def _sort(rows: list[list[Note]], order: Order) -> list[list[Note]]:
    key: Callable[[Value], Any] = format_value if order.expression.type == "text" else order_key
    valued = [(order.expression.read(row), row) for row in rows]
    empty = [row for value, row in valued if value is None]
    full = [(key(value), row) for value, row in valued if value is not None]
    full.sort(key=itemgetter(0), reverse=order.is_descending)
    found = [row for _, row in full]
    return empty + found if order.has_null_first else found + empty


def _to_json(value: Value) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
