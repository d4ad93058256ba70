"""The notebooks that are registered or around the working directory, and the one that is meant without a word."""

from __future__ import annotations

from typing import Any

from ferrule import Context, ToolError
from ferrule_opennotes.answers.pages import BYTES, size_of
from ferrule_opennotes.notebook.global_config import registered
from ferrule_opennotes.notebook.resolution import Found, current, kinds, known
from ferrule_opennotes.notebook.storable import storable
from ferrule_opennotes.program.discovery import find

_MOST_NAMED = 10  # folders


def answer(context: Context) -> dict[str, Any]:
    """Do what `execute` promises."""
    kind = find(context).kind
    everything = list(known(kind))
    shown = _fitting(everything)
    document: dict[str, Any] = {"notebooks": shown, "current": None}
    guidance = _missing(everything, kind, len(everything) - len(shown))
    try:
        found = current(kind)
    except ToolError as error:  # a notebook that cannot be read hides none of the others
        found, guidance = None, [error.message, *guidance]
    if found:
        document["current"] = _described(found)
    return document | ({"_guidance": " ".join(guidance)} if guidance else {})


def _described(found: Found) -> dict[str, Any]:
    return {**found.notebook.named(), "source": found.source, "noteCount": found.notebook.count()}


def _fitting(everything: list[Found]) -> list[dict[str, Any]]:
    taken: list[dict[str, Any]] = []
    size = 0
    for found in everything:
        described = _described(found)
        size += size_of(described)
        if size > BYTES:
            break
        taken.append(described)
    return taken


def _missing(everything: list[Found], kind: str, left: int) -> list[str]:
    """What is not in the list: notebooks that do not fit, and folders that are registered and hold none.

    The folder that the CLI looks in by itself may hold none.
    """
    there = {found.notebook.path for found in everything}
    absent = [folder for folder in registered(kinds(kind)) if folder not in there and not _is_default(folder)]
    said = [f"{left} more notebooks do not fit into one answer."] if left else []
    if absent:
        more = f" and {len(absent) - _MOST_NAMED} more" if len(absent) > _MOST_NAMED else ""
        said.append(f"Registered, but no notebook that can be read: {', '.join(absent[:_MOST_NAMED])}{more}.")
    return [storable(text) for text in said]


def _is_default(folder: str) -> bool:
    return folder.endswith(("/opennotes/notebooks", "/jot/notebooks"))
