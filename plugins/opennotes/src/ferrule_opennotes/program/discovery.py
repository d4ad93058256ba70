"""The OpenNotes CLI on this machine: `opennotes`, or `jot`, which it is called since it was renamed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ferrule import Context, ToolError
from ferrule_opennotes import errors
from ferrule_opennotes.program.cli_errors import require_success
from ferrule_opennotes.program.process import Kind, Program, ProgramTimeout, run

_KINDS: tuple[Kind, ...] = ("opennotes", "jot")
_HELP_SECONDS = 5.0  # that a program may take to say what it is, on a machine that is busy with other things
_MARKS: dict[Kind, str] = {"opennotes": r"\.opennotes\.json|\bOPENNOTES_", "jot": r"\.jot\.json|\bJOT_"}


def find_program(context: Context) -> Program:
    """The CLI that the admin names, else the first `opennotes` on PATH, else the first `jot` there that is this one.

    The admin names it by FERRULE_OPENNOTES_CLI, or by `cli` in the tool's table: an absolute path, or a name to look
    up on PATH. The working directory is never searched. Raises ToolError CLI_NOT_FOUND, CLI_FAILED where the one that
    is named does not run, and ProgramTimeout where there is none but a `jot` that did not say what it is.
    """
    named = context.setting("cli", "FERRULE_OPENNOTES_CLI")
    if named:
        return _find_named(str(named), context)
    slow = None
    for kind in _KINDS:
        for path in _find_executables(kind):
            try:
                if kind == "opennotes" or _is_our_jot(path, context):
                    return Program(path, kind)
            except ProgramTimeout as error:  # to install what is there already would not help
                slow = slow or error
    raise slow or errors.cli_not_found(_describe_folders())


def _find_named(name: str, context: Context) -> Program:
    expanded = os.path.expanduser(name)
    if os.path.isabs(expanded):
        candidates = [expanded] if _is_executable(expanded) else []
    else:
        candidates = [] if os.sep in name else list(_find_executables(name))
    failure = None
    for path in candidates:
        try:
            if kind := _identify(path, context):
                return Program(path, kind)
        except ToolError as error:  # it is there, and says why it does not run
            failure = failure or error
    raise failure or errors.cli_not_found(_describe_folders(), _make_printable(name))


def _identify(path: str, context: Context) -> Kind | None:
    """What a program calls itself in its help, since its file may have any name; None where it is something else."""
    try:
        text = _read_help(path, ["--help"], context)
    except ProgramTimeout:
        # Who named it knows it; a slow disk must not make it another program.
        return "jot" if os.path.basename(path).startswith("jot") else "opennotes"
    usage = re.search(r"^Usage:\n\s+(opennotes|jot)\b", text, re.MULTILINE)
    if usage:
        return "jot" if usage[1] == "jot" else "opennotes"
    return next((kind for kind in _KINDS if re.search(_MARKS[kind], text)), None)


def _is_our_jot(path: str, context: Context) -> bool:
    """Whether this is the notes program: BSD has another one of this name, which prints numbers."""
    try:
        text = _read_help(path, ["notes", "--help"], context)
    except ProgramTimeout:
        raise
    except ToolError:
        return False
    return re.search(r"^\s+jot notes\b", text, re.MULTILINE) is not None


def _read_help(path: str, arguments: list[str], context: Context) -> str:
    program = Program(path, "opennotes")
    output = run(program, arguments, context, cwd=os.path.dirname(path), limit=_HELP_SECONDS)
    return require_success(output, program, arguments)


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


def _describe_folders() -> list[str]:
    return [_make_printable(folder) for folder in _list_folders()]


def _make_printable(text: str) -> str:
    return os.fsencode(text).decode(errors="replace")
