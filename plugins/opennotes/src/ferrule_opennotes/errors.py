"""Every error of the six tools: its code, its sentence, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import ToolError

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTALL = "go install github.com/zenobi-us/opennotes@latest"
INSTALL_TODAY = "go install github.com/zenobi-us/opennotes@v0.1.0"
INSTALL_JOT = "go install github.com/zenobi-us/jot@v0.2.0"
SQL_EXTRA = 'pip install "ferrule-opennotes[sql]"'
QUERY_SECONDS = 30
_LONGEST = 1000  # characters of what a caller gave that an error gives back
_MOST_NAMES = 100  # that an error lists, since one that is too long for an answer would lose its hint and its details


def shown(text: str) -> str:
    """What a caller gave, as an error or an answer gives it back: cut where it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _some(names: Sequence[str]) -> list[str]:
    """The first of the names there are."""
    return [name[:100] for name in names[:_MOST_NAMES]]


def cli_not_found(searched: Sequence[str], named: str | None = None) -> ToolError:
    """No program that could be the CLI. searched: the folders of PATH. named: what FERRULE_OPENNOTES_CLI says."""
    where = f"at {named}, which FERRULE_OPENNOTES_CLI names" if named else "in PATH"
    hint = (
        f"Install OpenNotes: {INSTALL}\nOr ensure the 'opennotes' binary is in your PATH.\n"
        f"If @latest does not install, this does: {INSTALL_TODAY}, or its successor: {INSTALL_JOT}"
    )
    return ToolError(
        "CLI_NOT_FOUND", f"OpenNotes CLI not found {where}", hint=hint, details={"searchedPaths": list(searched)}
    )


def notebook_not_found(asked: str | None = None, reason: str | None = None, searched: Sequence[str] = ()) -> ToolError:
    """No notebook where one was asked for, or none around the working directory."""
    asked = shown(asked) if asked else None
    message = f"No notebook found at {asked}" if asked else "No notebook found in context"
    details: dict[str, object] = {"searchedPaths": list(searched)} if searched else {}
    return ToolError(
        "NOTEBOOK_NOT_FOUND",
        f"{message}: {shown(reason)}" if reason else message,
        hint="Specify --notebook or cd to a notebook directory; here that is the argument 'notebook', the path of a "
        "folder that holds .opennotes.json or .jot.json.",
        details=details | ({"notebook": asked} if asked else {}) or None,
    )


def note_not_found(path: str, near: Sequence[str] = ()) -> ToolError:
    """No such note. near: paths that look like it."""
    path = shown(path)
    details: dict[str, object] = {"path": path}
    return ToolError(
        "NOTE_NOT_FOUND",
        f"Note not found: {path}",
        hint="Check path is relative to notebook root" + (f"; did you mean {near[0]}?" if near else ""),
        details=details | ({"similar": list(near)} if near else {}),
    )


def note_unreadable(path: str) -> ToolError:
    """A note that is there, and that this user may not read."""
    return ToolError(
        "NOTE_NOT_FOUND",
        f"Note not found: {path} is there, but may not be read",
        hint="Check the permissions of the file.",
        details={"path": path},
    )


def view_not_found(name: str, views_tool: str, available: Sequence[str]) -> ToolError:
    """No such view. views_tool: the name under which the client knows the tool that lists them."""
    name = shown(name)
    return ToolError(
        "VIEW_NOT_FOUND",
        f"View not found: {name}",
        hint=f"Use {views_tool} to list available views",
        details={"view": name, "available": _some(available)},
    )


def template_not_found(name: str, config_file: str, available: Sequence[str]) -> ToolError:
    """No such template in the notebook's configuration, whose file is `config_file`."""
    name = shown(name)
    return ToolError(
        "TEMPLATE_NOT_FOUND",
        f"Template not found: {name}",
        hint=f"Check notebook {config_file} for templates",
        details={"template": name, "available": _some(available)},
    )


def invalid_sql(reason: str, hint: str = "Only SELECT/WITH allowed, see docs") -> ToolError:
    """A statement that is refused, or that the database does not understand."""
    return ToolError("INVALID_SQL", f"Invalid SQL query: {reason}", hint=hint)


def sql_not_installed(program: str) -> ToolError:
    """SQL with a CLI that has none, and without a database of our own."""
    reason = f"{program} has no SQL, and the package duckdb is not installed"
    return invalid_sql(reason, f"Install it beside ferrule: {SQL_EXTRA}; or search by 'query' or 'filters'.")


def query_timeout(seconds: float = QUERY_SECONDS) -> ToolError:
    """A query that took longer than it may."""
    return ToolError(
        "QUERY_TIMEOUT",
        f"Query timed out after {seconds:.0f}s",
        hint="Simplify query or add LIMIT",
        details={"seconds": round(seconds, 1)},
    )


def path_traversal(path: str) -> ToolError:
    """A path that leads, or could lead, out of the notebook."""
    path = shown(path)
    return ToolError(
        "PATH_TRAVERSAL",
        f"Path traversal blocked: {path}",
        hint="Use paths relative to notebook",
        details={"path": path},
    )


def note_exists(path: str) -> ToolError:
    """A note that would have to be overwritten."""
    path = shown(path)
    return ToolError(
        "NOTE_EXISTS",
        f"Note already exists: {path}",
        hint="Choose another title or path; an existing note is never overwritten.",
        details={"path": path},
    )


def write_failed(path: str, reason: str) -> ToolError:
    """A note that could not be put in its place; nothing of it is left there."""
    return ToolError(
        "WRITE_FAILED",
        f"The note was not written: {reason}",
        hint="Nothing was left behind. Choose another path, or make room or permission for it.",
        details={"path": shown(path)},
    )


def cli_failed(message: str, command: Sequence[str], exit_code: int | None = None) -> ToolError:
    """The CLI failed in a way that no other code stands for. message: its own words."""
    return ToolError(
        "CLI_FAILED",
        f"The OpenNotes CLI failed: {message}",
        hint="Run the same command in a shell to see more.",
        details={"command": list(command), "exitCode": exit_code},
    )
