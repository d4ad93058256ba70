"""What one process answers, for callers with an event loop: its stdout, within a time after which it is ended."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GRACE_SECONDS = 1.0  # in which a process that is asked to end does so


class ProcessResult(NamedTuple):
    """How a process ended.

    stdout: what it wrote until then. has_failed: whether its exit code was 1. is_late: whether it was ended for its
    time.
    """

    stdout: bytes
    has_failed: bool
    is_late: bool


async def run_process(
    command: Sequence[str], data: bytes, seconds: float, environ: Mapping[str, str] | None = None
) -> ProcessResult:
    """Start a process in a session of its own, write data to its stdin, and return what it writes to stdout.

    Args:
        seconds: from now; then it is asked to end by SIGTERM, and killed a second later. So it is where the caller is
            cancelled.
        environ: the whole environment, the caller's by default.

    Raises:
        OSError where it cannot be started.
    """
    transport, process = await asyncio.get_running_loop().subprocess_exec(
        _Process,
        *command,
        stderr=asyncio.subprocess.DEVNULL,
        env=None if environ is None else dict(environ),
        start_new_session=True,  # Ctrl-C is for the caller, who ends this process in order
    )
    try:
        is_late = not await process.answer(transport, data, seconds)
    finally:
        await _end(transport, process)
    # A process that reaps the children of the caller's process takes the exit code away; ferrule's own are 0 and 1.
    return ProcessResult(bytes(process.stdout), transport.get_returncode() == 1, is_late)


class _Process(asyncio.SubprocessProtocol):
    """What has come of a process so far."""

    def __init__(self) -> None:
        self.stdout = bytearray()
        self.exited = asyncio.Event()
        self._closed = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.stdout += data

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended, and all that it had written is here."""
        self._closed.set()

    async def answer(self, transport: asyncio.SubprocessTransport, data: bytes, seconds: float) -> bool:
        """Write to its stdin, and wait until it has answered and ended; False where its time is over first."""
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)  # noqa: S101 - it was asked for
        stdin.write(data)
        stdin.close()
        return await _is_set(self._closed, seconds)


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event; False where that takes longer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def _end(transport: asyncio.SubprocessTransport, process: _Process) -> None:
    """Have it end its own and itself, and kill it where it does not; also where the caller is cancelled meanwhile."""
    try:
        if transport.get_returncode() is None:
            transport.send_signal(signal.SIGTERM)
            await _is_set(process.exited, _GRACE_SECONDS)
    except ProcessLookupError:
        pass
    finally:
        transport.close()  # kills what is still there
        await _is_set(process.exited, _GRACE_SECONDS)
