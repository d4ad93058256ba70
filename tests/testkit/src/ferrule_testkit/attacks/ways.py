"""Ways into the host: an executable, `ferrule run`, the pool of `ferrule serve`, and the tools of `ferrule ask`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule_serve.pool import Pool

_LOST = "process that supervised the call has ended"
SECONDS = 20.0  # that a call of an attack may take


class Answered(NamedTuple):
    """text: everything that the client got. document: its answer, `{}` where there is none. died: the host did."""

    text: str
    document: dict[str, object]
    died: bool


class Way(Protocol):
    """A way into a host."""

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Call a tool to its end."""

    def close(self) -> None:
        """End all that it has started."""


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
        return Answered(text, _document(out), started.returncode < 0 or not _document(out))

    def _command(self, tool: str) -> list[str]:
        return [str(self._links / f"{tool.replace('_', '-')}-tool")]

    def close(self) -> None:
        """Nothing is left of it."""


class Commands(Executables):
    """`ferrule run` for each call, with the arguments on stdin."""

    def _command(self, tool: str) -> list[str]:
        return [sys.executable, "-m", "ferrule", "run", tool, "-"]


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
            return Answered(text, _document(answer.document), died=False)

        before = self._workers()
        answered = self._runner.run(call())
        return answered._replace(died=bool(before - self._workers()) or _LOST in answered.text)

    def _workers(self) -> set[int]:
        process = self._pool.stats().supervisor
        return set() if process is None else {process}

    def close(self) -> None:
        """Close the pool."""
        self._runner.run(self._pool.close())
        self._runner.close()


class Asked:
    """The tools that `ferrule ask` offers a model. Takes this process's environment."""

    def __init__(self, tools: list[str], seconds: float = SECONDS) -> None:
        from ferrule_ask.keys import Keys
        from ferrule_ask.toolbox import Toolbox

        self._runner = asyncio.Runner()
        self._seconds = seconds
        self._box = Toolbox.load(tools, Keys())

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Call it as a model would."""
        result = self._runner.run(self._box.execute(tool, arguments, self._seconds))
        text = f"{result.content}\n{result.error or ''}"
        document: dict[str, object] = {"error": result.error or result.content, "error_code": result.code or ""}
        if not result.is_error:
            document = _document(result.content.encode()) or {"error": result.content}
        return Answered(text, document, "ended without an answer" in result.content)

    def close(self) -> None:
        """Nothing is left of it."""
        self._runner.close()


def _document(data: bytes) -> dict[str, object]:
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
