"""A process that has imported what programs of the project need, and is each of them in a fork of itself.

That saves the start of an interpreter and its imports, which are most of what a short command costs. From the first
line of the program on everything is as in a process of its own: its arguments, its environment, its three streams, its
working directory, its path, and how it ends. What an interpreter does before that line, and what is imported when, is
for tests that start one.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from ferrule_testkit import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

_DESCRIPTORS = 4  # the program's three streams, and where its end is reported
_SET_CHILD_SUBREAPER, _SET_PARENT_DEATH_SIGNAL = 36, 1  # of Linux
_MESSAGE_BYTES = 1 << 20
_BEGIN = "from ferrule_testkit.processes.fork_server import serve; serve({file}, {packages})"
# What decides how an interpreter starts, which is over when a fork begins.
_DECIDED_AT_START = ("PYTHON", "LC_", "LANG", "LD_")
# What commands import in the midst of their work, for a tenth of a second each: to check a schema, to take a digest.
_LIBRARIES = ("jsonschema", "jsonschema_specifications", "rfc8785")
# What modules note of the time at which their process has started.
_STARTS = {
    "ferrule.dispatch": ("_STARTED", time.monotonic),
    "ferrule.links.linked_executables": ("_started", time.time),
}


class Ended(NamedTuple):
    """How a program ended. left: the command lines of processes that it had left behind, which are ended by now."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    left: list[str]


class _Order(TypedDict):
    """What the server is asked to be. entry: `module:function`, called without arguments; argv: of the program."""

    entry: str
    argv: list[str]
    environment: dict[str, str]
    cwd: str


def is_possible(environment: Mapping[str, str]) -> bool:
    """True where nothing in the environment changes how an interpreter starts; PYTHONPATH is followed here, too."""
    usual = {"PYTHONPATH", "LANG"}
    return environment.get("LANG", "C.UTF-8") == "C.UTF-8" and not any(
        name.startswith(_DECIDED_AT_START) for name in environment if name not in usual
    )


def run(
    entry: str,
    argv: Sequence[str],
    stdin: bytes,
    *,
    environment: Mapping[str, str],
    cwd: Path | bytes,
    packages: tuple[str, ...] = ("ferrule",),
) -> Ended:
    """Be a program, and say how it ended. packages: imported before, with all their modules. Raises TimeoutError."""
    sys.audit("ferrule_testkit.program", entry)  # so that whoever counts the starts of programs counts this one, too
    order: _Order = {"entry": entry, "argv": list(argv), "environment": dict(environment), "cwd": os.fsdecode(cwd)}
    return _server(packages).run(order, stdin)


@functools.cache
def _server(packages: tuple[str, ...]) -> _Server:
    return _Server(packages)


class _Server:
    """The caller's side: one process, which ends with the caller's."""

    def __init__(self, packages: tuple[str, ...]) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Each fork has an environment of its own. This one names no folder of the test that happens to be the first.
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        command = [sys.executable, "-P", "-c", _BEGIN.format(file=theirs.fileno(), packages=packages)]
        self._process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        atexit.register(self._end)

    def run(self, order: _Order, stdin: bytes) -> Ended:
        """Have an order carried out, from any thread. The streams are pipes, as a client's are."""
        pipes = [os.pipe() for _ in range(_DESCRIPTORS)]
        theirs = [pipe[0 if number == 0 else 1] for number, pipe in enumerate(pipes)]
        stdin_end, stdout, stderr, report = (pipe[1 if number == 0 else 0] for number, pipe in enumerate(pipes))
        socket.send_fds(self._socket, [json.dumps(order).encode()], theirs)
        for end in theirs:
            os.close(end)
        with os.fdopen(report, "rb") as told:
            try:
                written = _communicate(stdin_end, stdout, stderr, stdin)
            except TimeoutError:
                _server.cache_clear()
                self._end()
                raise
            exit_code, left = json.load(told)
        return Ended(exit_code, *written, left)

    def _end(self) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait()


