"""Conditions: a field, an operator and a value, as SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.views.conditions.fields import Expression, parse
from ferrule_opennotes.views.definitions import DefinitionError, to_text
from ferrule_opennotes.views.parameters import split_items
from ferrule_opennotes.views.table import to_number

if TYPE_CHECKING:
    from ferrule_opennotes.views.parameters import Values
    from ferrule_opennotes.views.table import NotesTable

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SPELT = {"<>": "!=", "==": "=", "IS": "IS NULL", "IS NOT": "IS NOT NULL"}
_OPERATORS = (
    *("=", "!=", "<", ">", "<=", ">=", "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"),
    *("IN", "NOT IN", "IS NULL", "IS NOT NULL"),
)


class Condition(NamedTuple):
    """A condition. value: with its placeholders. is_alternative: joined by OR to the last."""

    expression: Expression
    operator: str
    value: str
    is_alternative: bool

    def write(self, table: NotesTable, values: Values) -> str:
        """The SQL of the condition with its value filled in. Raises DefinitionError."""
        operand = self.expression.write(table)
        if self.operator.endswith("NULL"):
            return f"{operand} {self.operator}"
        test = self.expression.write_test(table, self._make_test(table, values.text(self.value)))
        # NULL is neither equal nor unequal to anything.
        is_negated = self.operator == "!=" or self.operator.startswith("NOT ")
        return f"{operand} IS NOT NULL AND NOT ({test})" if is_negated else test

    def _make_test(self, table: NotesTable, text: str) -> Callable[[str], str]:
        """What makes the SQL of the test, without its NOT, for the SQL of an operand."""
        kind = self.operator.removeprefix("NOT ")
        if kind in ("LIKE", "ILIKE"):
            pattern = table.value(compile_like(text, ignores_case=kind == "ILIKE"))
            return lambda sql: f"{self.expression.to_text(sql)} REGEXP {pattern}"
        if kind in ("=", "!=", "IN"):
            wanted = [_convert(self.expression, each) for each in (split_items(text) if kind == "IN" else [text])]
            return lambda sql: " OR ".join(_write_equality(sql, each, table) for each in wanted)
        value = table.value(_convert(self.expression, text)[0])
        return lambda sql: f"{sql} {kind} {value}"


def parse_condition(value: object) -> Condition:
    """The condition that a definition has. Raises DefinitionError."""
    if not isinstance(value, Mapping):
        raise DefinitionError("a condition is no object")
    kind = " ".join(str(value.get("operator") or "=").upper().split())
    if kind in ("IS", "IS NOT") and str(value.get("value", "NULL")).upper() not in ("NULL", "NONE", ""):
        raise DefinitionError(f"the operator {kind} goes with NULL only")
    kind = _SPELT.get(kind, kind)
    if kind not in _OPERATORS:
        raise DefinitionError(f"the operator {kind[:30]!r} is not known ({', '.join(_OPERATORS)} are)")
    if "value" not in value and not kind.endswith("NULL"):
        raise DefinitionError("a condition has no value")
    if isinstance(value.get("value"), dict if kind in ("IN", "NOT IN") else dict | list):
        raise DefinitionError("a list goes with IN only")
    logic = str(value.get("logic") or "AND").upper()
    if logic not in ("AND", "OR"):
        raise DefinitionError(f"the logic {logic[:30]!r} is neither AND nor OR")
    return Condition(parse(value.get("field")), kind, to_text(value.get("value")), logic == "OR")


def combine(conditions: Sequence[Condition], table: NotesTable, values: Values) -> str:
    """The SQL of all conditions. Those joined by OR are its alternatives; AND binds tighter."""
    sql = ""
    for each in conditions:
        joint = (" OR " if each.is_alternative else " AND ") if sql else ""
        sql += f"{joint}({each.write(table, values)})"
    return sql or "TRUE"


def compile_like(pattern: str, *, ignores_case: bool = False) -> str:
    """SQL's LIKE as a regular expression: `%` is any text, `_` any character, and nothing escapes them.

    The first place of each part between the `%` is the one that counts, so no pattern takes longer on a text than its
    length. SQLite's own knows only the letters of ASCII without case, and takes for ever on some patterns.
    """
    first, *others = (re.escape(part).replace("_", ".") for part in pattern.split("%"))
    middle = "".join(f"(?>.*?{part})" for part in others[:-1])
    last = f".*{others[-1]}" if others else ""
    return rf"(?s{'i' * ignores_case}:\A{first}{middle}{last}\Z)"


def _write_equality(sql: str, span: tuple[object, float | None], table: NotesTable) -> str:
    start, end = table.value(span[0]), span[1]
    return f"{sql} = {start}" if end is None else f"({sql} >= {start} AND {sql} < {table.value(end)})"


def _convert(expression: Expression, text: str) -> tuple[object, float | None]:
    """A text in the type of the expression, and where it is a day, when that ends. Raises DefinitionError."""
    if expression.type == "text":
        return text, None
    text = text.strip()
    if expression.type == "date" and _DAY.fullmatch(text) and (day := dates.parse(text)):
        return dates.midnight(day.date()), dates.midnight(day.date(), 1)
    value = _READERS[expression.type](text)
    if value is None:
        raise DefinitionError(f"{text[:100]!r} is no {expression.type}")
    return value, None


_READERS: dict[str, Callable[[str], object]] = {
    "number": to_number,
    "date": dates.to_seconds,
    "bool": lambda text: {"true": True, "1": True, "false": False, "0": False}.get(text.lower()),
}
