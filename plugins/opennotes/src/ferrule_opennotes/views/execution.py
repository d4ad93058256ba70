"""The answer of a view that is run."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from ferrule_opennotes import errors
from ferrule_opennotes.answers.pages import cut
from ferrule_opennotes.notebook.storable import storable
from ferrule_opennotes.views import builtin
from ferrule_opennotes.views.catalogue import custom, query
from ferrule_opennotes.views.definitions import Definition, Flawed, Malformed, refused
from ferrule_opennotes.views.listed import known
from ferrule_opennotes.views.parameters import filled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule import Context, ToolError
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.program.discovery import Program
    from ferrule_opennotes.views.rows import Row


def executed(
    name: str,
    given: Mapping[str, Any],
    notebook: Notebook,
    program: Program,
    context: Context,
    *,
    offset: int,
    limit: int,
) -> dict[str, Any]:
    """`{"view", "results", "pagination", "notebook"}`, with `_guidance` where there is more. given: the parameters.

    Raises ToolError VIEW_NOT_FOUND, INVALID_INPUT for parameters or a definition that cannot be used, CLI_FAILED,
    and QUERY_TIMEOUT where the CLI runs it and takes too long.
    """
    definition = _definition(name, given, notebook, program, context)
    rows = _rows(definition, given, notebook, program, context)
    page = cut([row.shown() for row in rows[offset : offset + limit]], len(rows), offset, limit)
    answer: dict[str, Any] = {
        "view": {"name": name, "description": definition.description},
        "results": page.items,
        "pagination": page.pagination,
        "notebook": notebook.named(),
    }
    return answer | ({"_guidance": page.guidance} if page.guidance else {})


def _definition(
    name: str, given: Mapping[str, Any], notebook: Notebook, program: Program, context: Context
) -> Definition:
    found = custom(notebook, program.kind).get(name)
    # The CLI is asked only where it knows better: what it calls a view's default, and views that are new here.
    if found is None and name in builtin.VIEWS and (name != "kanban" or "status" in given):
        return builtin.VIEWS[name]
    if found is None:
        everything = known(notebook, program, context)
        found = everything.get(name) or builtin.VIEWS.get(name)
    if found is None:
        available = [view.name for view in everything.values() if isinstance(view, Definition)]
        raise errors.view_not_found(name, context.name_of("opennotes_views"), available)
    if isinstance(found, Flawed):
        raise _flawed(found, notebook)
    return found


def _rows(
    definition: Definition, given: Mapping[str, Any], notebook: Notebook, program: Program, context: Context
) -> list[Row]:
    # Local time: what is today is what is today where the notes are written.
    values = filled(definition.name, definition.parameters, given, datetime.now().astimezone())
    if definition.origin == "built-in" and definition.name not in builtin.VIEWS:
        from ferrule_opennotes.views.through_cli import run

        return run(definition, given, notebook, program, context)
    notes = notebook.notes()
    try:
        if definition.origin == "built-in" or definition.special:
            return builtin.run(definition.special or definition.name, notes, notebook.root, values)
        return query(definition).run(notes, values)
    except Malformed as error:
        raise refused(definition.name, str(error), "Correct its definition or its parameters.") from None


def _flawed(view: Flawed, notebook: Notebook) -> ToolError:
    file = f"{notebook.path}/{notebook.config_file}" if view.origin == "notebook" else "the CLI's config.json"
    return refused(view.name, f"its definition cannot be used: {view.reason}", f"Correct it in {storable(file)}.")
