"""Calls that a keeper makes: what stands for the launcher says to it what that says."""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ferrule.calls.keeper.client import KeeperState, find_keepers, stop_keeper
from ferrule.links import keeper_frames as frames
from ferrule.links.keeper_frames import limits_text
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.machine import Machine
from ferrule_testkit.runs import Run, wait_for

WITHOUT_LAUNCHER = (
    "the launcher is not installed: there was no C compiler, which scripts/install-system-packages brings"
)
_CHUNK_BYTES = 1 << 16


class Answer(NamedTuple):
    """What a call wrote, and its exit code. frames: all that the keeper has said, by their letters."""

    document: Any
    stderr: str
    exit_code: int
    frames: bytes


class Refused(Exception):
    """The keeper does not take the call. The text is its reason."""


class KeptMachine:
    """A machine whose tools are kept, with a keeper that runs."""

    def __init__(self, machine: Machine, runtime: Path, table: str = 'tools = ["*"]') -> None:
        self.machine = machine
        runtime.mkdir(mode=0o700)
        machine.environment["XDG_RUNTIME_DIR"] = str(runtime)
        self.runtime = runtime
        self.configure(f"[keep]\n{table}\n")

    def configure(self, content: str) -> None:
        """Write config.toml."""
        path = self.machine.home / ".config" / "ferrule" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def start(self) -> int:
        """Start a keeper; its process."""
        state = self.ferrule_keep("start")
        self.path: str = state["socket"]
        return int(state["process"])

    def connect(self) -> socket.socket:
        """A line to the keeper."""
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(PATIENCE_SECONDS)
        line.connect(self.path)
        return line

    def hello(self, tool: str, **changes: Any) -> frames.Hello:
        """What a caller says of itself, in the working folder of the machine."""
        environ = {**self.machine.environment, **changes.pop("environ", {})}
        return greet(tool, environ, changes.pop("folder", str(self.machine.work)), **changes)

    @contextmanager
    def begun(self, tool: str, **changes: Any) -> Iterator["Caller"]:
        """A call that the keeper has accepted. Raises Refused."""
        with self.connect() as line:
            caller = Caller(line)
            caller.send(frames.hello_frame(self.hello(tool, **changes)))
            caller.expect(frames.ACCEPTED)
            yield caller

    def call(self, tool: str, arguments: Mapping[str, Any] | bytes, **changes: Any) -> Answer:
        """Make a call from its beginning to its end. Raises Refused."""
        data = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
        with self.begun(tool, **changes) as caller:
            caller.send_input(data)
            return caller.answer()

    def stop(self) -> None:
        """End all keepers of the machine."""
        for state in keepers_of(self.machine.environment):
            stop_keeper(state)

    def close(self) -> None:
        """End all keepers of the machine, those that are about to start, too."""
        self.configure("[keep]\nseconds = 0\n")
        wait_for(self._is_without_keepers)

    def _is_without_keepers(self) -> bool:
        self.stop()
        return not processes_that_name(self.runtime)

    def ferrule_keep(self, *words: str) -> Any:
        """What `ferrule keep WORD… --json` prints, as a program of its own: a keeper goes by its first variables.

        Keepers in other folders, which are none of the test's, are left out.
        """
        done = self.machine.ferrule("keep", *words, "--json", close_fds=True)
        assert done.code == 0, done.err
        document = done.document
        if "keepers" in document:
            document["keepers"] = [one for one in document["keepers"] if one["socket"].startswith(str(self.runtime))]
        return document


