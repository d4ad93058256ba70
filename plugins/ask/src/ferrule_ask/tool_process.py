"""One execution of a tool in a process of its own: the dispatcher, as a link starts it."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ferrule.supervision.python_path import code_for, interpreter

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODE = """\
import sys
sys.path[{place}:{place}] = {paths}
from ferrule.supervision.processes import stop_with_parent
stop_with_parent({parent})
from ferrule.dispatch import run
run(sys.argv[1], [], {{}})
"""
_MARGIN = 0.5  # seconds in which the tool's supervisor ends what the tool has started, and says that it was too slow
_GRACE = 1.0  # seconds in which it does so where it is asked to stop


class Ended(NamedTuple):
    """How an execution ended. stdout: what was written. failed: by its exit code. late: it was ended for its time."""

    stdout: bytes
    failed: bool
    late: bool


async def execute(tool: str, arguments: bytes, seconds: float, environ: Mapping[str, str]) -> Ended:
    """Execute a tool, whatever it does, and end it with all that it has started when its time is over.

    arguments: one JSON object. seconds: from now; what hears no signal is killed a second later. environ: the whole
    environment; what decides an exit code in it is overridden. The tool is ended in the same way when the caller is
    cancelled. Raises OSError where no process can be started.
    """
    inner = max(seconds - _MARGIN, seconds * 0.7)
    loop = asyncio.get_running_loop()
    transport, process = await loop.subprocess_exec(
        _Process,
        *(interpreter(), "-I", "-c", code_for(_CODE), tool),
        stderr=asyncio.subprocess.DEVNULL,
        env={**environ, "FERRULE_DEADLINE": f"{inner:.3f}", "FERRULE_EXIT_ZERO": "0"},
        start_new_session=True,  # Ctrl-C is for the caller, who ends this process in order
    )
    try:
        late = not await process.answer(transport, arguments, seconds)
    finally:
        await _end(transport, process)
    # Whoever reaps the children of the caller's process takes the exit code away; ferrule's own are 0 and 1.
    return Ended(bytes(process.stdout), transport.get_returncode() == 1, late)


class _Process(asyncio.SubprocessProtocol):
    """What has come of a process so far."""

    def __init__(self) -> None:
        self.stdout = bytearray()
        self._exited = asyncio.Event()
        self._closed = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.stdout += data

    def process_exited(self) -> None:
        self._exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended, and all that it had written is here."""
        self._closed.set()

    async def answer(self, transport: asyncio.SubprocessTransport, arguments: bytes, seconds: float) -> bool:
        """Hand it its arguments, and wait until it has answered and ended; False where its time is over first."""
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)  # noqa: S101 - it was asked for
        stdin.write(arguments)
        stdin.close()
        return await self._within(seconds, self._closed)

    async def has_exited(self, seconds: float) -> bool:
        """Wait for its end; False where that takes longer."""
        return await self._within(seconds, self._exited)

    async def _within(self, seconds: float, event: asyncio.Event) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
        return event.is_set()


async def _end(transport: asyncio.SubprocessTransport, process: _Process) -> None:
    """Have it end its own and itself, and kill it where it does not; also where the caller is cancelled meanwhile."""
    try:
        if transport.get_returncode() is None:
            transport.send_signal(signal.SIGTERM)
            await process.has_exited(_GRACE)
    except ProcessLookupError:
        pass
    finally:
        transport.close()  # kills what is still there
        await process.has_exited(_GRACE)
