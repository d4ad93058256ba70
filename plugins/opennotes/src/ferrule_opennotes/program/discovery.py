"""The OpenNotes CLI on this machine: `opennotes`, or `jot`, which it is called since it was renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ferrule import Context, ToolError
from ferrule_opennotes import errors
from ferrule_opennotes.program.cli_errors import require_success
from ferrule_opennotes.program.process import Kind, Program, run

_VERSION = ["version"]
_VERSION_SECONDS = 5.0  # that a program may take to say what it is, on a machine that is busy with other things
_NAMES: dict[str, Kind] = {"OpenNotes": "opennotes", "Jot": "jot"}


def find_program(context: Context) -> Program:
    """The CLI that the admin names, else the first `opennotes` on PATH, else the first `jot` there that is this one.

    The admin names it by FERRULE_OPENNOTES_CLI, or by `cli` in the tool's table: an absolute path, or a name to look
    up on PATH. The working directory is never searched. Raises ToolError CLI_NOT_FOUND, CLI_FAILED where the one that
    is named does not run, and ProgramTimeout if there is none but a `jot` that did not say what it is.
    """
    named = context.setting("cli", "FERRULE_OPENNOTES_CLI")
    if named:
        return _find_named(str(named), context)
    for path in _find_executables("opennotes"):
        return Program(path, "opennotes")
    slow = None
    for path in _find_executables("jot"):
        try:
            if _identify(path, context) == "jot":  # BSD has another one of this name, which prints numbers
                return Program(path, "jot")
        except errors.ProgramTimeout as error:  # to install what is there already would not help
            slow = slow or error
        except ToolError:
            continue
    raise slow or errors.cli_not_found(_list_folders())


def _find_named(name: str, context: Context) -> Program:
    path = os.path.expanduser(name)
    if not os.path.isabs(path):
        path = "" if os.sep in name else next(_find_executables(name), "")
    try:
        if _is_executable(path) and (kind := _identify(path, context)):
            return Program(path, kind)
    except errors.ProgramTimeout:  # who named it knows it; a slow disk must not make it another program
        return Program(path, "jot" if os.path.basename(path).startswith("jot") else "opennotes")
    raise errors.cli_not_found(_list_folders(), name)


def _identify(path: str, context: Context) -> Kind | None:
    """What a program calls itself, since its file may have any name; None where it is something else."""
    program = Program(path, "opennotes")
    output = run(program, _VERSION, context, cwd=os.path.dirname(path), limit=_VERSION_SECONDS)
    return _NAMES.get(require_success(output, program, _VERSION).partition(" ")[0])


def _find_executables(name: str) -> Iterator[str]:
    for folder in _list_folders():
        path = os.path.join(folder, name)
        if _is_executable(path):
            yield path


def _is_executable(path: str) -> bool:
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except ValueError:  # a NUL in the name
        return False


def _list_folders() -> list[str]:
    """The folders of PATH, each once. One that is relative would be searched for in the working directory."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    # Not normalised: where `link` is a link, `/a/link/../bin` is not `/a/bin`.
    return list(dict.fromkeys(entry.rstrip(os.sep) or os.sep for entry in entries if os.path.isabs(entry)))
