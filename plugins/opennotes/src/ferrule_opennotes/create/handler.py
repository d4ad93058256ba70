"""One call: the CLI writes a note into a scratch notebook; here it is completed, and put in its place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule_opennotes import errors
from ferrule_opennotes.create.body import compose, parse_template
from ferrule_opennotes.create.file_name import choose_file_name, split_destination
from ferrule_opennotes.create.placement import place
from ferrule_opennotes.notebook.characters import make_storable
from ferrule_opennotes.notebook.resolution import open_notebook
from ferrule_opennotes.program.discovery import find_program
from ferrule_opennotes.program.scratch import add_note

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_opennotes.answers.types import CreateAnswer, NewNote
    from ferrule_opennotes.notebook.notebook import Notebook


def answer(arguments: JSONObject, context: Context) -> CreateAnswer:
    """Write the note; return `{"created": {"path", "absolutePath", "title"}, "notebook": {"name", "path"}}`.

    What cannot be is refused before the CLI is started. Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND,
    TEMPLATE_NOT_FOUND, PATH_TRAVERSAL, NOTE_EXISTS, CLI_FAILED, WRITE_FAILED, or INVALID_INPUT for fields that are too
    many or too long to be read back.
    """
    program = find_program(context)
    notebook = open_notebook(arguments.get("notebook"), program.kind)
    title, content = arguments["title"], arguments.get("content")
    template = parse_template(_template(notebook, arguments.get("template")), title)
    folder, named = split_destination(arguments.get("path", ""))
    # The CLI's order: a body that is given beats the template's, of which then only the fields count.
    body = template.body if content is None and arguments.get("template") is not None else None
    added = add_note(program, context, title=title, template=body)
    text = compose(title, added.text, template.fields, content, arguments.get("data", {}))
    path = place(notebook.root, folder, named or choose_file_name(title, added.name), text.encode())
    absolute = make_storable(os.path.join(notebook.root, path))
    created: NewNote = {"path": make_storable(path), "absolutePath": absolute, "title": errors.shorten(title)}
    return {"created": created, "notebook": notebook.describe()}


def _template(notebook: Notebook, name: str | None) -> str:
    """The text of a template, "" for none. Raises TEMPLATE_NOT_FOUND."""
    if name is None:
        return ""
    configured = notebook.config.get("templates")
    templates = configured if isinstance(configured, dict) else {}
    text = templates.get(name)
    if not isinstance(text, str):
        available = sorted(each for each, content in templates.items() if isinstance(content, str))
        raise errors.template_not_found(name, notebook.config_file, available)
    return text
