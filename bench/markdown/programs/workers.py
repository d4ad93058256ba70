"""Converters in processes of their own, asked over pipes."""

from __future__ import annotations

import json
import select
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from types import TracebackType

_BENCH = Path(__file__).resolve().parents[2]
_TO_START = 120.0  # seconds


class Unavailable(Exception):
    """A converter that cannot be had here; the message says why."""


class Answer(NamedTuple):
    """What a converter made of a page, and the seconds of processor time that it took; error: why it made nothing."""

    markdown: str
    seconds: float = 0.0
    error: str = ""


class Worker:
    """A converter, run by an interpreter of the environment that has it. Raises Unavailable where that has it not.

    patience: seconds on the wall after which a page counts as one that the converter cannot do.
    """

    def __init__(self, name: str, python: str | Path, *, patience: float = 120.0) -> None:
        self.name = name
        self._python = python
        self.patience = patience
        self._process = self._start()

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def convert(self, html: str, url: str) -> Answer:
        """Have a page converted. A converter that dies or hangs is started anew, and gives nothing for this page."""
        try:
            self._write({"html": html, "url": url})
            answer = self._read(self.patience)
        except (EOFError, OSError) as error:
            self._stop()
            self._process = self._start()
            return Answer("", error=f"ended: {type(error).__name__}")
        if "error" in answer:
            return Answer("", error=answer["error"])
        return Answer(answer["markdown"], answer["seconds"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [str(self._python), "-X", "utf8", "-m", "markdown.programs.worker", self.name]
        self._process = subprocess.Popen(
            command, cwd=_BENCH, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            problem = self._read(_TO_START).get("error")
        except (EOFError, OSError):
            problem = "it does not start"
        if problem:
            self._stop()
            raise Unavailable(problem)
        return self._process

    def _write(self, message: dict[str, str]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        if not ready:
            raise TimeoutError
        line = self._process.stdout.readline()
        if not line:
            raise EOFError
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _stop(self) -> None:
        self._process.kill()
        self._process.communicate()
