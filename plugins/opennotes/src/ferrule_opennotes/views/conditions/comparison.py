"""Conditions: a field, an operator and a value, as a test of a row."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.notes import Note
from ferrule_opennotes.views.conditions.fields import Expression, Value, as_number, as_type, parsed, written
from ferrule_opennotes.views.definitions import Malformed
from ferrule_opennotes.views.parameters import Values, items

Test = Callable[[Sequence[Note]], bool]

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_SPELT = {"<>": "!=", "==": "=", "IS": "IS NULL", "IS NOT": "IS NOT NULL"}
OPERATORS = ("=", "!=", *_ORDERED, "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE", "IN", "NOT IN", "IS NULL", "IS NOT NULL")


class Condition(NamedTuple):
    """A condition. value: as the definition has it, with its placeholders. is_alternative: joined by OR to the last."""

    expression: Expression
    operator: str
    value: Any
    is_alternative: bool

    def test(self, values: Values) -> Test:
        """The condition with its value filled in. Raises Malformed."""
        read = self.expression.read
        if self.operator.endswith("NULL"):
            wanted = self.operator == "IS NULL"
            return lambda notes: (read(notes) is None) is wanted
        is_negated = self.operator == "!=" or self.operator.startswith("NOT ")
        matches = self._matcher(self.operator.removeprefix("NOT ").replace("!=", "="), values)

        def test(notes: Sequence[Note]) -> bool:
            value = read(notes)
            # NULL is neither equal nor unequal to anything.
            return value is not None and any(map(matches, _each(value))) is not is_negated

        return test

    def _matcher(self, kind: str, values: Values) -> Callable[[Any], bool]:
        if kind == "IN":
            wanted = [_equal_to(self.expression, each) for each in _listed(self.value, values)]
            return lambda value: any(is_equal(value) for is_equal in wanted)
        operand = _filled(self.value, values)
        if kind in ("LIKE", "ILIKE"):
            return like(written(operand), ignores_case=kind == "ILIKE")
        return _equal_to(self.expression, operand) if kind == "=" else _ordered(self.expression, kind, operand)


def condition(value: Any, aliases: Mapping[str, Expression] | None = None) -> Condition:
    """The condition that a definition has. Raises Malformed."""
    if not isinstance(value, Mapping):
        raise Malformed("a condition is no object")
    kind = " ".join(str(value.get("operator") or "=").upper().split())
    if kind in ("IS", "IS NOT") and str(value.get("value", "NULL")).upper() not in ("NULL", "NONE", ""):
        raise Malformed(f"the operator {kind} goes with NULL only")
    kind = _SPELT.get(kind, kind)
    if kind not in OPERATORS:
        raise Malformed(f"the operator {kind[:30]!r} is not known ({', '.join(OPERATORS)} are)")
    if "value" not in value and not kind.endswith("NULL"):
        raise Malformed("a condition has no value")
    logic = str(value.get("logic") or "AND").upper()
    if logic not in ("AND", "OR"):
        raise Malformed(f"the logic {logic[:30]!r} is neither AND nor OR")
    return Condition(parsed(value.get("field"), aliases), kind, value.get("value"), logic == "OR")


def all_of(conditions: Sequence[Condition], values: Values) -> Test:
    """All conditions as one test. Those joined by OR are its alternatives; AND binds tighter, as in SQL."""
    alternatives: list[list[Test]] = [[]]
    for number, each in enumerate(conditions):
        if each.is_alternative and number:
            alternatives.append([])
        alternatives[-1].append(each.test(values))
    return lambda notes: any(all(test(notes) for test in tests) for tests in alternatives)


def like(pattern: str, *, ignores_case: bool = False) -> Callable[[Value], bool]:
    """A test by SQL's LIKE: `%` is any text, `_` any character, and nothing escapes them.

    The parts between the `%` are looked for one after the other, so no pattern takes longer on a text than its length.
    """
    flags = re.DOTALL | (re.IGNORECASE if ignores_case else 0)
    first, *others = (re.compile(_part(part), flags) for part in pattern.split("%"))

    def fits(value: Value) -> bool:
        text = written(value)
        if not others:
            return first.fullmatch(text) is not None
        found = first.match(text)
        for part in others[:-1]:
            found = found and part.search(text, found.end())
        last = len(text) - len(pattern.rpartition("%")[2])
        return found is not None and found.end() <= last and others[-1].match(text, last) is not None

    return fits


def _part(text: str) -> str:
    return "".join("." if character == "_" else re.escape(character) for character in text)


def _each(value: Value) -> Sequence[Value]:
    return value if isinstance(value, list) else [value]


def _filled(value: Any, values: Values) -> Any:
    if isinstance(value, list | dict):
        raise Malformed("a list goes with IN only")
    return values.text(value) if isinstance(value, str) else value


def _listed(value: Any, values: Values) -> list[Any]:
    """What IN looks among: the items of a list, or of a text with commas."""
    if not isinstance(value, list):
        return items(written(_filled(value, values)))
    return [each for item in value for each in (values.alternatives(item) if isinstance(item, str) else [item])]


def _equal_to(expression: Expression, wanted: Any) -> Callable[[Any], bool]:
    if expression.type == "date":
        instant = _instant(wanted)
        if _DAY.fullmatch(str(wanted).strip()):  # a day is all of it
            return lambda value: isinstance(value, datetime) and dates.day_of(value) == instant.date()
        return lambda value: value == instant
    if expression.type != "text":
        typed = _typed(expression, wanted)
        return lambda value: value is not None and as_type(value, expression.type) == typed
    text = written(wanted)
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        return lambda value: value == wanted if _is_number(value) else written(value) == text
    return lambda value: written(value) == text


def _ordered(expression: Expression, kind: str, wanted: Any) -> Callable[[Any], bool]:
    compare = _ORDERED[kind]
    if expression.type == "text" and not _is_number(wanted):
        text = written(wanted)
        return lambda value: not isinstance(value, list | dict) and compare(written(value), text)
    as_number_too = expression.type == "text"
    typed = wanted if as_number_too else _typed(expression, wanted)

    def test(value: Any) -> bool:
        comparable = as_number(value) if as_number_too else value
        return comparable is not None and not isinstance(comparable, list | dict) and compare(comparable, typed)

    return test


def _typed(expression: Expression, wanted: Any) -> Any:
    if expression.type == "date":
        return _instant(wanted)
    typed = as_type(wanted, expression.type)
    if typed is None:
        raise Malformed(f"{written(wanted)[:100]!r} is no {expression.type} to compare {expression.name} with")
    return typed


def _instant(wanted: Any) -> datetime:
    found = dates.parse(wanted)
    if found is None:
        raise Malformed(f"{written(wanted)[:100]!r} is no date")
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
