"""What the CLI at hand can do, asked of itself: versions lie, since every release calls itself 0.0.2."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from ferrule_opennotes import errors
from ferrule_opennotes.program.cli_errors import accepted
from ferrule_opennotes.program.process import run
from ferrule_opennotes.program.scratch import scratch

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule_opennotes.program.discovery import Program

_FLAGS = re.compile(r"^Flags:\n((?:[ \t]+\S.*(?:\n|\Z))*)", re.MULTILINE)
_SQL = re.compile(r"^\s+(?:-\w, )?--sql\b", re.MULTILINE)
_SECONDS = 10.0  # for a question that needs no notes


def has_sql(program: Program, context: Context) -> bool:
    """Whether `notes search` takes `--sql`, which the releases since Bleve do not. Raises ToolError CLI_FAILED."""
    arguments = ["notes", "search", "--help"]
    output = run(program, arguments, context, cwd=os.path.dirname(program.path), limit=_SECONDS)
    text = accepted(output, program, arguments)
    return any(_SQL.search(flags) for flags in _FLAGS.findall(text))


def built_in_views(program: Program, context: Context) -> list[dict[str, Any]]:
    """The views that the CLI has of itself, by name: each with `name`, `description`, `parameters` where it has any.

    They are asked for in an empty notebook. Raises ToolError CLI_FAILED.
    """
    arguments = ["notes", "view", "--list", "--format=json"]
    with scratch() as folder:
        output = run(program, arguments, context, cwd=folder, notebook=folder, limit=_SECONDS)
    text = accepted(output, program, arguments)
    try:
        views = [view for view in json.loads(text)["views"] if view["origin"] == "built-in"]
        return sorted(({name: view[name] for name in _KEYS if view.get(name)} for view in views), key=_name)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise errors.cli_failed("its list of views cannot be read", [program.path, *arguments]) from None


_KEYS = ("name", "description", "parameters")


def _name(view: dict[str, Any]) -> str:
    return str(view["name"])
