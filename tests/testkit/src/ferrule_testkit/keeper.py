"""Calls that a keeper makes: what stands for the launcher says to it what that says."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ferrule.links import keeper_frames as frames
from ferrule.links.keeper_frames import limits_text
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.machine import Machine

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
        orders = {"tool": tool, "names": changes.pop("names", {}), "provider": "", "translation": {}}
        environ = {**self.machine.environment, **changes.pop("environ", {})}
        facts = {"folder": str(self.machine.work), "umask": 0o022, "is_terminal": False, "limits": limits_text()}
        return frames.Hello(orders=json.dumps(orders).encode(), environ=environ, **{**facts, **changes})

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
            for begin in range(0, len(data), _CHUNK_BYTES):
                caller.send(frames.frame(frames.INPUT, data[begin : begin + _CHUNK_BYTES]))
            caller.send(frames.frame(frames.INPUT_END))
            return caller.answer()

    def stop(self) -> None:
        """End all keepers of the machine."""
        self.ferrule_keep("stop")

    def ferrule_keep(self, *words: str) -> Any:
        """What `ferrule keep WORD… --json` prints, as a program of its own: a keeper goes by its first variables."""
        done = self.machine.ferrule("keep", *words, "--json", close_fds=True)
        assert done.code == 0, done.err
        return done.document


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
        payload = self.expect(frames.ANSWER)
        size = int.from_bytes(payload[1:5], "little")
        document, text = payload[5 : 5 + size], payload[5 + size :]
        return Answer(json.loads(document), text.decode(), payload[0], self.said)
