"""Which views there are: the built-in ones and those of configurations.

Of several of one name the notebook's counts, then the global one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ferrule_opennotes.answers.pages import add_guidance, take_fitting
from ferrule_opennotes.notebook import configuration
from ferrule_opennotes.notebook.resolution import order_kinds
from ferrule_opennotes.views import builtin
from ferrule_opennotes.views.conditions.statement import Statement, parse_statement
from ferrule_opennotes.views.definitions import Definition, DefinitionError, parse
from ferrule_opennotes.views.dsl import grammar
from ferrule_opennotes.views.dsl.presentation import TextQuery

if TYPE_CHECKING:
    from ferrule_opennotes.answers.types import ViewListAnswer
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.program.process import Kind
    from ferrule_opennotes.views.definitions import Origin

_ORIGINS = ("built-in", "global", "notebook")
_MAX_DEFECTS = 10  # that the guidance names


def list_views(notebook: Notebook, kind: Kind) -> ViewListAnswer:
    """`{"views", "notebook"}`, with `_guidance` where a view cannot be used or does not fit."""
    found = find_views(notebook, kind)
    usable = [view for view in found.values() if view.defect is None]
    shown = take_fitting([view.describe() for view in usable])
    guidance = _guide([view for view in found.values() if view.defect], len(usable) - len(shown))
    answer: ViewListAnswer = {"views": shown, "notebook": notebook.describe()}
    return add_guidance(answer, guidance)


def find_views(notebook: Notebook, kind: Kind) -> dict[str, Definition]:
    """The views by their names, each with the definition that counts, in the order of their origins and names.

    kind: of the installed CLI. A view that cannot be used hides another of its name all the same: that one was not
    asked for.
    """
    custom: dict[str, Definition] = {}
    for origin, value in _read_configured(notebook, kind):
        for name, definition in _name_definitions(value, origin):
            custom.setdefault(name, definition)
    found = builtin.list_views(kind) | custom
    return dict(sorted(found.items(), key=lambda each: (_ORIGINS.index(each[1].origin), each[0])))


def parse_query(definition: Definition) -> Statement | TextQuery:
    """The query of a definition, taken apart. Raises DefinitionError."""
    if isinstance(definition.query, Mapping):
        return parse_statement(definition.query)
    return TextQuery(grammar.parse(definition.query or ""))


def _guide(flawed: Sequence[Definition], missing: int) -> str:
    faults = [(view.name[:100], view.origin, str(view.defect)[:300]) for view in flawed]
    parts = [f"The view '{name}' ({origin}) cannot be used: {defect}." for name, origin, defect in faults]
    if len(parts) > _MAX_DEFECTS:
        parts[_MAX_DEFECTS:] = [f"{len(parts) - _MAX_DEFECTS} more views cannot be used."]
    if missing:
        parts.append(f"{missing} more views do not fit into one answer.")
    return " ".join(parts)


def _read_configured(notebook: Notebook, kind: Kind) -> Iterator[tuple[Origin, object]]:
    yield "notebook", notebook.config.get("views")
    for each in order_kinds(kind):
        yield "global", configuration.load(each).get("views")


def _name_definitions(value: object, origin: Origin) -> Iterator[tuple[str, Definition]]:
    """Definitions with their names: an object that has them by name, or the list that the CLI's documentation shows."""
    if isinstance(value, Mapping):
        yield from ((name, _check(name, origin, each)) for name, each in value.items())
    for number, each in enumerate(value if isinstance(value, list) else [], 1):
        name = each.get("name") if isinstance(each, Mapping) else None
        if isinstance(name, str) and name:
            yield name, _check(name, origin, each)
        else:
            place = f"number {number} of a list"
            yield place, Definition(place, origin, defect="it has no name")


def _check(name: str, origin: Origin, value: object) -> Definition:
    try:
        definition = parse(name, origin, value)
        if definition.special is None:
            parse_query(definition)
        elif not definition.parameters:
            definition = definition._replace(parameters=builtin.VIEWS[definition.special].parameters)
    except DefinitionError as error:
        return Definition(name, origin, defect=str(error))
    return definition
