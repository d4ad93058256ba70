"""The process of a browser: started with nothing that it could keep, and ended with all that it has started."""

from __future__ import annotations

import fcntl
import os
import re
import resource
import select
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from ferrule_research.page.browser.connection import Connection

_HEAP_MIB = 384  # of the scripts of a page
# Of memory of its own that the browser may reserve to write to. It starts with 430 to 570.
DATA_MIB = 1_024
# V8 takes an eighth of the limit as the space for its code, and crashes where that is no whole number of pages.
_DATA_STEP_BYTES = 8 * (64 << 10)
_NOWHERE = "http://proxy.invalid:9"
_FEATURES = (
    "IsolateOrigins,site-per-process,MediaRouter,Translate,OptimizationHints,DialMediaRouteProvider,WebTransport"
)
# Nothing leads out of the browser but the pipe: each request goes to a proxy that cannot be, no name is resolved, and
# no datagram is sent. What is not answered over the pipe fails.
_WALLS = (
    f"--proxy-server={_NOWHERE}",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-remote-fonts",
    "--disable-speech-api",
    "--block-new-web-contents",
    "--incognito",  # what a page keeps is in memory, and counts as that
)
_QUIET = (
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    "--disable-extensions",
    "--mute-audio",
    "--hide-scrollbars",
    "--window-size=1280,2000",  # what a page writes once it is seen
    f"--disable-features={_FEATURES}",
    f"--js-flags=--max-old-space-size={_HEAP_MIB}",
)
# The host's rules let a tool make no name space, by which the browser would confine its parts. They hold it instead.
_HELD = ("Seccomp:\t2", "NoNewPrivs:\t1", "CapEff:\t0000000000000000")
_CONFINED = ("--no-sandbox", "--single-process", "--no-zygote")


# How processes end that get no memory, or find themselves in a state that cannot be.
_CRASHES = (signal.SIGTRAP, signal.SIGILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)
_LACK_OF_MEMORY = re.compile(rb"OOM|pthread_create")  # in its messages: for its scripts, or for a thread
# A browser that ends with more than this has been refused more: a page of the usual kind takes 220 to 300.
_FULL_MIB = 500
_END_SECONDS = 1.0  # until a process that has closed its pipe is gone
_PIECE_BYTES = 64 << 10
_NUMBER_BYTES = 16  # of an error, as text
_REASON_CHARS = 200
_MESSAGE_HEAD = re.compile(r"\[[\d:/.]+:(\w+):[^\]]*\] ")
_SERIOUS = ("FATAL", "ERROR")
_NOISE = "dbus"


class Browser:
    """A browser that runs. connection: what it is spoken to by.

    Args:
        process: its number, which is also that of its group.
        errors: a descriptor from which its messages of errors are read, and which this closes.
    """

    def __init__(self, process: int, connection: Connection, errors: int) -> None:
        self.connection = connection
        self._process, self._errors = process, errors
        self._status: int | None = None
        self.most_mib = 0
        """Of memory that it has had at once, known once it has ended; 0 where it is not known."""
        # The kernel counts what the copy of this process had before it became the browser.
        self._own_most_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def explain_end(self) -> str:
        """Why it has closed its pipe, as the end of a sentence that begins with "the browser"."""
        words = self._read_errors()
        if words is None:
            return "said what no browser says"
        self.end()
        if not self.connection.has_heard:
            return f"could not be started: {self._find_reason(words.decode(errors='replace'))}"
        is_full = not self.most_mib or self.most_mib >= _FULL_MIB
        if _LACK_OF_MEMORY.search(words) or (self._has_crashed() and is_full):
            return f"has ended, because the page wanted more memory than it may have ({DATA_MIB:,} MiB)"
        return f"has crashed ({self._describe_status()}), with {self.most_mib:,} of {DATA_MIB:,} MiB of memory in use"

    def end(self) -> None:
        """Kill it with all that it has started."""
        if self._status is not None:
            return
        try:
            os.killpg(self._process, signal.SIGKILL)
        except OSError:
            os.kill(self._process, signal.SIGKILL)
        _, self._status, usage = os.wait4(self._process, 0)
        self.most_mib = usage.ru_maxrss >> 10 if usage.ru_maxrss > self._own_most_kib else 0
        os.close(self._errors)

    def _read_errors(self) -> bytes | None:
        """What it has said of errors until its end; None where it goes on."""
        words = b""
        until = time.monotonic() + _END_SECONDS
        while select.select([self._errors], [], [], max(0.0, until - time.monotonic()))[0]:
            piece = os.read(self._errors, _PIECE_BYTES)
            if not piece:
                return words
            words = (words + piece)[-_PIECE_BYTES:]
        return None

    def _find_reason(self, words: str) -> str:
        """The gravest of its messages, else the last one, else how it has ended."""
        lines = [line.strip() for line in words.splitlines() if line.strip() and _NOISE not in line]
        for level in _SERIOUS:
            lines = [line for line in lines if f":{level}:" in line] or lines
        text = _MESSAGE_HEAD.sub("", lines[-1]) if lines else self._describe_status()
        return "".join(char for char in text if char.isprintable())[:_REASON_CHARS]

    def _has_crashed(self) -> bool:
        return self._status is not None and os.WIFSIGNALED(self._status) and os.WTERMSIG(self._status) in _CRASHES

    def _describe_status(self) -> str:
        code = os.waitstatus_to_exitcode(self._status or 0)
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


