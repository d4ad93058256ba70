"""The OpenNotes CLI on this machine: `opennotes`, or `jot`, which it is called since it was renamed."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from ferrule import Context, ToolError
from ferrule_opennotes import errors
from ferrule_opennotes.program.process import TooSlow, run

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["opennotes", "jot"]

_KINDS: tuple[Kind, ...] = ("opennotes", "jot")
_SECONDS = 5.0  # that a program may take to say what it is, on a machine that is busy with other things
_MARKS: dict[Kind, str] = {"opennotes": r"\.opennotes\.json|\bOPENNOTES_", "jot": r"\.jot\.json|\bJOT_"}


class Program(NamedTuple):
    """A program that answers as the OpenNotes CLI does. path: absolute. kind: the name it calls itself by."""

    path: str
    kind: Kind


def find(context: Context) -> Program:
    """The CLI that the admin names, else the first `opennotes` on PATH, else the first `jot` there that is this one.

    The admin names it by FERRULE_OPENNOTES_CLI, or by `cli` in the tool's table: an absolute path, or a name to look
    up on PATH. The working directory is never searched. Raises ToolError CLI_NOT_FOUND, and TooSlow where there is none
    but a `jot` that did not say what it is.
    """
    named = context.setting("cli", "FERRULE_OPENNOTES_CLI")
    if named:
        return _named(str(named), context)
    slow = None
    for kind in _KINDS:
        for path in _executables(kind):
            try:
                if kind == "opennotes" or _is_our_jot(path, context):
                    return Program(path, kind)
            except TooSlow as error:  # to install what is there already would not help
                slow = slow or error
    raise slow or errors.cli_not_found(_shown(_folders()))


def _named(name: str, context: Context) -> Program:
    expanded = os.path.expanduser(name)
    if os.path.isabs(expanded):
        candidates = [expanded] if _is_executable(expanded) else []
    else:
        candidates = [] if os.sep in name else list(_executables(name))
    for path in candidates:
        kind = _kind(path, context)
        if kind:
            return Program(path, kind)
    raise errors.cli_not_found(_shown(_folders()), _printable(name))


def _kind(path: str, context: Context) -> Kind | None:
    """What a program calls itself in its help, since its file may have any name; None where it is something else."""
    try:
        text = _help(path, ["--help"], context)
    except TooSlow:
        # Who named it knows it; a slow disk must not make it another program.
        return "jot" if os.path.basename(path).startswith("jot") else "opennotes"
    except ToolError:
        return None
    usage = re.search(r"^Usage:\n\s+(opennotes|jot)\b", text, re.MULTILINE)
    if usage:
        return "jot" if usage[1] == "jot" else "opennotes"
    return next((kind for kind in _KINDS if re.search(_MARKS[kind], text)), None)


def _is_our_jot(path: str, context: Context) -> bool:
    """Whether this is the notes program: BSD has another one of this name, which prints numbers."""
    try:
        text = _help(path, ["notes", "--help"], context)
    except TooSlow:
        raise
    except ToolError:
        return False
    return re.search(r"^\s+jot notes\b", text, re.MULTILINE) is not None


def _help(path: str, arguments: list[str], context: Context) -> str:
    output = run(Program(path, "opennotes"), arguments, context, cwd=os.path.dirname(path), limit=_SECONDS)
    return output.stdout if output.exit_code == 0 else ""


def _executables(name: str) -> Iterator[str]:
    for folder in _folders():
        path = os.path.join(folder, name)
        if _is_executable(path):
            yield path


def _is_executable(path: str) -> bool:
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except ValueError:  # a NUL in the name
        return False


def _folders() -> list[str]:
    """The folders of PATH, each once. One that is relative would be searched for in the working directory."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    # Not normalised: where `link` is a link, `/a/link/../bin` is not `/a/bin`.
    return list(dict.fromkeys(entry.rstrip(os.sep) or os.sep for entry in entries if os.path.isabs(entry)))


def _shown(folders: list[str]) -> list[str]:
    return [_printable(folder) for folder in folders]


def _printable(text: str) -> str:
    return os.fsencode(text).decode(errors="replace")
