"""The three standard streams of an executable, taken before anything else can touch them."""

from __future__ import annotations

import os
import select
import time

from ferrule.errors import InputMalformed
from ferrule.supervision.standard_streams import occupy_standard_streams

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.supervision.signals import Signals

INPUT_BYTES = 1 << 20
INPUT_SECONDS = 5.0
ERROR_BYTES = 8192
SUMMARY_BYTES = 242  # of stderr is what the client shows the model when the exit code is not 0

_CHUNK_BYTES = 65536
_ATOMIC_BYTES = 4096  # a pipe that polls as writable takes this much at once without blocking
SILENCE_SECONDS = 0.05  # after which a whole document counts as all there is


class Streams:
    """The process's own stdin, stdout and stderr.

    stdout is moved to a descriptor that no program started later inherits, and descriptor 1 becomes stderr, so that
    nothing but `write_document` reaches the client. A stream that was closed becomes /dev/null, so that no file that is
    opened later is taken for it.
    """

    def __init__(self) -> None:
        self._open = occupy_standard_streams()
        self.stdout: int | None = None
        if self._open[1]:
            self.stdout = os.dup(1)  # above 2, since none of the three is free
            os.dup2(2, 1)

    def read(self, signals: Signals, deadline: float | None = None) -> bytes:
        """Read all of stdin, or as much of it as holds one JSON object when nothing follows for a moment.

        The client's pipe may be held open by another tool that it started, so its end is not waited for. Raises
        InputMalformed where stdin is a terminal, or larger than 1 MiB, or not whole within 5 seconds or by the
        deadline, and CallInterrupted.
        """
        if not self._open[0]:
            raise InputMalformed("stdin is closed; the arguments are expected there, as a JSON object.")
        if os.isatty(0):
            raise InputMalformed("stdin is a terminal; pipe the arguments in, as a JSON object: echo '{}' | TOOL")
        data = _read_all(0, signals, deadline)
        if len(data) > INPUT_BYTES:
            raise input_too_large()
        return data

    def write_document(self, document: bytes, deadline: float, signals: Signals | None = None) -> bool:
        """Write the one document and a newline to the real stdout, and close it: a client may read stderr only then.

        False where it was not read by the deadline, or by the time a signal to stop came.
        """
        if self.stdout is None:
            return False
        is_read = _write(self.stdout, document + b"\n", deadline, signals)
        os.close(self.stdout)
        self.stdout = None
        return is_read

    def write_text(self, text: bytes, deadline: float, signals: Signals | None = None) -> None:
        """Write to stderr, 8 KiB at the most."""
        if text and self._open[2]:
            _write(2, text[:ERROR_BYTES], deadline, signals)

    def give_back(self) -> None:
        """Make the real stdout descriptor 1 again, where nothing has been answered yet."""
        if self.stdout is not None:
            os.dup2(self.stdout, 1)


def _read_all(file: int, signals: Signals, deadline: float | None) -> bytes:
    poll = select.poll()
    poll.register(file, select.POLLIN)
    poll.register(signals.file, select.POLLIN)
    data = bytearray()
    start = time.monotonic()
    limit = min(start + INPUT_SECONDS, deadline or start + INPUT_SECONDS)
    while (left := limit - time.monotonic()) > 0:
        whole = may_be_whole(data)
        ready = poll.poll(1000 * min(SILENCE_SECONDS, left) if whole else 1000 * left)
        if signals.interrupted:
            raise signals.interrupted
        signals.settle()
        if not ready and whole and is_whole(bytes(data)):
            return bytes(data)
        if any(descriptor == file for descriptor, _ in ready):
            chunk = _read(file)
            if not chunk:
                return bytes(data)
            # Past the limit the rest is read and thrown away: a client that still writes must not meet a broken pipe.
            data += chunk[: INPUT_BYTES + 1 - len(data)]
    if len(data) > INPUT_BYTES:
        return bytes(data)
    raise input_unfinished(limit - start)


def input_too_large() -> InputMalformed:
    """The error for more than `INPUT_BYTES` on stdin."""
    return InputMalformed(f"stdin holds more than {INPUT_BYTES:,} bytes.")


def input_unfinished(seconds: float) -> InputMalformed:
    """The error for a stdin that is still open after some seconds."""
    return InputMalformed(f"stdin was not at its end after {seconds:.0f} s; close it after the JSON object.")


def _read(file: int) -> bytes:
    try:
        return os.read(file, _CHUNK_BYTES)
    except BlockingIOError:
        return b""
    except OSError as error:
        raise InputMalformed(f"stdin cannot be read: {error.strerror}.") from None


def may_be_whole(data: bytearray) -> bool:
    """Whether it ends as one JSON object does."""
    return data[-64:].rstrip().endswith(b"}")


def is_whole(data: bytes) -> bool:
    """Whether it is one JSON object."""
    from ferrule.text import strict_json

    try:
        return isinstance(strict_json.loads(data), dict)
    except strict_json.MalformedJSON:
        return False


def _write(file: int, data: bytes, deadline: float, signals: Signals | None) -> bool:
    poll = select.poll()
    poll.register(file, select.POLLOUT)
    if signals:
        signals.settle()  # a signal that came before is what is being answered
        poll.register(signals.file, select.POLLIN)
    rest = memoryview(data)
    while rest:
        left = deadline - time.monotonic()
        ready = [descriptor for descriptor, _ in poll.poll(left * 1000)] if left > 0 else []
        if file not in ready:
            return False
        try:
            rest = rest[os.write(file, rest[:_ATOMIC_BYTES]) :]
        except BlockingIOError:
            continue
        except OSError:
            return False
    return True
