"""Pipes between the supervisor and a process that is about to be forked."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule.calls.fork_server.poll_loop import PollLoop


def open_pipes(count: int) -> list[tuple[int, int]]:
    """So many pipes, as `os.pipe` makes them. Raises OSError, and has none open then."""
    with ExitStack() as undo:
        pipes = []
        for _ in range(count):
            pipes.append(os.pipe())
            for file in pipes[-1]:
                undo.callback(os.close, file)
        undo.pop_all()
    return pipes


def close_watched(loop: PollLoop, files: Iterable[int]) -> None:
    """Close descriptors that the loop may wait for; a negative one is closed already."""
    for file in files:
        if file >= 0:
            loop.unwatch(file)
            os.close(file)
