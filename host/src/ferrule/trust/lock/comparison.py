"""What has changed of a tool since it was locked, in lines that a person reads, with nothing hidden in them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ferrule.text.visibility import make_visible
from ferrule.trust.lock.examination import differing

if TYPE_CHECKING:
    from ferrule.trust.lock.examination import Observation
    from ferrule.trust.lock.lock_file import LockedTool

_CONTEXT_LINES = 1


def lines(known: LockedTool | None, observation: Observation) -> list[str]:
    """The differences of one tool. known: what the lock has; None where the tool is not in it, and all is new.

    Characters that are invisible, or that a terminal obeys, are spelt out, as in `<U+202E>`.
    """
    if known is None:
        return list(_field("all", {}, observation.locked))
    found: list[str] = []
    for name in differing(known, observation):
        found += _field(name, known.get(name), observation.locked.get(name))
    return [*found, *(f"files: {problem}" for problem in observation.problems)]


def _field(name: str, before: object, after: object) -> Iterator[str]:
    if before == after:
        return
    if isinstance(before, dict | list) or isinstance(after, dict | list):
        yield f"{name}:"
        yield from (f"  {line}" for line in _changed(_text(before), _text(after)))
    else:
        yield f"{name}: {make_visible(str(before))} -> {make_visible(str(after))}"


def _changed(before: list[str], after: list[str]) -> Iterator[str]:
    told = difflib.unified_diff(before, after, n=_CONTEXT_LINES, lineterm="")
    yield from (line for line in told if not line.startswith(("---", "+++", "@@")))


def _text(value: object) -> list[str]:
    """JSON in which the lines of a long text are lines, too."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    return [make_visible(line) for line in text.replace("\\n", "\\n\n").split("\n")]