@contextmanager
def run_browser(program: str, wake: int, until: float) -> Iterator[Browser]:
    """A browser for one page. Raises OSError where the program cannot be started.

    Args:
        program: the path of a headless Chromium.
        wake: a descriptor that ends waiting.
        until: an instant of `time.monotonic()`, after which nothing more is sent.
    """
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as folder:
        process, to_read, to_write, errors = _start(program, folder)
        connection = Connection(to_read, to_write, wake, until)
        browser = Browser(process, connection, errors)
        try:
            yield browser
        finally:
            connection.close()
            browser.end()


def _start(program: str, folder: str) -> tuple[int, int, int, int]:
    """Start the program; its number, and the descriptors to read from it, to write to it, and to read its errors."""
    to_browser, to_write = os.pipe()
    to_read, from_browser = os.pipe()
    errors, of_errors = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)  # what nobody reads does not keep the browser
    held = _CONFINED if is_confined() else ()
    arguments = [program, *_WALLS, *_QUIET, *held, f"--user-data-dir={folder}", "about:blank"]
    environment = {"HOME": folder, "TMPDIR": folder, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        ends = {0: nothing, 1: nothing, 2: of_errors, 3: to_browser, 4: from_browser}
        process = _spawn(program, arguments, environment, ends)
    except OSError:
        for file in (to_write, to_read, errors):
            os.close(file)
        raise
    finally:
        for file in (nothing, to_browser, from_browser, of_errors):
            os.close(file)
    return process, to_read, to_write, errors


def _spawn(program: str, arguments: list[str], environment: dict[str, str], ends: Mapping[int, int]) -> int:
    """Start a program in a group of its own, below a limit of data; its number.

    The limit is set between fork and exec: this process itself may have more data than that, and then it could start
    nothing below such a limit. Raises OSError, also where the program cannot be executed.

    Args:
        ends: its descriptors, by number.
    """
    failure, of_child = os.pipe2(os.O_CLOEXEC)
    try:
        process = os.fork()
        if process == 0:
            _execute(program, arguments, environment, ends, of_child)
    finally:
        os.close(of_child)
    try:
        number = os.read(failure, _NUMBER_BYTES)  # nothing, once the program is executed
    finally:
        os.close(failure)
    if number:
        os.waitpid(process, 0)
        raise OSError(int(number), os.strerror(int(number)))
    return process


def _execute(
    program: str, arguments: list[str], environment: dict[str, str], ends: Mapping[int, int], of_child: int
) -> NoReturn:
    """In the child: become the program, or say by which number of an error it cannot."""
    try:
        os.setpgid(0, 0)
        for end, source in {
            end: fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, 16) for end, source in ends.items()
        }.items():
            os.dup2(source, end)
        limit_data()
        os.execve(program, arguments, environment)  # noqa: S606 - a shell has nothing to do here
    except OSError as error:
        os.write(of_child, str(error.errno or 1).encode())
    finally:
        os._exit(127)


def limit_data() -> None:
    """Give this process, and so the program that it becomes, a limit of data of a size that V8 takes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    least = min(limit for limit in (soft, hard, DATA_MIB << 20) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (least - least % _DATA_STEP_BYTES, hard))


def is_confined() -> bool:
    """Whether the kernel holds this process as ferrule has it hold a call: a filter, no new privileges, no capability.

    A container can do the same for an ordinary user; Chromium makes no name spaces there, either.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return False
    return all(f"\n{line}" in status for line in _HELD)
