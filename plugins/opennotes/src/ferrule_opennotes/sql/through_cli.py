"""SQL through a CLI that has it, where there is no database of our own."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, NoReturn

from ferrule import Context, ToolError
from ferrule_opennotes import errors
from ferrule_opennotes.notebook.paths import leads_out
from ferrule_opennotes.program.cli_errors import accepted, said
from ferrule_opennotes.program.features import has_sql
from ferrule_opennotes.program.process import TooSlow, run
from ferrule_opennotes.sql import limits
from ferrule_opennotes.sql.cli_rewrite import rewritten

if TYPE_CHECKING:
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.program.discovery import Program
    from ferrule_opennotes.program.process import Output
    from ferrule_opennotes.sql.guard import Judged

_REFUSED = "SQL query failed: "
_FAILED = "query execution failed: "
_NO_FILE = re.compile(r"(?:Invalid Input|IO) Error: File or directory does not exist")
_NO_EXTENSION = "failed to install markdown extension"
_EXTENSION_HINT = f"With DuckDB beside ferrule no extension is needed: {errors.SQL_EXTRA}"


class Listed:
    """The rows that the CLI gave, all of them."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows
        self.total = len(rows)

    def rows(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """The rows from `offset` on, `limit` at most."""
        return self._rows[offset : offset + limit]


def ask(judged: Judged, notebook: Notebook, program: Program, context: Context) -> Listed:
    """Have the CLI carry out a judged statement. Raises INVALID_SQL, QUERY_TIMEOUT and CLI_FAILED."""
    if not has_sql(program, context):
        raise errors.sql_not_installed(program.kind)
    _stay_inside(notebook.root)
    statement = rewritten(judged, (note.path for note in notebook.notes()))
    arguments = ["notes", "search", f"--sql={statement}"]
    seconds = limits.seconds(context)
    try:
        output = run(program, arguments, context, cwd=notebook.root, notebook=notebook.path, limit=seconds)
    except TooSlow as slow:
        raise errors.query_timeout(slow.seconds) from None
    if output.exit_code != 0 and _refused(output, notebook.root):
        return Listed([])
    return Listed(_parsed(accepted(output, program, arguments), program, notebook.root))


def _refused(output: Output, root: str) -> bool:
    """True for a refusal that means "no rows"; False for what is no refusal of the statement."""
    message = said(output.stderr)
    if _NO_EXTENSION in message:
        _without_extension(message)
    if not message.startswith(_REFUSED):
        return False
    reason = message.removeprefix(_REFUSED).removeprefix(_FAILED)
    if _NO_FILE.match(reason):
        return True
    if reason.startswith("context deadline exceeded"):
        raise errors.query_timeout()
    reason = reason.removeprefix("invalid query: ").removeprefix("query preprocessing failed: ")
    raise errors.invalid_sql(reason.replace(os.path.join(root, ""), ""))


def _without_extension(message: str) -> NoReturn:
    said_first = message.partition("\n")[0]
    error = errors.cli_failed(
        f"it could not download DuckDB's markdown extension, which it needs for SQL: {said_first}", ["notes", "search"]
    )
    raise ToolError(error.code, error.message, hint=_EXTENSION_HINT, details=error.details)


def _stay_inside(root: str) -> None:
    """The CLI follows symbolic links wherever they lead, and nothing but the notebook may be read."""
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            if os.path.islink(path) and leads_out(path, root):
                shown = os.path.relpath(path, root).encode(errors="replace").decode()
                error = errors.invalid_sql(
                    f"the symbolic link {shown} leads out of the notebook, and the CLI follows it"
                )
                hint = f"Remove the link, or have DuckDB beside ferrule: {errors.SQL_EXTRA}"
                raise ToolError(error.code, error.message, hint=hint)


def _parsed(text: str, program: Program, root: str) -> list[dict[str, Any]]:
    try:
        rows = json.loads(text or "[]")
        return [_relative(row, root) for row in rows or []]
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise errors.cli_failed("its answer cannot be read", [program.path, "notes", "search"]) from None


def _relative(row: dict[str, Any], root: str) -> dict[str, Any]:
    path = row.get("file_path")
    if isinstance(path, str) and path.startswith(os.path.join(root, "")):
        return row | {"file_path": os.path.relpath(path, root)}
    return row
