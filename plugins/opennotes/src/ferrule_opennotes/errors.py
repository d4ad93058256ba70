"""Every error of the six tools: its code, its sentence, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ferrule import ToolError

INSTALL = "go install github.com/zenobi-us/opennotes@latest"
INSTALL_TODAY = "go install github.com/zenobi-us/opennotes@v0.1.0"
INSTALL_JOT = "go install github.com/zenobi-us/jot@v0.2.0"
QUERY_SECONDS = 30
_TRY = "Run the same command in a shell to see more."
_MAX_TEXT_CHARS = 1000  # characters of what a caller gave that an error gives back
_MAX_NAMES = 100  # that an error lists, since one that is too long for an answer would lose its hint and its details


def shorten(text: str) -> str:
    """What a caller gave, as an error or an answer gives it back: cut where it is long."""
    return text if len(text) <= _MAX_TEXT_CHARS else f"{text[:_MAX_TEXT_CHARS]}…"


def _first_names(names: Sequence[str]) -> list[str]:
    """The first of the names there are."""
    return [name[:100] for name in names[:_MAX_NAMES]]


def cli_not_found(searched: Sequence[str], named: str | None = None) -> ToolError:
    """No program that could be the CLI. searched: the folders of PATH. named: what FERRULE_OPENNOTES_CLI says."""
    named, *folders = (os.fsencode(text).decode(errors="replace") for text in (named or "", *searched))
    where = f"at {named}, which FERRULE_OPENNOTES_CLI names" if named else "in PATH"
    hint = (
        f"Install OpenNotes: {INSTALL}\nOr ensure the 'opennotes' binary is in your PATH.\n"
        f"If @latest does not install, this does: {INSTALL_TODAY}, or its successor: {INSTALL_JOT}"
    )
    details = {"searchedPaths": folders}
    return ToolError("CLI_NOT_FOUND", f"OpenNotes CLI not found {where}", hint=hint, details=details)


def notebook_not_found(
    asked: str | None = None, reason: str | None = None, searched: Sequence[str] = (), *, program: str = "opennotes"
) -> ToolError:
    """No notebook where one was asked for, or none around the working directory.

    Args:
        asked: what the call named.
        reason: why that is none.
        searched: the folders that were looked at.
        program: the CLI that makes one.
    """
    asked = shorten(asked) if asked else None
    message = f"No notebook found at {asked}" if asked else "No notebook found in context"
    message = f"{message}: {shorten(reason)}" if reason else message
    hint = (
        "Specify --notebook or cd to a notebook directory; here that is the argument 'notebook', the path of a "
        f"folder that holds .opennotes.json or .jot.json. Or make one in a folder: {program} init, then "
        f"{program} notebook create . --name NAME."
    )
    known = {"searchedPaths": list(searched), "notebook": asked}
    details = {name: value for name, value in known.items() if value}
    return ToolError("NOTEBOOK_NOT_FOUND", message, hint=hint, details=details or None)


def note_not_found(path: str, near: Sequence[str] = ()) -> ToolError:
    """No such note. near: paths that look like it."""
    path = shorten(path)
    details: dict[str, object] = {"path": path}
    hint = "Check path is relative to notebook root"
    if near:
        details["similar"] = list(near)
        hint += f"; did you mean {near[0]}?"
    return ToolError("NOTE_NOT_FOUND", f"Note not found: {path}", hint=hint, details=details)


def note_unreadable(path: str) -> ToolError:
    """A note that is there, and that this user may not read."""
    message = f"Note not found: {path} is there, but may not be read"
    return ToolError("NOTE_NOT_FOUND", message, hint="Check the permissions of the file.", details={"path": path})


def notes_unreadable(folder: str) -> ToolError:
    """A notebook whose notes are in a folder that this call may not list."""
    message = f"No notebook can be read at {shorten(folder)}: its notes may not be listed"
    return ToolError(
        "NOTEBOOK_NOT_FOUND", message, hint="Check the permissions of the folder.", details={"folder": folder}
    )


def view_not_found(name: str, views_tool: str, available: Sequence[str]) -> ToolError:
    """No such view. views_tool: the name under which the client knows the tool that lists them."""
    name = shorten(name)
    hint = f"Use {views_tool} to list available views"
    details = {"view": name, "available": _first_names(available)}
    return ToolError("VIEW_NOT_FOUND", f"View not found: {name}", hint=hint, details=details)


def template_not_found(name: str, config_file: str, available: Sequence[str]) -> ToolError:
    """No such template in the notebook's configuration, whose file is `config_file`."""
    name = shorten(name)
    hint = f"Check notebook {config_file} for templates"
    details = {"template": name, "available": _first_names(available)}
    return ToolError("TEMPLATE_NOT_FOUND", f"Template not found: {name}", hint=hint, details=details)


def invalid_sql(reason: str, hint: str = "Only SELECT/WITH allowed, see docs") -> ToolError:
    """A statement that is refused, or that the database does not understand."""
    return ToolError("INVALID_SQL", f"Invalid SQL query: {reason}", hint=hint)


def query_timeout(seconds: float = QUERY_SECONDS) -> ToolError:
    """A query that took longer than it may."""
    message, details = f"Query timed out after {seconds:.0f}s", {"seconds": round(seconds, 1)}
    return ToolError("QUERY_TIMEOUT", message, hint="Simplify query or add LIMIT", details=details)


def query_too_large(memory: int) -> ToolError:
    """A query that took more memory than it may: with more it would have run out of time. memory: MiB that it had."""
    message = f"Query stopped: it needs more memory than the {memory} MiB that it may have"
    return ToolError("QUERY_TIMEOUT", message, hint="Simplify query or add LIMIT", details={"mebibytes": memory})


class ProgramTimeout(ToolError):
    """The CLI had not ended in time, and has been ended. Callers that know what that means raise another error."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        spent = round(max(seconds, 0), 1)
        message = f"Query timed out after {spent:.1f}s: the OpenNotes CLI did not answer"
        super().__init__("QUERY_TIMEOUT", message, hint=_TRY, details={"command": list(command), "seconds": spent})


def path_traversal(path: str) -> ToolError:
    """A path that leads, or could lead, out of the notebook."""
    path = shorten(path)
    message = f"Path traversal blocked: {path}"
    return ToolError("PATH_TRAVERSAL", message, hint="Use paths relative to notebook", details={"path": path})


def note_exists(path: str) -> ToolError:
    """A note that would have to be overwritten."""
    path = shorten(path)
    hint = "Choose another title or path; an existing note is never overwritten."
    return ToolError("NOTE_EXISTS", f"Note already exists: {path}", hint=hint, details={"path": path})


def write_failed(path: str, reason: str) -> ToolError:
    """A note that could not be put in its place; nothing of it is left there."""
    message = f"The note was not written: {reason}"
    hint = "No part of it was left behind. Choose another path, or make room or permission for it."
    return ToolError("WRITE_FAILED", message, hint=hint, details={"path": shorten(path)})


def cli_failed(message: str, command: Sequence[str], exit_code: int | None = None) -> ToolError:
    """The CLI failed in a way that no other code stands for. message: its own words."""
    details = {"command": list(command), "exitCode": exit_code}
    return ToolError("CLI_FAILED", f"The OpenNotes CLI failed: {message}", hint=_TRY, details=details)