class LinkedMachine:
    """A kept machine, and executables of its tools."""

    def __init__(self, kept: KeptMachine) -> None:
        self.kept = kept
        self.environment = kept.machine.environment

    def install(self, name: str, **facts: Any) -> Path:
        """Install a tool, and link it. The executable."""
        self.kept.machine.install(name, **facts)
        done = self.kept.machine.ferrule("link", name)
        assert done.code == 0, done.err
        return self.kept.machine.tools / f"{name.replace('_', '-')}-tool"

    def start(self, executable: Path, stdin: bytes = b"{}", **options: Any) -> "subprocess.Popen[bytes]":
        """Start an executable, and give it all of its input."""
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        given: dict[str, Any] = {"env": self.environment, "cwd": self.kept.machine.work, **pipes, **options}
        process = subprocess.Popen([executable], **given)
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        process.stdin = None  # which `communicate` would write to
        return process

    def run(self, executable: Path, stdin: bytes = b"{}", *, before: Sequence[str] = (), **environ: str) -> Run:
        """Run an executable to its end. before: the words of a program that starts it.

        It has no mark in its variables: a tool that was loaded with other ones is loaded again.
        """
        done = subprocess.run(
            [*before, executable],
            input=stdin,
            capture_output=True,
            env={**self.environment, **environ},
            cwd=self.kept.machine.work,
        )
        return Run(done.returncode, done.stdout, done.stderr, [])

    def calls(self) -> int:
        """How many calls keepers of this environment have made that run now."""
        return sum(one.facts["calls"] for one in keepers_of(self.environment) if one.facts)


class Family(NamedTuple):
    """The processes of a keeper. guard: waits for the end of the others. plugins: one for each loaded tool."""

    guard: int
    keeper: int
    zygote: int
    plugins: list[int]

    @classmethod
    def of(cls, keeper: int) -> "Family":
        """Of a running keeper. The zygote is the first that it has forked."""
        zygote, *others = sorted(children_of(keeper), key=_started)
        return cls(parent_of(keeper), keeper, zygote, others)

    def members(self) -> list[int]:
        """All of them."""
        return [self.guard, self.keeper, self.zygote, *self.plugins]


class Caller:
    """One end of a line to a keeper. said: the letters of what the keeper has said."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.said = b""
        self._reader = frames.FrameReader()
        self._waiting: list[tuple[bytes, bytes]] = []

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self.line.sendall(data)

    def send_input(self, data: bytes) -> None:
        """Send all of the input, and its end."""
        for begin in range(0, len(data), _CHUNK_BYTES):
            self.send(frames.frame(frames.INPUT, data[begin : begin + _CHUNK_BYTES]))
        self.send(frames.frame(frames.INPUT_END))

    def expect(self, kind: bytes) -> bytes:
        """Wait for a frame of this kind, past others; what it holds. Raises Refused, and EOFError at the end."""
        while True:
            while self._waiting:
                letter, payload = self._waiting.pop(0)
                self.said += letter
                if letter == kind:
                    return payload
                if letter == frames.REFUSED:
                    raise Refused(payload.decode())
            data = self.line.recv(_CHUNK_BYTES)
            if not data:
                raise EOFError(self.said)
            self._waiting += self._reader.feed(data)

    def answer(self) -> Answer:
        """Wait for the answer."""
        code, document, text = _split_answer(self.expect(frames.ANSWER))
        return Answer(json.loads(document), text.decode(), code, self.said)


def keepers_of(environ: Mapping[str, str]) -> list[KeeperState]:
    """The keepers in the runtime folder that these variables name. There may be other ones of this user."""
    return [one for one in find_keepers(environ) if one.path.startswith(environ["XDG_RUNTIME_DIR"])]


class Started:
    """A keeper of this environment that `ferrule keep start` has started. path: of its socket."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        limit = time.monotonic() + PATIENCE_SECONDS
        command = [sys.executable, "-P", "-m", "ferrule", "keep", "start", "--json"]
        while (done := subprocess.run(command, env=environ, stdout=subprocess.PIPE)).returncode:
            assert time.monotonic() < limit  # a busy machine does not start it within ten seconds
        state = json.loads(done.stdout)
        self.path: str = state["socket"]
        self.process: int = state["process"]
        self._handle = os.pidfd_open(self.process)

    def has_ended(self) -> bool:
        """Whether its process is no more."""
        return bool(select.select([self._handle], [], [], 0)[0])

    def stop(self) -> None:
        """End it."""
        for state in keepers_of(self._environ):
            stop_keeper(state)
        self.close()

    def close(self) -> None:
        """Look at it no more."""
        os.close(self._handle)


