"""The memory that a process and all that descend from it have, each page that they share counted once."""

import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class MemoryWatch:
    """Looks at a process again and again as long as the `with` block lasts. most: bytes, the largest sum so far."""

    def __init__(self, process: int, every: float = 0.02) -> None:
        self.most = 0
        self._process = process
        self._every = every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(self._every):
            self.most = max(self.most, sum(map(_proportional_size, _with_descendants(self._process))))


def _with_descendants(process: int) -> list[int]:
    found = [process]
    for one in found:
        with suppress(OSError):
            for thread in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found


def _proportional_size(process: int) -> int:
    """Bytes; zero for a process that has gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0