def _communicate(stdin: int, stdout: int, stderr: int, data: bytes) -> tuple[bytes, bytes]:
    """Write to the one and read from the others until their ends."""
    limit = time.monotonic() + PATIENCE_SECONDS
    read: dict[int, list[bytes]] = {stdout: [], stderr: []}
    with selectors.DefaultSelector() as selector:
        for file in read:
            selector.register(file, selectors.EVENT_READ)
        os.set_blocking(stdin, False)
        selector.register(stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            ready = selector.select(limit - time.monotonic())
            if not ready:
                raise TimeoutError("The program has not ended.")
            for key, _ in ready:
                if key.fd == stdin:
                    data, over = _write(stdin, data)
                else:
                    read[key.fd].append(os.read(key.fd, _MESSAGE_BYTES))
                    over = not read[key.fd][-1]
                if over:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return b"".join(read[stdout]), b"".join(read[stderr])


def _write(file: int, data: bytes) -> tuple[bytes, bool]:
    """What is left to write, and whether nothing more can be; a program may end before it has read all."""
    try:
        rest = data[os.write(file, data) :] if data else b""
    except BrokenPipeError:
        return b"", True
    return rest, not rest


def serve(file: int, packages: Sequence[str]) -> None:
    """Be the server: import, then carry out orders until the caller's end is closed. Returns in a fork, too."""
    _preload(packages)
    gc.collect()
    gc.freeze()  # what is there is not looked through by the collector of a fork, which would copy it
    channel = socket.socket(fileno=file)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which end the server by leaving
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no keeper is waited for
    while True:
        message, files, _, _ = socket.recv_fds(channel, _MESSAGE_BYTES, _DESCRIPTORS)
        if not message:
            return
        if os.fork() == 0:
            channel.close()
            _keep(json.loads(message), *files)
        for descriptor in files:
            os.close(descriptor)


def _keep(order: _Order, stdin: int, stdout: int, stderr: int, report: int) -> None:
    """Start the program in a fork, wait for its end, and report it and what it left. Only the fork returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # whoever outlives its parent comes here
    child = os.fork()
    if child == 0:
        _become(order, (stdin, stdout, stderr))
    signal.signal(signal.SIGTERM, functools.partial(_end_with, child))
    libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    for descriptor in (stdin, stdout, stderr):
        os.close(descriptor)
    _, status = os.waitpid(child, 0)
    os.write(report, json.dumps([os.waitstatus_to_exitcode(status), _end_what_is_left()]).encode())
    os._exit(0)


def _end_what_is_left() -> list[str]:
    """The command lines of all children that still run, which are ended, too."""
    left = []
    for process in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        if os.waitpid(int(process), os.WNOHANG) == (0, 0):
            left.append(_command(int(process)))
            os.kill(int(process), signal.SIGKILL)
            os.waitpid(int(process), 0)
    return left


def _command(process: int) -> str:
    """The command line of a child. For a moment after its start a program has none as yet: whoever started it goes on
    before the kernel has laid out its arguments.
    """
    while not (command := Path(f"/proc/{process}/cmdline").read_bytes()):
        if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break  # it has ended meanwhile
        os.sched_yield()
    return command.replace(b"\0", b" ").decode(errors="replace")


def _end_with(child: int, *_: object) -> NoReturn:
    os.kill(child, signal.SIGKILL)
    os._exit(1)


def _preload(packages: Sequence[str]) -> None:
    for package in packages:
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(getattr(root, "__path__", ()), f"{package}."):
            if not module.name.rpartition(".")[2].startswith("__"):
                importlib.import_module(module.name)
    for library in _LIBRARIES:
        importlib.import_module(library)
    from ferrule.supervision import python_process

    python_process._isolated_path()  # the answer of an interpreter, which is the same for all forks


def _become(order: _Order, files: Sequence[int]) -> None:
    """Be the program, to its end: what it returns or raises is handled as the interpreter does."""
    for target, file in enumerate(files):
        os.dup2(file, target)
    os.closerange(len(files), 1024)
    # As an interpreter opens them where LANG is C.UTF-8.
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115 - as the next two
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115 - it stays open for the process
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 - it stays open for the process
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc] # as in an interpreter
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    os.chdir(order["cwd"])
    sys.argv = order["argv"]
    paths = order["environment"].get("PYTHONPATH", "")
    sys.path[:0] = [os.path.dirname(sys.argv[0]), *filter(None, paths.split(os.pathsep))]
    _forget_the_server()
    module, _, function = order["entry"].partition(":")
    try:
        code = getattr(importlib.import_module(module), function)()
    except SystemExit as end:
        code = end.code
    _end(code)


def _end(code: object) -> NoReturn:
    """End as the interpreter does, up to where it takes its modules apart.

    That would write to all that they have, which the kernel would copy for it first: nine tenths of a short program.
    """
    if code is None or isinstance(code, int):
        threading._shutdown()  # type: ignore[attr-defined] # waits for threads that are no daemons
        atexit._run_exitfuncs()
        # Where a stream is closed, or none, the interpreter says what becomes of that.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
                stream.flush()  # type: ignore[union-attr] # it may be none
            os._exit((code or 0) & 0xFF)
    sys.exit(code)  # type: ignore[arg-type] # whatever a program may exit with


def _forget_the_server() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    for module, (name, clock) in _STARTS.items():
        if loaded := sys.modules.get(module):
            setattr(loaded, name, clock())
