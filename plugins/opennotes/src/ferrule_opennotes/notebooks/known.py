"""The notebooks that are registered or around the working directory, and the one that is meant without a word."""

from typing import Any

from ferrule import Context, ToolError
from ferrule_opennotes.notebook.global_config import registered
from ferrule_opennotes.notebook.resolving import Found, current, kinds, known
from ferrule_opennotes.program.finding import find


def answer(context: Context) -> dict[str, Any]:
    """Do what `execute` promises."""
    kind = find(context).kind
    everything = list(known(kind))
    document: dict[str, Any] = {"notebooks": [_described(found) for found in everything], "current": None}
    guidance = _missing(everything, kind)
    try:
        found = current(kind)
    except ToolError as error:  # a notebook that cannot be read hides none of the others
        found, guidance = None, [error.message, *guidance]
    if found:
        document["current"] = _described(found)
    return document | ({"_guidance": " ".join(guidance)} if guidance else {})


def _described(found: Found) -> dict[str, Any]:
    return {**found.notebook.named(), "source": found.source, "noteCount": found.notebook.count()}


def _missing(everything: list[Found], kind: str) -> list[str]:
    """What is registered and holds no notebook that can be read; the folder that the CLI looks in by itself may."""
    there = {found.notebook.path for found in everything}
    absent = [folder for folder in registered(kinds(kind)) if folder not in there and not _is_default(folder)]
    return [f"Registered, but no notebook that can be read: {', '.join(absent)}."] if absent else []


def _is_default(folder: str) -> bool:
    return folder.endswith(("/opennotes/notebooks", "/jot/notebooks"))
