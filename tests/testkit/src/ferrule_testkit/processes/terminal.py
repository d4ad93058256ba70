"""A program on a terminal of its own."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_PATIENCE_SECONDS = 60


class Terminal:
    """Starts a program, and reads what a person would see. shown: so far, with line ends as the program wrote them."""

    def __init__(self, command: Sequence[str | Path], environ: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(environ), start_new_session=True
        )
        os.close(theirs)
        self._data = b""

    @property
    def shown(self) -> str:
        """See above."""
        return self._data.decode(errors="replace").replace("\r\n", "\n")

    def read_until(self, text: str) -> None:
        """Wait until a text is there. Raises EOFError where the program ends without it."""
        while text not in self.shown:
            if not self._read():
                raise EOFError(self.shown)

    def finish(self) -> tuple[int, str]:
        """Wait for its end: the exit code, and all that was shown."""
        while self._read():
            pass
        return self._process.wait(_PATIENCE_SECONDS), self.shown

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._ours)
        self._process.kill()
        self._process.wait()

    def _read(self) -> bool:
        try:
            data = os.read(self._ours, 65_536)
        except OSError:  # how a terminal says that nobody is left on the other side
            return False
        self._data += data
        return bool(data)
