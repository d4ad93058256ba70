"""The notebooks that are registered or around the working directory, and the one that is meant without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import Context, ToolError
from ferrule_opennotes.answers.pages import add_guidance, take_fitting
from ferrule_opennotes.notebook.characters import make_storable
from ferrule_opennotes.notebook.configuration import list_registered
from ferrule_opennotes.notebook.resolution import Discovery, find_all, find_current, order_kinds
from ferrule_opennotes.program.discovery import find_program

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.answers.types import NotebookInfo, NotebooksAnswer

_MAX_NAMED = 10  # folders
_DEFAULTS = (
    "/opennotes/notebooks",
    "/jot/notebooks",
)  # where the CLI looks by itself; they may hold none


def answer(arguments: JSONObject, context: Context) -> NotebooksAnswer:
    """Return `{"notebooks", "current"}`; `current` is null outside of every notebook.

    Raises ToolError with CLI_NOT_FOUND.
    """
    kind = find_program(context).kind
    everything = list(find_all(kind))
    shown = take_fitting(map(_describe, everything))
    guidance = _describe_missing(everything, kind, len(everything) - len(shown))
    try:
        found = find_current(kind)
    except ToolError as error:  # a notebook that cannot be read hides none of the others
        found, guidance = None, [error.message, *guidance]
    document: NotebooksAnswer = {"notebooks": shown, "current": _describe(found) if found else None}
    return add_guidance(document, " ".join(guidance))


def _describe(found: Discovery) -> NotebookInfo:
    return {**found.notebook.describe(), "source": found.source, "noteCount": found.notebook.count_notes()}


def _describe_missing(everything: list[Discovery], kind: str, left: int) -> list[str]:
    """What is not in the list: notebooks that do not fit, and folders that are registered and hold none."""
    there = {found.notebook.path for found in everything}
    registered = [folder for folder in list_registered(order_kinds(kind)) if not folder.endswith(_DEFAULTS)]
    absent = [folder for folder in registered if folder not in there]
    said = [f"{left} more notebooks do not fit into one answer."] if left else []
    if absent:
        more = f" and {len(absent) - _MAX_NAMED} more" if len(absent) > _MAX_NAMED else ""
        said.append(f"Registered, but no notebook that can be read: {', '.join(absent[:_MAX_NAMED])}{more}.")
    return [make_storable(text) for text in said]
