"""Ways into the host: an executable, `ferrule run`, a keeper, and the pool of `ferrule serve`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ferrule_testkit.keeper import Started, call_keeper

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule_serve.pool import Pool

LOST = "process that supervised the call has ended"
SECONDS = 20.0  # that a call of an attack may take


class Answered(NamedTuple):
    """text: everything that the client got. document: its answer, `{}` if there is none. died: the host did."""

    text: str
    document: dict[str, object]
    died: bool


class Way(Protocol):
    """A way into a host."""

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Call a tool to its end."""

    def close(self) -> None:
        """End all that it has started."""


class ListedWay(Way, Protocol):
    """One that tells of its tools where none is called."""

    def listing(self) -> str:
        """All that it tells."""


class Executables:
    """A linked executable for each call."""

    def __init__(self, links: Path, environment: Mapping[str, str], work: Path, seconds: float = SECONDS) -> None:
        self._links, self._environment, self._work, self._seconds = links, environment, work, seconds

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Call it as the client does."""
        started = subprocess.Popen(
            self._command(tool),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            cwd=self._work,
            process_group=0,
        )
        try:
            out, err = started.communicate(json.dumps(arguments).encode(), self._seconds + 10)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, 9)
            out, err = started.communicate()
        text = (out + err).decode(errors="replace")
        return Answered(text, document_of(out), started.returncode < 0 or not document_of(out))

    def listing(self) -> str:
        """The executables, which hold the schemas."""
        return "\n".join(path.read_text() for path in sorted(self._links.iterdir()))

    def _command(self, tool: str) -> list[str]:
        return [str(self._links / f"{tool.replace('_', '-')}-tool")]

    def close(self) -> None:
        """Nothing is left of it."""


class Commands(Executables):
    """`ferrule run` for each call, with the arguments on stdin."""

    def _command(self, tool: str) -> list[str]:
        return [sys.executable, "-m", "ferrule", "run", tool, "-"]


class Kept:
    """A keeper, which is asked as a launcher asks it; one that has died is started again.

    runtime: the folder for its socket.
    """

    def __init__(self, environment: Mapping[str, str], work: Path, runtime: Path, seconds: float = SECONDS) -> None:
        runtime.mkdir(mode=0o700)
        self._environment = {**environment, "XDG_RUNTIME_DIR": str(runtime)}
        self._work, self._seconds = str(work), seconds
        self._keeper = Started(self._environment)

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Call it as a linked executable does. Raises Refused: then no keeper would have made the call."""
        sent = json.dumps(arguments).encode()
        try:
            answer = call_keeper(
                self._keeper.path, tool, sent, self._environment, self._work, seconds=self._seconds + 10
            )
        except (OSError, EOFError) as error:
            answer = (0, b"", repr(error).encode())
        text = (answer[1] + answer[2]).decode(errors="replace")
        if has_ended := self._keeper.has_ended():
            self._keeper.close()
            self._keeper = Started(self._environment)
        return Answered(text, document_of(answer[1]), has_ended or LOST in text or not answer[1])

    def listing(self) -> str:
        """A keeper tells nobody of tools."""
        return ""

    def close(self) -> None:
        """End the keeper."""
        self._keeper.stop()


class Served:
    """The pool of `ferrule serve`, with one worker that keeps plugins loaded."""

    def __init__(self, environment: Mapping[str, str], seconds: float = SECONDS) -> None:
        self._runner = asyncio.Runner()
        self._seconds = seconds
        self._environment = environment
        self._pool = self._runner.run(self._start())

    async def _start(self) -> Pool:
        from ferrule_serve.pool import Pool

        return Pool(1, environment=self._environment)

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Call it as `tools/call` does."""

        async def call() -> Answered:
            answer = await self._pool.call(tool, json.dumps(arguments).encode(), seconds=self._seconds)
            text = answer.document.decode(errors="replace") + answer.text
            return Answered(text, document_of(answer.document), died=False)

        before = self._workers()
        answered = self._runner.run(call())
        return answered._replace(died=bool(before - self._workers()) or LOST in answered.text)

    def listing(self) -> str:
        """The pool knows no tool before its call."""
        return ""

    def _workers(self) -> set[int]:
        process = self._pool.stats().supervisor
        return set() if process is None else {process}

    def close(self) -> None:
        """Close the pool."""
        self._runner.run(self._pool.close())
        self._runner.close()


def document_of(data: bytes) -> dict[str, object]:
    """The JSON object that these bytes are; `{}` where they are none."""
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
