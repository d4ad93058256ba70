"""A call of a tool's executable in a fork of this process, which saves the start of an interpreter and its imports.

From the first line of `ferrule.dispatch` on everything is as it is in an executable: the environment, the three
streams, the working directory, the supervised child, and the end by os._exit. What an interpreter does before that
line, and what is imported when, is for tests that start one.
"""

import functools
import importlib
import os
import pkgutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn


class Ended(NamedTuple):
    """How a call ended."""

    exit_code: int
    stdout: bytes
    stderr: bytes


def is_possible() -> bool:
    """Whether a fork has all that it needs: no other thread of the tests may hold a lock at that moment."""
    return threading.current_thread() is threading.main_thread() and not _own_threads()


def call(plugin: str, tool: str, arguments: bytes, *, environment: Mapping[str, str], cwd: Path) -> Ended:
    """Be the executable of a tool in a child, with these arguments on stdin, and say how it ended.

    plugin: the package of the tool. tool: as it is named in its schema.
    """
    _preload(plugin)
    streams = [os.pipe() for _ in range(3)]
    with warnings.catch_warnings():
        # Another thread may hold a lock, is meant: the one there is belongs to xdist, of which the child has no use.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _be(tool, [streams[0][0], streams[1][1], streams[2][1]], environment, cwd)
    for end in (streams[0][0], streams[1][1], streams[2][1]):
        os.close(end)
    try:
        with os.fdopen(streams[0][1], "wb", buffering=0) as stdin:
            while arguments:
                arguments = arguments[stdin.write(arguments) :]
    except BrokenPipeError:
        pass  # it has ended before it had read all, and says why
    with os.fdopen(streams[1][0], "rb") as stdout, os.fdopen(streams[2][0], "rb") as stderr:
        written = stdout.read(), stderr.read()
    return Ended(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), *written)


@functools.cache
def _preload(plugin: str) -> None:
    """Import here, once, what every child would have to import."""
    for package in ("ferrule", plugin):
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            if package != "ferrule" or (not module.ispkg and module.name.count(".") == 1 and "__" not in module.name):
                importlib.import_module(module.name)


def _be(tool: str, streams: list[int], environment: Mapping[str, str], cwd: Path) -> NoReturn:
    try:
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        os.closerange(3, 4096)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - as long as the process
        _forget_the_tests()
        os.environ.clear()
        # The limit counts what the process had before it was a tool's, which here is all that the tests have.
        os.environ.update({"FERRULE_MEMORY": "32768", **environment})
        time.tzset()
        os.chdir(cwd)
        from ferrule import dispatch

        dispatch._STARTED = time.monotonic()
        dispatch.run(tool, [], {})
    finally:
        os._exit(99)


def _forget_the_tests() -> None:
    """Have warnings and signals treated as an interpreter does that has just been started."""
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    sys.unraisablehook = sys.__unraisablehook__
    threading.excepthook = threading.__excepthook__
    sys.excepthook = sys.__excepthook__
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _own_threads() -> list[threading.Thread]:
    """The threads that tests have started; that of xdist is none of `threading`'s."""
    return [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
