"""The views that configurations define. Of several of one name the notebook's counts, then the global one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ferrule_opennotes.notebook import global_config
from ferrule_opennotes.notebook.resolution import kinds
from ferrule_opennotes.views import builtin
from ferrule_opennotes.views.conditions.statement import Statement, statement
from ferrule_opennotes.views.definitions import Definition, Flawed, Malformed, Origin, Parameter, parameters, parsed
from ferrule_opennotes.views.dsl.presentation import Text, text

if TYPE_CHECKING:
    from ferrule_opennotes.notebook.notebook import Notebook


def custom(notebook: Notebook, kind: str) -> dict[str, Definition | Flawed]:
    """The views of the notebook and of the global configuration by their names. kind: of the installed CLI.

    One that cannot be used hides another of its name all the same: nobody asked for that one.
    """
    found: dict[str, Definition | Flawed] = {}
    for origin, value in _configured(notebook, kind):
        for name, definition in _named(value, origin):
            if name not in found:
                found[name] = definition
    return found


def of_cli(listed: Mapping[str, Any]) -> Definition:
    """A built-in view as the CLI lists it, with the parameters that it can be given here."""
    name = str(listed["name"])
    known = builtin.VIEWS.get(name)
    try:
        stated = parameters(listed.get("parameters"))
    except Malformed:
        stated = ()
    description = str(listed.get("description") or "") or (known.description if known else "")
    return Definition(name, "built-in", description, _merged(known.parameters if known else (), stated))


def query(definition: Definition) -> Statement | Text:
    """The query of a definition, taken apart. Raises Malformed."""
    if isinstance(definition.query, Mapping):
        return statement(definition.query)
    return text(definition.query or "")


def _merged(own: tuple[Parameter, ...], stated: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    names = {parameter.name for parameter in stated}
    return (*stated, *(parameter for parameter in own if parameter.name not in names))


def _configured(notebook: Notebook, kind: str) -> Iterator[tuple[Origin, Any]]:
    yield "notebook", notebook.config.get("views")
    for each in kinds(kind):
        yield "global", global_config.views(each)


def _named(value: Any, origin: Origin) -> Iterator[tuple[str, Definition | Flawed]]:
    """Definitions with their names: an object that has them by name, or the list that the CLI's documentation shows."""
    if isinstance(value, Mapping):
        yield from ((name, _checked(name, origin, each)) for name, each in value.items())
    for number, each in enumerate(value if isinstance(value, list) else [], 1):
        name = each.get("name") if isinstance(each, Mapping) else None
        if isinstance(name, str) and name:
            yield name, _checked(name, origin, each)
        else:
            place = f"number {number} of a list"
            yield place, Flawed(place, origin, "it has no name")


def _checked(name: str, origin: Origin, value: Any) -> Definition | Flawed:
    try:
        definition = parsed(name, origin, value)
        if definition.special is None:
            query(definition)
        elif not definition.parameters:
            definition = definition._replace(parameters=builtin.VIEWS[definition.special].parameters)
    except Malformed as error:
        return Flawed(name, origin, str(error))
    return definition
