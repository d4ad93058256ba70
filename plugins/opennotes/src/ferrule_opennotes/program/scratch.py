"""An empty notebook for the CLI to work on, so that it neither reads ten thousand notes nor writes among them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ferrule import Context, ToolError
from ferrule_opennotes import errors
from ferrule_opennotes.notebook import frontmatter
from ferrule_opennotes.program.cli_errors import require_success
from ferrule_opennotes.program.process import run

if TYPE_CHECKING:
    from ferrule_opennotes.program.process import Program

_CONFIGURATIONS = (".opennotes.json", ".jot.json")
_FILE = "note.md"
_TEMPLATE = "template"  # what the CLI knows it as, whatever its name in the notebook


class Draft(NamedTuple):
    """What `notes add` wrote. name: the file name that it chose; None where the title gives none that can be used."""

    text: str
    name: str | None


@contextmanager
def scratch_notebook(template: str | None = None) -> Iterator[str]:
    """The absolute path of an empty notebook, for both generations of the CLI, that is removed in any case.

    template: the text of the one that it has, None for none.
    """
    from tempfile import TemporaryDirectory

    templates = {} if template is None else {_TEMPLATE: template}
    with TemporaryDirectory(prefix="ferrule-opennotes-", ignore_cleanup_errors=True) as folder:
        content = json.dumps({"root": ".", "name": "scratch", "contexts": [folder], "templates": templates})
        for name in _CONFIGURATIONS:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        yield folder


def add_note(program: Program, context: Context, *, title: str, template: str | None = None) -> Draft:
    """The note that `notes add` writes for a title, read back from a scratch notebook.

    Args:
        template: its text, None for the CLI's own.

    Raises:
        ToolError CLI_FAILED with the CLI's own words, and ProgramTimeout.
    """
    try:
        return _add(program, context, [title], template)
    except ToolError as refused:
        if refused.code != "CLI_FAILED":
            raise
        try:
            return _add_without_name(program, context, title, template)
        except ToolError:
            raise refused from None


def _add_without_name(program: Program, context: Context, title: str, template: str | None) -> Draft:
    """The note for a title that gives no file name: one that is too long, or that has not one letter from a to z.

    The CLI refuses the latter even where the file is named, so it is given a title of our own, to be replaced.
    """
    if re.search("[a-z0-9]", title.lower()):
        return _add(program, context, [title, _FILE], template)._replace(name=None)
    placeholder = f"untitled-{os.urandom(8).hex()}"
    text = _add(program, context, [placeholder, _FILE], template).text
    return Draft(_insert_title(text, placeholder, title), None)


def _insert_title(text: str, placeholder: str, title: str) -> str:
    """The text with the real title: quoted in the frontmatter, where a bare one might not be YAML, and plain below."""
    opening, fence, body = text.partition("\n---\n")
    if not fence:
        return text.replace(placeholder, title)
    return opening.replace(placeholder, frontmatter.quote(title)) + fence + body.replace(placeholder, title)


def _add(program: Program, context: Context, arguments: list[str], template: str | None) -> Draft:
    """What the CLI writes for a title, and perhaps a file's name. What they begin with makes them no options."""
    options = [] if template is None else [f"--template={_TEMPLATE}"]
    command = ["notes", "add", *options, "--", *arguments]
    shown = [program.path, *command[:2]]
    try:
        with scratch_notebook(template) as folder:
            require_success(run(program, command, context, cwd=folder, notebook=folder), program, command)
            notes = [entry.path for entry in os.scandir(folder) if entry.name.endswith(".md") and entry.is_file()]
            if len(notes) != 1:
                raise errors.cli_failed(f"it wrote {len(notes)} notes instead of one", shown)
            with open(notes[0], "rb") as file:
                return Draft(file.read().decode(errors="replace"), os.path.basename(notes[0]))
    except OSError as error:
        raise errors.cli_failed(f"a temporary notebook for it cannot be used: {error.strerror}", shown) from None
