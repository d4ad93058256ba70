"""The process of a browser: started with nothing that it could keep, and ended with all that it has started."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ferrule_research.page.browser.connection import Connection

_HEAP_MIB = 384  # of the scripts of a page
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


@contextmanager
def run_browser(program: str, wake: int, until: float) -> Iterator[Connection]:
    """A browser for one page, and the connection to it. Raises OSError where the program cannot be started.

    Args:
        program: the path of a headless Chromium.
        wake: a descriptor that ends waiting.
        until: an instant of `time.monotonic()`, after which nothing more is sent.
    """
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as folder:
        process, to_read, to_write = _start(program, folder)
        connection = Connection(to_read, to_write, wake, until)
        try:
            yield connection
        finally:
            connection.close()
            _end(process)


def _start(program: str, folder: str) -> tuple[int, int, int]:
    """Start the program; returns its number, and the descriptors to read from it and to write to it."""
    to_browser, to_write = os.pipe()
    to_read, from_browser = os.pipe()
    held = _CONFINED if is_confined() else ()
    arguments = [program, *_WALLS, *_QUIET, *held, f"--user-data-dir={folder}", "about:blank"]
    environment = {"HOME": folder, "TMPDIR": folder, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    ends = [(os.POSIX_SPAWN_DUP2, to_browser, 3), (os.POSIX_SPAWN_DUP2, from_browser, 4)]
    try:
        process = os.posix_spawn(program, arguments, environment, file_actions=[*nothing, *ends], setpgroup=0)
    except OSError:
        os.close(to_write)
        os.close(to_read)
        raise
    finally:
        os.close(to_browser)
        os.close(from_browser)
    return process, to_read, to_write


def is_confined() -> bool:
    """Whether the kernel holds this process as ferrule has it hold a call: a filter, no new privileges, no capability.

    A container can do the same for an ordinary user; Chromium makes no name spaces there, either.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return False
    return all(f"\n{line}" in status for line in _HELD)


def _end(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except OSError:
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
