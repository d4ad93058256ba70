"""A thread beside the one that supervises, for what can keep its thread waiting."""

from __future__ import annotations

import os
import select
from _thread import start_new_thread

from ferrule.confinement.later import Later

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

_TRY_AGAIN = 11


def begin(work: Callable[[], int]) -> Later:
    """Do work in a thread of its own. `finish` gives what it returned, or raises what it raised.

    Raises OSError where there can be no further thread.
    """
    reader, writer = os.pipe()
    done: list[int | OSError] = []
    try:
        start_new_thread(_do, (work, done, writer))
    except RuntimeError as error:
        os.close(reader)
        os.close(writer)
        raise OSError(_TRY_AGAIN, "no further thread") from error
    return Later(reader, lambda: _outcome(done), lambda: os.close(reader), select.EPOLLIN)


def _do(work: Callable[[], int], done: list[int | OSError], writer: int) -> None:
    """Say that it is done by closing a pipe."""
    try:
        done.append(work())
    except OSError as error:
        done.append(error)
    finally:
        os.close(writer)


def _outcome(done: list[int | OSError]) -> int:
    value = done[0]
    if isinstance(value, OSError):
        raise value
    return value
