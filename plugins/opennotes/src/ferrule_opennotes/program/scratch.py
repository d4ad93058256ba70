"""An empty notebook for the CLI to work on, so that it neither reads ten thousand notes nor writes among them."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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
_PREFIX = "ferrule-opennotes-"
_MAX_AGE_SECONDS = 86_400  # seconds; no call takes as long


class Draft(NamedTuple):
    """What `notes add` wrote. name: the file name that it chose; None where the title gives none that can be used."""

    text: str
    name: str | None


@contextmanager
def scratch_notebook(templates: Mapping[str, str] | None = None) -> Iterator[str]:
    """The absolute path of an empty notebook, for both generations of the CLI, that is removed in any case.

    templates: the text of each by its name. Raises ToolError CLI_FAILED where it cannot be made.
    """
    import shutil
    import tempfile

    folder = None
    try:
        try:
            folder = tempfile.mkdtemp(prefix=_PREFIX)
            _configure(folder, templates or {})
        except OSError as error:
            raise errors.cli_failed(f"there is no room for a temporary notebook: {error.strerror}", []) from None
        _remove_leftovers(os.path.dirname(folder))
        yield folder
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(folder: str) -> None:
    """Remove the notebooks of calls that were killed, which no call can be working in any more."""
    import shutil

    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if status.st_uid == os.getuid() and status.st_mtime < time.time() - _MAX_AGE_SECONDS:
                    shutil.rmtree(entry.path, ignore_errors=True)


def add_note(
    program: Program,
    context: Context,
    *,
    title: str,
    template: str | None = None,
    templates: Mapping[str, str] | None = None,
) -> Draft:
    """The note that `notes add` writes for a title, read back from a scratch notebook.

    template: the name of one of `templates`. Raises ToolError CLI_FAILED with the CLI's own words, INVALID_INPUT for
    a title that no program can be given, and ProgramTimeout.
    """
    options = [] if template is None else [f"--template={template}"]
    used = {template: (templates or {})[template]} if template is not None and template in (templates or {}) else {}
    try:
        return _add(program, context, [*options, "--", title], used)
    except ToolError as refused:
        if refused.code != "CLI_FAILED":
            raise
        try:
            return _add_without_name(program, context, options, title, used)
        except ToolError:
            raise refused from None


def _add_without_name(
    program: Program, context: Context, options: list[str], title: str, templates: Mapping[str, str]
) -> Draft:
    """The note for a title that gives no file name: one that is too long, or that has not one letter from a to z.

    The CLI refuses the latter even where the file is named, so it is given a title of our own, to be replaced.
    """
    if re.search("[a-z0-9]", title.lower()):
        return _add(program, context, [*options, "--", title, _FILE], templates)._replace(name=None)
    import secrets

    placeholder = f"untitled-{secrets.token_hex(8)}"
    text = _add(program, context, [*options, "--", placeholder, _FILE], templates).text
    return Draft(_insert_title(text, placeholder, title), None)


def _insert_title(text: str, placeholder: str, title: str) -> str:
    """The text with the real title: quoted in the frontmatter, where a bare one might not be YAML, and plain below."""
    opening, fence, body = text.partition("\n---\n")
    if not fence:
        return text.replace(placeholder, title)
    return opening.replace(placeholder, frontmatter.quote(title)) + fence + body.replace(placeholder, title)


def _add(program: Program, context: Context, arguments: list[str], templates: Mapping[str, str]) -> Draft:
    command = ["notes", "add", *arguments]
    with scratch_notebook(templates) as folder:
        require_success(run(program, command, context, cwd=folder, notebook=folder), program, command)
        try:
            notes = [entry.path for entry in os.scandir(folder) if entry.name.endswith(".md") and entry.is_file()]
            if len(notes) != 1:
                raise errors.cli_failed(f"it wrote {len(notes)} notes instead of one", [program.path, *command[:2]])
            with open(notes[0], "rb") as file:
                return Draft(file.read().decode(errors="replace"), os.path.basename(notes[0]))
        except OSError as error:
            reason = f"what it wrote cannot be read: {error.strerror}"
            raise errors.cli_failed(reason, [program.path, *command[:2]]) from None


def _configure(folder: str, templates: Mapping[str, str]) -> None:
    content = json.dumps({"root": ".", "name": "scratch", "contexts": [folder], "templates": dict(templates)})
    for name in _CONFIGURATIONS:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
