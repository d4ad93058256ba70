"""What a regular expression finds in a text, worked out where it can be ended: one expression can take years."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ferrule.errors import ToolError, WorkFailed
from ferrule.supervision.bounded import bounded
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.plugin.hooks.context import Context
    from ferrule.text.json_types import JSONObject

CPU_SECONDS = 3
_MEMORY_MIB = 240  # besides the text
_DEFAULT_MATCHES = 100  # in an answer, where no limit says otherwise
_MAX_CONTEXT_CHARS = 150  # that are shown on either side of a match
_MAX_MATCH_CHARS = 500  # that are shown of a match
_TOO_SLOW = f"the expression takes longer than {CPU_SECONDS} s; try one with fewer repetitions"
_TOO_LARGE = "the expression needs more memory than a call may take; try one with fewer repetitions"


def matching(
    head: JSONObject, text: str, expression: str, offset: int, limit: int | None, context: Context
) -> JSONObject:
    """The answer with the matches that begin at `offset` or later, as many as were asked for and as fit.

    It has `next_offset` where something else is found after them; the search goes on from there. Matches of nothing
    are left out. Raises ToolError INVALID_INPUT for what is no expression, or takes too long.
    """
    frame = {**head, "matches": [], "offset": offset, "next_offset": len(text), "total": len(text)}
    room = context.max_bytes - context.size(frame)
    most = min(limit or _DEFAULT_MATCHES, room)
    try:
        # In a process: the search runs in C, which looks neither at a signal nor at another thread for minutes.
        matches, following = bounded(
            lambda: _search(text, expression, offset, most, room),
            seconds=context.remaining(),
            cpu_seconds=CPU_SECONDS,
            memory_mib=_MEMORY_MIB + (sys.getsizeof(text) >> 20),
        )
    except WorkFailed as error:
        raise _unfit(_TOO_LARGE if error.limit == "memory_mib" else _TOO_SLOW) from None
    further = {"next_offset": following} if following is not None else {}
    return {**head, "matches": matches, "offset": offset, **further, "total": len(text)}


def _unfit(why: str) -> ToolError:
    return ToolError("INVALID_INPUT", f"grep: {why}.")


def _search(text: str, expression: str, offset: int, most: int, room: int) -> tuple[list[JSONObject], int | None]:
    """The matches, and from where the search goes on, None where nothing follows. Raises ToolError INVALID_INPUT."""
    import re
    import warnings

    warnings.simplefilter("ignore")  # about syntax that some later Python will read in another way
    try:
        pattern = re.compile(expression, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise _unfit(f"it is no regular expression: {error}") from None
    matches: list[JSONObject] = []
    end = offset
    for match in pattern.finditer(text, offset):
        if match.start() == match.end():
            continue
        shown = _shown(text, match.start(), match.end())
        room -= len(strict_json.dumps(shown)) + 1
        if room < 0 or len(matches) == most:
            return matches, end
        matches.append(shown)
        end = match.end()
    return matches, None


def _shown(text: str, start: int, end: int) -> JSONObject:
    """A match and what stands around it in its lines."""
    end = min(end, start + _MAX_MATCH_CHARS)
    before = text[max(0, start - _MAX_CONTEXT_CHARS) : start].rpartition("\n")[2]
    after = text[end : end + _MAX_CONTEXT_CHARS].partition("\n")[0]
    return {"line": text.count("\n", 0, start) + 1, "offset": start, "content": before + text[start:end] + after}
