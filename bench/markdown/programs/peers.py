"""The converters that can be had here, each started in an environment that has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from installations.environments import interpreter_with

from markdown.programs.converters import FLOORS, OURS, PEERS
from markdown.programs.workers import Unavailable, Worker

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Iterable

REQUIREMENTS = Path(__file__).resolve().parents[2] / "peers/markdown.txt"


class Converters:
    """Workers by the names of their converters. wanted: parts of names, one of which a name must hold."""

    def __init__(self, wanted: Iterable[str] = ("",)) -> None:
        self._wanted = tuple(wanted)
        self._unavailable: set[str] = set()

    def all(self, stack: contextlib.ExitStack, *, floors: bool = False) -> list[Worker]:
        """Ours on every parser that is installed, then the peers; floors: and the least that a conversion can cost."""
        names = [*OURS, *PEERS, *(FLOORS if floors else ())]
        return [worker for name in names if (worker := self.one(name, stack))]

    def wants(self, name: str) -> bool:
        """Whether a converter of this name is to be measured."""
        return any(part in name for part in self._wanted)

    def one(self, name: str, stack: contextlib.ExitStack) -> Worker | None:
        """A single one; None where it is not wanted or cannot be had, which is said once."""
        if name in self._unavailable or not self.wants(name):
            return None
        try:
            return stack.enter_context(Worker(name, sys.executable if name in OURS else interpreter_with(REQUIREMENTS)))
        except (Unavailable, subprocess.CalledProcessError) as problem:
            print(f"{name} cannot be measured here: {problem}", file=sys.stderr)
            self._unavailable.add(name)
            return None
