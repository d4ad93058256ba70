"""One call: the CLI writes a note into a scratch notebook; here it is completed, and put in its place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ferrule_opennotes import errors
from ferrule_opennotes.create.body import compose, with_fields
from ferrule_opennotes.create.file_name import destination, file_name
from ferrule_opennotes.create.write import place
from ferrule_opennotes.notebook.resolution import opened
from ferrule_opennotes.notebook.storable import storable
from ferrule_opennotes.program.discovery import find
from ferrule_opennotes.program.scratch import add_note

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule_opennotes.notebook.notebook import Notebook

_LONGEST_SHOWN = 10_000  # characters of a title; an answer that is too large would pass for a failure
_TEMPLATE = "template"  # what the CLI knows it as, whatever its name in the notebook


def create(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Answer a call of `opennotes_create`; what cannot be is refused before the CLI is started."""
    program = find(context)
    notebook = opened(arguments.get("notebook"), program.kind)
    title, content = arguments["title"], arguments.get("content")
    template = with_fields(_template(notebook, arguments.get("template")), title)
    folder, named = destination(arguments.get("path", ""))
    # The CLI's order: a body that is given beats the template's, of which then only the fields count.
    body = template.body if content is None and arguments.get("template") is not None else None
    added = add_note(
        program,
        context,
        title=title,
        template=None if body is None else _TEMPLATE,
        templates=None if body is None else {_TEMPLATE: body},
    )
    text = compose(title, added.text, template.fields, content, arguments.get("data", {}))
    path = place(notebook.root, folder, named or file_name(title, added.name), text.encode())
    shown = title if len(title) <= _LONGEST_SHOWN else f"{title[:_LONGEST_SHOWN]}…"
    absolute = storable(os.path.join(notebook.root, path))
    created = {"path": storable(path), "absolutePath": absolute, "title": shown}
    return {"created": created, "notebook": notebook.named()}


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
