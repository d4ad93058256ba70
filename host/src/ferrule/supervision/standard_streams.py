"""The three standard descriptors, never free for a file that is opened later, and all others."""

from __future__ import annotations

import os


def occupy_standard_streams() -> list[bool]:
    """Put /dev/null instead of each standard stream that is closed, and say which of the three were open."""
    were_open = [_is_open(file) for file in range(3)]
    for file, is_open in enumerate(were_open):
        if not is_open:
            _put_nothing_on(file)
    return were_open


def close_all_but(*kept: int) -> None:
    """Close every descriptor that does not belong to the child: the real stdout, and what the client has left open."""
    try:
        files = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        files = list(range(256))
    for file in files:
        if file > 2 and file not in kept:
            try:
                os.close(file)
            except OSError:
                continue  # the listing's own descriptor


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
