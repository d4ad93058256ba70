"""The wrapper `timing`: notes how long the tool itself took, as `_meta: {"timing": {"milliseconds": 12.3}}`.

Where another wrapper has answered in the tool's place, there is no such note.
"""

from __future__ import annotations

import time

from ferrule.tool.hookspecs import hookimpl

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from ferrule.tool.context import Context

NAME = "timing"
_begun: dict[int, float] = {}


@hookimpl
def order() -> int:
    """Next to the tool, so that the work of no other wrapper counts."""
    return 1000


@hookimpl(wrapper=True)
def execute(context: Context) -> Generator[None, dict[str, Any], dict[str, Any]]:
    """Note the time between the moment at which the tool began and its result."""
    try:
        result = yield
    finally:
        begun = _begun.pop(id(context), None)
    if begun is not None:
        context.note(NAME, {"milliseconds": round((time.perf_counter() - begun) * 1000, 3)})
    return result


@hookimpl(specname="execute")
def begin(context: Context) -> None:
    """The tool is next: whatever answers in its place has been asked already."""
    _begun[id(context)] = time.perf_counter()
