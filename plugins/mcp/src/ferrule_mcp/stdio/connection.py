"""Messages to and from a server's process, with everything that it writes read at once and bounded."""

from __future__ import annotations

import os
import select
import time

from ferrule_mcp.stdio.lines import LineReader, OutputTooLarge, clean_text, fit_text
from ferrule_mcp.stdio.messages import read_messages, write_message
from ferrule_mcp.stdio.process import read_some

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.stdio.process import ServerProcess

_MAX_MESSAGES = 20_000  # in one session
_MAX_GARBAGE_LINES = 1_000
_KEPT_GARBAGE_LINES, _KEPT_GARBAGE_CHARS = 3, 2_000  # characters of each
_EXIT_SECONDS = 0.5  # that a server may run on after the end of its stdout, before its end counts as unknown
_TICK_SECONDS = 0.1  # between two looks at a process that the system gives no descriptor for


class ServerGone(Exception):
    """The server has ended, or has closed its stdout. status: as `os.waitpid` says it, None where it runs on."""

    def __init__(self, status: int | None) -> None:
        super().__init__()
        self.status = status


class Connection:
    """The messages of one server.

    garbage: the first lines of stdout that were no messages. garbage_count: how many there were.
    """

    def __init__(self, process: ServerProcess) -> None:
        self._process = process
        self._lines = LineReader()
        self._outgoing = bytearray()
        self._incoming: list[JSONObject] = []
        self._message_count = 0
        self._is_at_end = False
        self._poll = select.poll()
        for file in (process.stdout, process.stderr, process.handle):
            if file is not None:
                self._poll.register(file, select.POLLIN)
        self.garbage: list[str] = []
        self.garbage_count = 0

    def send(self, message: JSONObject) -> None:
        """Send a message, or keep it until the server reads. Raises strict_json.Unrepresentable."""
        self._outgoing += write_message(message)
        self._write()

    def receive(self, deadline: float) -> JSONObject | None:
        """The next message; None where none has come by the deadline, an instant of `time.monotonic()`.

        Raises ServerGone, and OutputTooLarge.
        """
        while not self._incoming:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self._pump(left)
        return self._incoming.pop(0)

    def renew(self) -> list[JSONObject]:
        """Count anew, for the next call; the messages that have come since the last one.

        Raises ServerGone, and OutputTooLarge.
        """
        process = self._process
        while not self._is_at_end and any(file != process.stdin for file, _ in self._poll.poll(0)):
            self._pump(0)
        if self._is_at_end:
            self._raise_gone()
        waiting, self._incoming = self._incoming, []
        self.garbage, self.garbage_count, self._message_count = [], 0, 0
        self._lines.renew()
        process.said.renew()
        return waiting

    def _pump(self, seconds: float) -> None:
        """Wait for the server, at most that long, and do what can be done then."""
        if self._is_at_end:
            self._raise_gone()
        process = self._process
        if process.handle is None:
            seconds = min(seconds, _TICK_SECONDS)
        ready = {file for file, _ in self._poll.poll(seconds * 1000 + 1)}
        if process.stderr in ready and not process.read_stderr():
            self._poll.unregister(process.stderr)
        if process.stdin in ready:
            self._write()
        if process.stdout in ready:
            self._read_stdout()
        elif process.handle in ready or (process.handle is None and process.find_status() is not None):
            self._is_at_end = True  # what it has started may hold its stdout open

    def _read_stdout(self) -> None:
        data = read_some(self._process.stdout)
        if data is None:
            return
        lines = self._lines.feed(data) if data else [self._lines.take_rest()]
        self._is_at_end = not data
        for line in lines:
            self._take_line(line)

    def _take_line(self, line: bytes) -> None:
        try:
            messages = read_messages(line)
        except ValueError:
            self._keep_garbage(line)
            return
        self._incoming += messages
        self._message_count += len(messages)
        if self._message_count > _MAX_MESSAGES:
            raise OutputTooLarge(f"has sent more than {_MAX_MESSAGES:,} messages")

    def _keep_garbage(self, line: bytes) -> None:
        self.garbage_count += 1
        if len(self.garbage) < _KEPT_GARBAGE_LINES:
            self.garbage.append(fit_text(clean_text(line.decode(errors="replace")), _KEPT_GARBAGE_CHARS))
        if self.garbage_count > _MAX_GARBAGE_LINES:
            raise OutputTooLarge(f"has written more than {_MAX_GARBAGE_LINES:,} lines to stdout that are no messages")

    def _write(self) -> None:
        """Write what the server takes. One that has closed its stdin may still answer."""
        stdin = self._process.stdin
        try:
            while self._outgoing:
                del self._outgoing[: os.write(stdin, self._outgoing)]
        except BlockingIOError:
            self._poll.register(stdin, select.POLLOUT)
            return
        except OSError:
            self._outgoing.clear()
        self._stop_writing()

    def _stop_writing(self) -> None:
        try:
            self._poll.unregister(self._process.stdin)
        except KeyError:
            pass  # it was not waited for

    def _raise_gone(self) -> None:
        """Raise ServerGone, with the last that the server said on stderr read."""
        self._process.await_exit(_EXIT_SECONDS)
        self._process.drain_stderr()
        raise ServerGone(self._process.find_status())
