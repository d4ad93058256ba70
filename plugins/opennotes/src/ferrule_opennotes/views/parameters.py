"""The values that a view is run with: checked, completed with defaults, and filled in where its definition says so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.views import variables
from ferrule_opennotes.views.definitions import DefinitionError, Parameter, make_refusal
from ferrule_opennotes.views.table import to_number

if TYPE_CHECKING:
    from datetime import datetime

    from ferrule import ToolError

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


class Values:
    """What the placeholders of a definition stand for: parameters first, then template variables.

    Each placeholder is replaced once. What a value holds is text, whatever it looks like.
    """

    def __init__(self, values: Mapping[str, str], lists: Sequence[str], now: datetime) -> None:
        self.now = now
        self._values = values
        self._lists = lists

    def has(self, name: str) -> bool:
        """Whether a parameter has a value."""
        return name in self._values

    def text(self, template: str) -> str:
        """The template with its placeholders replaced. Raises DefinitionError for one that stands for nothing."""
        return _PLACEHOLDER.sub(lambda found: self._value(found[1].strip()), template) if "{{" in template else template

    def alternatives(self, template: str) -> list[str]:
        """The items of the list that the template stands for, or its text alone."""
        whole = _PLACEHOLDER.fullmatch(template.strip())
        return split_items(self.text(template)) if whole and whole[1].strip() in self._lists else [self.text(template)]

    def _value(self, name: str) -> str:
        if name in self._values:
            return self._values[name]
        value = variables.resolve(name, self.now)
        if value is None:
            raise DefinitionError(f"{{{{{name}}}}} is neither a parameter that has a value nor a template variable")
        return value


def fill(view: str, parameters: Sequence[Parameter], given: Mapping[str, str], now: datetime) -> Values:
    """The values of a call. Raises ToolError INVALID_INPUT for what the view does not take, or misses."""
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            raise _make_refusal(view, f"it has no parameter '{name}'", parameters)
    values: dict[str, str] = {}
    for name, parameter in known.items():
        if name in given:
            values[name] = _check(view, parameter, given[name], parameters, now)
        elif parameter.default is not None:
            values[name] = _fill_default(view, parameter.default, now)
        elif parameter.required:
            raise _make_refusal(view, f"it needs the parameter '{name}'", parameters)
    return Values(values, [parameter.name for parameter in parameters if parameter.type == "list"], now)


def split_items(text: str) -> list[str]:
    """The items of a list that commas divide."""
    return [item.strip() for item in text.split(",")]


def _check(view: str, parameter: Parameter, value: str, parameters: Sequence[Parameter], now: datetime) -> str:
    variable = _PLACEHOLDER.fullmatch(value.strip()) if parameter.type == "date" else None
    if variable and (day := variables.resolve(variable[1].strip(), now)) and dates.parse(day):
        return day
    if reason := find_fault(parameter.type, value):
        raise _make_refusal(view, f"its parameter '{parameter.name}' {reason}", parameters)
    return value.strip() if parameter.type in ("date", "bool", "number") else value


def find_fault(kind: str, value: str) -> str | None:
    """What is wrong with a value of a type, as a sentence goes on after the parameter's name; None where nothing is."""
    text = value.strip()
    if not text:
        return "is empty"
    if kind == "list" and not all(split_items(text)):
        return "has an empty item"
    if kind == "date" and dates.parse(text) is None:
        return "is no date: YYYY-MM-DD, YYYY-MM-DDTHH:MM:SSZ, or a variable such as {{today-7}}"
    if kind == "bool" and text.lower() not in ("true", "false"):
        return "is neither true nor false"
    return "is no number" if kind == "number" and to_number(text) is None else None


def _fill_default(view: str, default: str, now: datetime) -> str:
    try:
        return Values({}, [], now).text(default)
    except DefinitionError as error:
        raise make_refusal(view, str(error), "Correct the default in its definition.") from None


def _make_refusal(view: str, reason: str, parameters: Sequence[Parameter]) -> ToolError:
    names = ", ".join(f"{each.name} ({each.type}{', required' if each.required else ''})" for each in parameters)
    hint = f"Its parameters: {names}." if names else "It takes no parameters."
    return make_refusal(view, reason, hint, parameters=[parameter.describe() for parameter in parameters])
