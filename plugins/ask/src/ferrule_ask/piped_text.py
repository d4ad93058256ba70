"""What a question is about: the texts of files, and what is piped into the command."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from ferrule.cli import note
from ferrule.errors import FerruleError

_MAX_CONTEXT_BYTES = 32 << 20  # more than the API takes as a whole request
_MAX_STDIN_SECONDS = 10.0  # in which a pipe that nobody asked for has to give something


def read_pipe() -> str | None:
    """What a pipe or a file at stdin has, and None without one. Raises FerruleError where a pipe gives nothing."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode if sys.stdin is not None else 0
    except (OSError, ValueError):
        return None
    if stat.S_ISFIFO(mode):
        ready, _, _ = select.select([sys.stdin], [], [], _MAX_STDIN_SECONDS)
        if not ready:
            sentence = f"stdin is a pipe that has given nothing for {_MAX_STDIN_SECONDS:g} seconds."
            raise FerruleError(sentence, hint="Wait for it with --context -, or ask with < /dev/null.")
    if stat.S_ISREG(mode) and _is_begun(sys.stdin.fileno()):
        note("stdin is a file of which something has been read already, as in a loop: it is left alone.")
        return None
    return (_read("-") or None) if stat.S_ISFIFO(mode) or stat.S_ISREG(mode) else None


def _is_begun(file: int) -> bool:
    """Whether somebody else has read from a file, and goes on with it, as `while read` does."""
    return os.lseek(file, 0, os.SEEK_CUR) > 0


def read_all(sources: Sequence[str]) -> str:
    """The text of all of them; of several, each after its name. Raises FerruleError as it does for one."""
    texts = [_read(one) for one in sources]
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"File {name}:\n{text.rstrip()}" for name, text in zip(sources, texts, strict=True))


def _read(source: str) -> str:
    """The text of a file or of stdin. Raises FerruleError where it cannot be read, is no text, or is too large."""
    name = "stdin" if source == "-" else source
    if source == "-" and sys.stdin is None:
        raise FerruleError("stdin cannot be read: it is closed.")
    try:
        with sys.stdin.buffer if source == "-" else Path(source).open("rb") as file:
            data = file.read(_MAX_CONTEXT_BYTES + 1)
    except OSError as error:
        raise FerruleError(f"{name} cannot be read: {error.strerror}.") from None
    if len(data) > _MAX_CONTEXT_BYTES:
        raise FerruleError(f"{name} is larger than 32 MiB, which no model takes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FerruleError(f"{name} is not text in UTF-8.") from None
