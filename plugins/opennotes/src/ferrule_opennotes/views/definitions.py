"""Definitions of views, as configurations have them, checked before anything is done with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from ferrule import ToolError
from ferrule_opennotes import errors
from ferrule_opennotes.notebook import notes

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_opennotes.answers.types import ParameterInfo, ViewInfo

Origin = Literal["built-in", "global", "notebook"]

TYPES = ("string", "list", "date", "bool", "number")
SPECIAL = ("orphans", "broken-links")


class DefinitionError(Exception):
    """A definition that cannot be used. The text says why."""


class Parameter(NamedTuple):
    """What a view can be told. default: as text, the items of a list with commas; None if there is none."""

    name: str
    type: str = "string"
    required: bool = False
    default: str | None = None
    description: str = ""

    def describe(self) -> ParameterInfo:
        """`name`, `type`, `required`, and `default` and `description` where there are any."""
        facts: ParameterInfo = {"name": self.name, "type": self.type, "required": self.required}
        if self.default:
            facts["default"] = self.default
        if self.description:
            facts["description"] = self.description
        return facts


class Definition(NamedTuple):
    """A view. query: in the notation of OpenNotes a mapping, in that of jot a text.

    special: the built-in view whose way of finding notes is used, in place of a query. defect: why the view cannot be
    used, None where it can.
    """

    name: str
    origin: Origin
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    query: str | JSONMapping | None = None
    special: str | None = None
    defect: str | None = None

    def describe(self) -> ViewInfo:
        """The view as a list of views has it."""
        facts: ViewInfo = {"name": self.name, "origin": self.origin}
        if self.description:
            facts["description"] = self.description
        if self.parameters:
            facts["parameters"] = [parameter.describe() for parameter in self.parameters]
        return facts


def parse(name: str, origin: Origin, value: object) -> Definition:
    """The definition that a configuration has under a name. Raises DefinitionError."""
    if not isinstance(value, Mapping):
        raise DefinitionError("it is no object")
    query, special = value.get("query"), name if value.get("type") == "special" else None
    if special is not None and special not in SPECIAL:
        raise DefinitionError(f"there is no special view '{special}', only {' and '.join(SPECIAL)}")
    if special is None and not isinstance(query, str | Mapping):
        raise DefinitionError(f"its 'query' is {'missing' if query is None else 'neither an object nor text'}")
    parameters = parse_parameters(value.get("parameters"))
    description = errors.shorten(to_text(value.get("description")))
    return Definition(name, origin, description, parameters, None if special else query, special)


def parse_parameters(value: object) -> tuple[Parameter, ...]:
    """The parameters that a definition lists. Raises DefinitionError."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise DefinitionError("its 'parameters' are no list")
    found = tuple(_parse_parameter(each) for each in value)
    if len({parameter.name for parameter in found}) < len(found):
        raise DefinitionError("two of its parameters have the same name")
    return found


def make_refusal(name: str, reason: str, hint: str | None = None, **details: object) -> ToolError:
    """A view that cannot be run as it is asked for, or as it is defined."""
    return ToolError("INVALID_INPUT", f"View '{name}': {reason}", hint=hint, details={"view": name, **details})


def to_text(value: object) -> str:
    """A value of a definition as text: the items of a list with commas, truth as JSON writes it."""
    if isinstance(value, list):
        return ",".join(map(to_text, value))
    return "" if value is None or isinstance(value, Mapping) else notes.to_text(value)


def _parse_parameter(value: object) -> Parameter:
    name = value.get("name") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(name, str) or not name:
        raise DefinitionError("a parameter has no name")
    kind = value.get("type") or "string"
    if kind not in TYPES:
        raise DefinitionError(f"its parameter '{name}' has the type '{kind}', which is none of {', '.join(TYPES)}")
    default, description = to_text(value.get("default")) or None, errors.shorten(to_text(value.get("description")))
    return Parameter(name, kind, value.get("required") is True, default, description)