class KeptHome:
    """A home whose tools are kept, with one keeper for many tests. environment: of its callers."""

    def __init__(self, executable: Path, arguments: bytes, environ: Mapping[str, str]) -> None:
        """executable: linked, with arguments for it: its calls start the keeper. environ: besides the usual ones."""
        self._folder = Path(tempfile.mkdtemp(prefix="f-"))  # a short path, as a socket has to have
        home, runtime = self._folder / "home", self._folder / "run"
        runtime.mkdir(mode=0o700)
        self._config = home / ".config/ferrule/config.toml"
        self._config.parent.mkdir(parents=True)
        self._config.write_text('[keep]\ntools = ["*"]\n')
        plain = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime)}
        self.environment = {**plain, **environ}
        self._first = executable, arguments
        self._process = 0

    def renew(self) -> None:
        """Have a keeper, which a call starts where there is none."""
        executable, arguments = self._first
        if self._process not in (states := self._states()):
            subprocess.run([executable], input=arguments, env=self.environment, stdout=subprocess.PIPE, check=True)
            wait_for(lambda: any(one.facts for one in self._states().values()))
            (self._process,) = self._states().keys() - states.keys()

    def calls(self) -> int:
        """How many calls the keeper has made."""
        facts = self._states()[self._process].facts
        return int(facts["calls"]) if facts else 0

    def end_others(self) -> None:
        """End keepers that calls have started which had other variables."""
        for process, state in self._states().items():
            if process != self._process:
                stop_keeper(state)

    def close(self) -> None:
        """End all keepers, those that are about to start, too."""
        self._config.write_text("[keep]\nseconds = 0\n")
        for state in self._states().values():
            stop_keeper(state)
        wait_for(lambda: not processes_that_name(self._folder))
        shutil.rmtree(self._folder)

    def _states(self) -> dict[int, KeeperState]:
        return {one.process: one for one in keepers_of(self.environment)}


def greet(tool: str, environ: dict[str, str], folder: str, **changes: Any) -> frames.Hello:
    """What a caller says of itself."""
    orders = {"tool": tool, "names": changes.pop("names", {}), "provider": "", "translation": {}}
    facts = {"folder": folder, "umask": 0o022, "is_terminal": False, "limits": limits_text()}
    return frames.Hello(orders=json.dumps(orders).encode(), environ=environ, **{**facts, **changes})


def call_keeper(
    path: str, tool: str, data: bytes, environ: dict[str, str], folder: str, *, seconds: float = PATIENCE_SECONDS
) -> tuple[int, bytes, bytes]:
    """Make a call by the keeper that listens at a path: its exit code, the document, and what goes to stderr.

    Args:
        path: of the socket.
        tool: by its own name.
        data: the input.
        environ: all variables of the caller.
        folder: its working folder.
        seconds: for which each frame is waited.

    Raises:
        Refused: the keeper does not take the call.
        OSError, EOFError: it is lost.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(seconds)
        line.connect(path)
        caller = Caller(line)
        caller.send(frames.hello_frame(greet(tool, environ, folder)))
        caller.expect(frames.ACCEPTED)
        caller.send_input(data)
        return _split_answer(caller.expect(frames.ANSWER))


def children_of(process: int) -> list[int]:
    """The children of a process, which has one thread."""
    return [int(one) for one in _read_what_is_there(Path(f"/proc/{process}/task/{process}/children")).split()]


def parent_of(process: int) -> int:
    """The parent of a process."""
    return int(_stat(process)[1])


def _started(process: int) -> int:
    return int(_stat(process)[19])


def _stat(process: int) -> list[bytes]:
    return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()


def processes_that_name(folder: Path) -> list[Path]:
    """The variables of the processes in which one has this folder."""
    named = os.fsencode(folder)
    return [path for path in Path("/proc").glob("[0-9]*/environ") if named in _read_what_is_there(path)]


def _read_what_is_there(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # of a process that has ended, or of another user


def _split_answer(payload: bytes) -> tuple[int, bytes, bytes]:
    size = int.from_bytes(payload[1:5], "little")
    return payload[0], payload[5 : 5 + size], payload[5 + size :]
