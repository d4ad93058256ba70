"""The wrapper `timing`: notes how long the tool itself took, as `_meta: {"timing": {"milliseconds": 12.3}}`.

Where another wrapper has answered in the tool's place, there is no such note.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING

from ferrule.plugin.hooks.hookspecs import hookimpl

if TYPE_CHECKING:
    from ferrule.plugin.wrapper_context import WrapperContext
    from ferrule.text.json_types import JSONObject

NAME = "timing"
_starts: dict[int, float] = {}


@hookimpl
def order() -> int:
    """Next to the tool, so that the work of no other wrapper counts."""
    return 1000


@hookimpl(wrapper=True)
def execute(context: WrapperContext) -> Generator[None, JSONObject, JSONObject]:
    """Note the time between the moment at which the tool began and its result."""
    try:
        result = yield
    finally:
        start = _starts.pop(id(context), None)
    if start is not None:
        context.note(NAME, {"milliseconds": round((time.perf_counter() - start) * 1000, 3)})
    return result


@hookimpl(specname="execute")
def note_start(context: WrapperContext) -> None:
    """The tool is next: what could answer in its place has been asked already."""
    _starts[id(context)] = time.perf_counter()
