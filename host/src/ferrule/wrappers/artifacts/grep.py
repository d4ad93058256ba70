"""What a regular expression finds in a text, worked out where it can be ended: one expression can take years."""

from __future__ import annotations

import os
import select

from ferrule import Context, ToolError
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

SECONDS = 3  # of the processor's time
_MOST = 100  # matches in an answer, where no limit says otherwise
_AROUND = 150  # characters that are shown on either side
_LONGEST = 500  # characters that are shown of a match
_CHUNK = 1 << 16
_NO_MEMORY = b'{"fault":"the expression needs more memory than a call may take; try one with fewer repetitions"}'


def matching(
    head: dict[str, Any], text: str, expression: str, offset: int, limit: int | None, context: Context
) -> dict[str, Any]:
    """The answer with the matches that begin at `offset` or later, as many as were asked for and as fit.

    It has `next_offset` where something else is found after them; the search goes on from there. Matches of nothing
    are left out. Raises ToolError INVALID_INPUT for what is no expression, or takes too long.
    """
    frame = {**head, "matches": [], "offset": offset, "next_offset": len(text), "total": len(text)}
    room = context.max_bytes - context.size(frame)
    found = _apart(lambda: _found(text, expression, offset, min(limit or _MOST, room), room), context.remaining())
    if "fault" in found:
        raise ToolError("INVALID_INPUT", f"grep: {found['fault']}.")
    further = {"next_offset": found["next"]} if found["next"] is not None else {}
    return {**head, "matches": found["matches"], "offset": offset, **further, "total": len(text)}


def _found(text: str, expression: str, offset: int, most: int, room: int) -> dict[str, Any]:
    """The matches, and from where the search goes on; or what is wrong with the expression."""
    import re
    import warnings

    warnings.simplefilter("ignore")  # about syntax that some later Python will read in another way
    try:
        pattern = re.compile(expression, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        return {"fault": f"it is no regular expression: {error}"}
    matches: list[dict[str, Any]] = []
    end = offset
    for match in _not_empty(pattern.finditer(text, offset)):
        shown = _shown(text, match.start(), match.end())
        room -= len(strict_json.dumps(shown)) + 1
        if room < 0 or len(matches) == most:
            return {"matches": matches, "next": end}
        matches.append(shown)
        end = match.end()
    return {"matches": matches, "next": None}


def _not_empty(matches: Iterator[Any]) -> Iterator[Any]:
    return (match for match in matches if match.end() > match.start())


def _shown(text: str, start: int, end: int) -> dict[str, Any]:
    """A match and what stands around it in its lines."""
    end = min(end, start + _LONGEST)
    before = text[max(0, start - _AROUND) : start].rpartition("\n")[2]
    after = text[end : end + _AROUND].partition("\n")[0]
    return {"line": text.count("\n", 0, start) + 1, "offset": start, "content": before + text[start:end] + after}


def _apart(work: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
    """What the work returns, done in a process of its own that the system ends when it has used up its time.

    A thread or a signal would not do: the search runs in C, which may look at neither for minutes.
    """
    reader, writer = os.pipe()
    worker = os.fork()
    if worker == 0:
        _be_worker(work, writer)
    os.close(writer)
    try:
        answer = _read(reader, seconds)
    finally:
        os.close(reader)
        _end(worker)
    return answer or {"fault": f"the expression takes longer than {SECONDS} s; try one with fewer repetitions"}


def _be_worker(work: Callable[[], dict[str, Any]], writer: int) -> None:
    """The worker's whole life; never returns."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        try:
            answer = strict_json.dumps(work())
        except MemoryError:
            answer = _NO_MEMORY
        while answer:
            answer = answer[os.write(writer, answer) :]
    finally:
        os._exit(0)


def _read(reader: int, seconds: float) -> dict[str, Any] | None:
    """The worker's answer; None where it ended without one, or is late."""
    import time

    limit = time.monotonic() + seconds
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    data = bytearray()
    while poll.poll(max(0.0, limit - time.monotonic()) * 1000):
        chunk = os.read(reader, _CHUNK)
        if not chunk:
            break
        data += chunk
    try:
        answer = strict_json.loads(bytes(data))
    except strict_json.MalformedJSON:
        return None
    return answer if isinstance(answer, dict) else None


def _end(worker: int) -> None:
    import signal

    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
