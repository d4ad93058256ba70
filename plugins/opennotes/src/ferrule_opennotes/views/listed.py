"""The answer that lists views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule_opennotes.answers.pages import BYTES, size_of
from ferrule_opennotes.program.features import built_in_views
from ferrule_opennotes.views.catalogue import custom, of_cli
from ferrule_opennotes.views.definitions import Definition, Flawed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule import Context
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.program.discovery import Program

_ORIGINS = ("built-in", "global", "notebook")
_MOST_FLAWED = 10  # that the guidance names


def listed(notebook: Notebook, program: Program, context: Context) -> dict[str, Any]:
    """`{"views", "notebook"}`, with `_guidance` where a view cannot be used or does not fit."""
    found = known(notebook, program, context)
    usable = [view for view in found.values() if isinstance(view, Definition)]
    shown = _fitting([view.shown() for view in usable])
    guidance = _guidance([view for view in found.values() if isinstance(view, Flawed)], len(usable) - len(shown))
    answer: dict[str, Any] = {"views": shown, "notebook": notebook.named()}
    return answer | ({"_guidance": guidance} if guidance else {})


def known(notebook: Notebook, program: Program, context: Context) -> dict[str, Definition | Flawed]:
    """The views by their names, each with the definition that counts, in the order of their origins and names."""
    found: dict[str, Definition | Flawed] = {view.name: view for view in map(of_cli, built_in_views(program, context))}
    found |= custom(notebook, program.kind)
    return dict(sorted(found.items(), key=lambda each: (_ORIGINS.index(each[1].origin), each[0])))


def _fitting(views: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    taken, size = [], 0
    for view in views:
        size += size_of(view)
        if size > BYTES:
            break
        taken.append(view)
    return taken


def _guidance(flawed: Sequence[Flawed], missing: int) -> str:
    parts = [f"The view '{view.name[:100]}' ({view.origin}) cannot be used: {view.reason[:300]}." for view in flawed]
    if len(parts) > _MOST_FLAWED:
        parts[_MOST_FLAWED:] = [f"{len(parts) - _MOST_FLAWED} more views cannot be used."]
    if missing:
        parts.append(f"{missing} more views do not fit into one answer.")
    return " ".join(parts)
