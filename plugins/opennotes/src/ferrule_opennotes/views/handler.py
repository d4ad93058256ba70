"""The answer: the list of views, or the results of the one that is run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from ferrule_opennotes import errors
from ferrule_opennotes.answers import pages
from ferrule_opennotes.notebook.characters import make_storable
from ferrule_opennotes.notebook.resolution import open_notebook
from ferrule_opennotes.program.discovery import find_program
from ferrule_opennotes.views import builtin
from ferrule_opennotes.views.catalogue import find_views, list_views, parse_query
from ferrule_opennotes.views.definitions import Definition, DefinitionError, make_refusal, to_text
from ferrule_opennotes.views.parameters import fill

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule.text.json_types import JSONObject
    from ferrule_opennotes.answers.types import ViewAnswer, ViewListAnswer
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.program.process import Kind
    from ferrule_opennotes.views.table import Row


def find_problems(arguments: JSONObject) -> list[str]:
    """What is wrong with the arguments that the schema cannot say: one sentence each, the place first."""
    found = [
        f'params.{name}: it is no text; write it as one, such as "{to_text(value)[:60]}"'
        for name, value in (arguments.get("params") or {}).items()
        if not isinstance(value, str)
    ]
    view = arguments.get("view")
    if view is not None and not view.strip():
        found.append("view: it is blank; leave it out to list all views")
    if view is None and arguments.get("params"):
        found.append("params: they are for a view, and 'view' names none")
    # The schema has no limits here, so a 0 that strict mode makes a model fill in arrives, and means nothing.
    negative = [name for name in ("limit", "offset") if (arguments.get(name) or 0) < 0]
    found += pages.find_problems(arguments)
    return found + [f"{name}: {arguments[name]} is less than {int(name == 'limit')}" for name in negative]


def answer(arguments: JSONObject, context: Context) -> ViewListAnswer | ViewAnswer:
    """List the views: `{"views", "notebook"}`; or run one: `{"view", "results", "pagination", "notebook"}`.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, VIEW_NOT_FOUND or INVALID_INPUT.
    """
    kind = find_program(context).kind
    notebook = open_notebook(arguments.get("notebook"), kind)
    name = arguments.get("view")
    if name is None:
        return list_views(notebook, kind)
    given: dict[str, str] = arguments.get("params") or {}
    offset, limit = pages.read_bounds(arguments)
    definition = _find_definition(name, notebook, kind, context)
    rows = _find_rows(definition, given, notebook)
    shown = [{**note.summarize(), **facts} for note, facts in rows[offset : offset + limit]]
    page = pages.cut(shown, len(rows), offset, limit)
    answer: ViewAnswer = {
        "view": {"name": name, "description": definition.description},
        "results": page.items,
        "pagination": page.pagination,
        "notebook": notebook.describe(),
    }
    return pages.add_guidance(answer, page.guidance)


def _find_definition(name: str, notebook: Notebook, kind: Kind, context: Context) -> Definition:
    views = find_views(notebook, kind)
    found = views.get(name)
    if found is None:
        available = [view.name for view in views.values() if view.defect is None]
        raise errors.view_not_found(name, context.name_of("opennotes_views"), available)
    if found.defect:
        file = f"{notebook.path}/{notebook.config_file}" if found.origin == "notebook" else "the CLI's config.json"
        reason, hint = f"its definition cannot be used: {found.defect}", f"Correct it in {make_storable(file)}."
        raise make_refusal(found.name, reason, hint)
    return found


def _find_rows(definition: Definition, given: Mapping[str, str], notebook: Notebook) -> list[Row]:
    # Local time: what is today is what is today where the notes are written.
    values = fill(definition.name, definition.parameters, given, datetime.now().astimezone())
    notes = notebook.list_notes()
    try:
        if definition.special:
            return builtin.run(definition.special, notes, notebook.root, values)
        return parse_query(definition).run(notes, values)
    except DefinitionError as error:
        raise make_refusal(definition.name, str(error), "Correct its definition or its parameters.") from None
