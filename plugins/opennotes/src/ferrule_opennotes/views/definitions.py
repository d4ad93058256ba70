"""Definitions of views, as configurations have them, checked before anything is done with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ferrule import ToolError
from ferrule_opennotes import errors

Origin = Literal["built-in", "global", "notebook"]

TYPES = ("string", "list", "date", "bool", "number")
SPECIAL = ("orphans", "broken-links")


class Malformed(Exception):
    """A definition that cannot be used. The text says why."""


class Parameter(NamedTuple):
    """What a view can be told. default: as text, the items of a list with commas; None where there is none."""

    name: str
    type: str = "string"
    required: bool = False
    default: str | None = None
    description: str = ""

    def shown(self) -> dict[str, Any]:
        """`name`, `type`, `required`, and `default` and `description` where there are any."""
        facts: dict[str, Any] = {"name": self.name, "type": self.type, "required": self.required}
        more = {"default": self.default, "description": self.description}
        return facts | {name: text for name, text in more.items() if text}


class Definition(NamedTuple):
    """A view. query: in the notation of OpenNotes a mapping, in that of jot a text; None for the built-in ones.

    special: the built-in view whose way of finding notes is used, in place of a query.
    """

    name: str
    origin: Origin
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    query: str | Mapping[str, Any] | None = None
    special: str | None = None

    def shown(self) -> dict[str, Any]:
        """The view as a list of views has it."""
        facts: dict[str, Any] = {"name": self.name, "origin": self.origin}
        if self.description:
            facts["description"] = self.description
        if self.parameters:
            facts["parameters"] = [parameter.shown() for parameter in self.parameters]
        return facts


class Flawed(NamedTuple):
    """A view whose definition cannot be used. reason: why."""

    name: str
    origin: Origin
    reason: str


def parsed(name: str, origin: Origin, value: Any) -> Definition:
    """The definition that a configuration has under a name. Raises Malformed."""
    if not isinstance(value, Mapping):
        raise Malformed("it is no object")
    query, special = value.get("query"), _special(name, value)
    if special is None and not isinstance(query, str | Mapping):
        raise Malformed("its 'query' is missing" if query is None else "its 'query' is neither an object nor text")
    return Definition(
        name,
        origin,
        _description(value),
        parameters(value.get("parameters")),
        query if special is None else None,
        special,
    )


def parameters(value: Any) -> tuple[Parameter, ...]:
    """The parameters that a definition lists. Raises Malformed."""
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Malformed("its 'parameters' are no list")
    found = tuple(_parameter(each) for each in value)
    if len({parameter.name for parameter in found}) < len(found):
        raise Malformed("two of its parameters have the same name")
    return found


def refused(name: str, reason: str, hint: str | None = None, **details: object) -> ToolError:
    """A view that cannot be run as it is asked for, or as it is defined."""
    return ToolError("INVALID_INPUT", f"View '{name}': {reason}", hint=hint, details={"view": name, **details})


def as_text(value: Any) -> str:
    """A value of a definition as text: the items of a list with commas, truth as JSON writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(as_text(item) for item in value)
    return "" if value is None else str(value)


def _description(value: Mapping[str, Any]) -> str:
    return errors.shown(as_text(value.get("description")))


def _special(name: str, value: Mapping[str, Any]) -> str | None:
    special = value.get("special_executor") or (name if value.get("type") == "special" else None)
    if special is not None and special not in SPECIAL:
        raise Malformed(f"there is no special view '{special}', only {' and '.join(SPECIAL)}")
    return special


def _parameter(value: Any) -> Parameter:
    name = value.get("name") if isinstance(value, Mapping) else None
    if not isinstance(name, str) or not name:
        raise Malformed("a parameter has no name")
    kind = value.get("type") or "string"
    if kind not in TYPES:
        raise Malformed(f"its parameter '{name}' has the type '{kind}', which is none of {', '.join(TYPES)}")
    default = as_text(value.get("default"))
    return Parameter(name, kind, value.get("required") is True, default or None, _description(value))
