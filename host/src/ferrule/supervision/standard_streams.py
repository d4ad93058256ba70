"""The three standard descriptors: never free for a file that is opened later."""

from __future__ import annotations

import os


def occupy_standard_streams() -> list[bool]:
    """Put /dev/null in the place of each standard stream that is closed, and say which of the three were open."""
    were_open = [_is_open(file) for file in range(3)]
    for file, is_open in enumerate(were_open):
        if not is_open:
            _put_nothing_on(file)
    return were_open


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False
    return True


def _put_nothing_on(file: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != file:
        os.dup2(nothing, file)
        os.close(nothing)
