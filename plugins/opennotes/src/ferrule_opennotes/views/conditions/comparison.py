"""Conditions: a field, an operator and a value, as a test of a row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import ge, gt, le, lt
from typing import Any, NamedTuple

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.notes import Note
from ferrule_opennotes.views.conditions.fields import Expression, Value, format_value, parse, to_number, to_type
from ferrule_opennotes.views.definitions import DefinitionError
from ferrule_opennotes.views.parameters import Values, split_items

Test = Callable[[Sequence[Note]], bool]

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
ORDERED: dict[str, Callable[[Any, Any], bool]] = {"<": lt, ">": gt, "<=": le, ">=": ge}
_SPELT = {"<>": "!=", "==": "=", "IS": "IS NULL", "IS NOT": "IS NOT NULL"}
OPERATORS = ("=", "!=", *ORDERED, "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE", "IN", "NOT IN", "IS NULL", "IS NOT NULL")


class Condition(NamedTuple):
    """A condition. value: as the definition has it, with its placeholders. is_alternative: joined by OR to the last."""

    expression: Expression
    operator: str
    value: object
    is_alternative: bool

    def test(self, values: Values) -> Test:
        """The condition with its value filled in. Raises DefinitionError."""
        read = self.expression.read
        if self.operator.endswith("NULL"):
            wanted = self.operator == "IS NULL"
            return lambda notes: (read(notes) is None) is wanted
        is_negated = self.operator == "!=" or self.operator.startswith("NOT ")
        matches = self._matcher(self.operator.removeprefix("NOT ").replace("!=", "="), values)

        def test(notes: Sequence[Note]) -> bool:
            value = read(notes)
            items = value if isinstance(value, list) else [value]
            # NULL is neither equal nor unequal to anything.
            return value is not None and any(map(matches, items)) is not is_negated

        return test

    def _matcher(self, kind: str, values: Values) -> Callable[[Value], bool]:
        if kind == "IN":
            wanted = [_test_equality(self.expression, each) for each in _list_alternatives(self.value, values)]
            return lambda value: any(is_equal(value) for is_equal in wanted)
        operand = _fill(self.value, values)
        if kind in ("LIKE", "ILIKE"):
            return match_like(format_value(operand), ignores_case=kind == "ILIKE")
        return _test_equality(self.expression, operand) if kind == "=" else _test_order(self.expression, kind, operand)


def parse_condition(value: object, aliases: Mapping[str, Expression] | None = None) -> Condition:
    """The condition that a definition has. Raises DefinitionError."""
    if not isinstance(value, Mapping):
        raise DefinitionError("a condition is no object")
    kind = " ".join(str(value.get("operator") or "=").upper().split())
    if kind in ("IS", "IS NOT") and str(value.get("value", "NULL")).upper() not in ("NULL", "NONE", ""):
        raise DefinitionError(f"the operator {kind} goes with NULL only")
    kind = _SPELT.get(kind, kind)
    if kind not in OPERATORS:
        raise DefinitionError(f"the operator {kind[:30]!r} is not known ({', '.join(OPERATORS)} are)")
    if "value" not in value and not kind.endswith("NULL"):
        raise DefinitionError("a condition has no value")
    logic = str(value.get("logic") or "AND").upper()
    if logic not in ("AND", "OR"):
        raise DefinitionError(f"the logic {logic[:30]!r} is neither AND nor OR")
    return Condition(parse(value.get("field"), aliases), kind, value.get("value"), logic == "OR")


def combine(conditions: Sequence[Condition], values: Values) -> Test:
    """All conditions as one test. Those joined by OR are its alternatives; AND binds tighter, as in SQL."""
    alternatives: list[list[Test]] = [[]]
    for number, each in enumerate(conditions):
        if each.is_alternative and number:
            alternatives.append([])
        alternatives[-1].append(each.test(values))
    return lambda notes: any(all(test(notes) for test in tests) for tests in alternatives)


def match_like(pattern: str, *, ignores_case: bool = False) -> Callable[[Value], bool]:
    """A test by SQL's LIKE: `%` is any text, `_` any character, and nothing escapes them.

    The parts between the `%` are looked for one after the other, so no pattern takes longer on a text than its length.
    """
    flags = re.DOTALL | (re.IGNORECASE if ignores_case else 0)
    parts = [re.escape(part).replace("_", ".") for part in pattern.split("%")]
    first, *others = (re.compile(part, flags) for part in parts)

    def fits(value: Value) -> bool:
        text = format_value(value)
        if not others:
            return first.fullmatch(text) is not None
        found = first.match(text)
        for part in others[:-1]:
            found = found and part.search(text, found.end())
        last = len(text) - len(pattern.rpartition("%")[2])
        return found is not None and found.end() <= last and others[-1].match(text, last) is not None

    return fits


def _fill(value: object, values: Values) -> object:
    if isinstance(value, list | dict):
        raise DefinitionError("a list goes with IN only")
    return values.text(value) if isinstance(value, str) else value


def _list_alternatives(value: object, values: Values) -> Sequence[object]:
    """What IN looks among: the items of a list, or of a text with commas."""
    if not isinstance(value, list):
        return split_items(format_value(_fill(value, values)))
    return [each for item in value for each in (values.alternatives(item) if isinstance(item, str) else [item])]


def _test_equality(expression: Expression, wanted: object) -> Callable[[Value], bool]:
    if expression.type == "date":
        instant = _parse_instant(wanted)
        if _DAY.fullmatch(str(wanted).strip()):  # a day is all of it
            return lambda value: isinstance(value, datetime) and dates.day_of(value) == instant.date()
        return lambda value: value == instant
    if expression.type != "text":
        typed = _convert(expression, wanted)
        return lambda value: value is not None and to_type(value, expression.type) == typed
    text = format_value(wanted)
    if _is_number(wanted):
        return lambda value: value == wanted if _is_number(value) else format_value(value) == text
    return lambda value: format_value(value) == text


def _test_order(expression: Expression, kind: str, wanted: object) -> Callable[[Value], bool]:
    compare = ORDERED[kind]
    if expression.type == "text" and not _is_number(wanted):
        text = format_value(wanted)
        return lambda value: not isinstance(value, list | dict) and compare(format_value(value), text)
    as_number_too = expression.type == "text"
    typed = wanted if as_number_too else _convert(expression, wanted)

    def test(value: object) -> bool:
        comparable = to_number(value) if as_number_too else value
        return comparable is not None and not isinstance(comparable, list | dict) and compare(comparable, typed)

    return test


def _convert(expression: Expression, wanted: object) -> object:
    if expression.type == "date":
        return _parse_instant(wanted)
    typed = to_type(wanted, expression.type)
    if typed is None:
        text = format_value(wanted)[:100]
        raise DefinitionError(f"{text!r} is no {expression.type} to compare {expression.name} with")
    return typed


def _parse_instant(wanted: object) -> datetime:
    found = dates.parse(wanted)
    if found is None:
        raise DefinitionError(f"{format_value(wanted)[:100]!r} is no date")
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
