"""A keeper for tests of launchers, which makes no call: it says what a test has it say, and shows what it was sent."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

_BASE = (
    *("HOME", "PATH", "TMPDIR", "TEMP", "TMP", "LANG", "LANGUAGE", "TZ", "TZDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "IKIGAI_CONFIG_DIR"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD"),
)
_BEGINNINGS = ("LC_", "FERRULE_", "PYTHON", "LD_", "MALLOC_", "GLIBC_")
_OF_A_CALL = ("FERRULE_EXIT_ZERO", "FERRULE_DEADLINE", "FERRULE_CALLER")
_HEAD_BYTES = 5


class Frame(NamedTuple):
    """One frame. type: its letter."""

    type: str
    payload: bytes = b""

    def pack(self) -> bytes:
        """Its bytes."""
        return self.type.encode() + len(self.payload).to_bytes(4, "little") + self.payload


class KeeperLeft(Exception):
    """The launcher has closed the connection."""


class Conversation:
    """One connection, from the keeper's side."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def receive(self) -> Frame:
        """The next frame. Raises KeeperLeft at the end."""
        head = self._read(_HEAD_BYTES)
        return Frame(chr(head[0]), self._read(int.from_bytes(head[1:], "little")))

    def receive_fields(self) -> list[bytes]:
        """The fields of the hello."""
        kind, payload = self.receive()
        assert kind == "H"
        fields, at = [], 0
        while at < len(payload):
            size = int.from_bytes(payload[at : at + 4], "little")
            fields.append(payload[at + 4 : at + 4 + size])
            at += 4 + size
        return fields

    def receive_input(self) -> bytes:
        """Stdin, to its end."""
        data = b""
        while (frame := self.receive()).type != "E":
            if frame.type == "D":
                data += frame.payload
        return data

    def receive_until(self, kind: str) -> Frame:
        """The next frame of a type; each question is answered meanwhile."""
        while (frame := self.receive()).type != kind:
            if frame.type == "P":
                self.send("Q")
        return frame

    def send(self, kind: str, payload: bytes = b"") -> None:
        """Send a frame."""
        self.connection.sendall(Frame(kind, payload).pack())

    def send_answer(self, document: bytes, text: bytes = b"", code: int = 0) -> None:
        """Send the answer of a call."""
        self.send("O", pack_answer(document, text, code))

    def wait_for_end(self) -> None:
        """Read until the launcher has closed the connection."""
        while self.connection.recv(65_536):
            pass

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.connection.recv(size - len(data))
            if not piece:
                raise KeeperLeft
            data += piece
        return data


def pack_answer(document: bytes, text: bytes = b"", code: int = 0) -> bytes:
    """The payload of an answer."""
    return bytes([code]) + len(document).to_bytes(4, "little") + document + text


def hash_environment(environment: Mapping[str, str]) -> str:
    """What stands for the base variables in the name of the socket."""
    total = 0
    for name, value in environment.items():
        is_base = name in _BASE or name.startswith(_BEGINNINGS) or name.lower().endswith("_proxy")
        if is_base and name not in _OF_A_CALL:
            number = 0xCBF29CE484222325
            for byte in os.fsencode(f"{name}={value}"):
                number = (number ^ byte) * 0x100000001B3 % 2**64
            total += number
    return f"{total % 2**64:016x}"


def place_socket(runtime: Path, installation: str, environment: Mapping[str, str]) -> Path:
    """Where the socket belongs; its folder is made."""
    folder = runtime / "ferrule"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"keep-{installation}-{hash_environment(environment)}.sock"


@contextmanager
def keep(path: Path, behave: Callable[[Conversation], None], *, calls: int = 1) -> Iterator[list[BaseException]]:
    """Behave so to each connection, in a thread each; what went wrong in them is raised at the end.

    calls: after which no more are taken.
    """
    problems: list[BaseException] = []
    threads: list[threading.Thread] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        path.chmod(0o600)
        listening.listen(64)
        accepting = threading.Thread(target=_accept, args=(listening, behave, problems, threads, calls))
        accepting.start()
        try:
            yield problems
        finally:
            listening.shutdown(socket.SHUT_RDWR)  # nobody else comes
            accepting.join()
        for thread in threads:
            thread.join()
    path.unlink()
    for problem in problems:
        raise problem


def _accept(
    listening: socket.socket,
    behave: Callable[[Conversation], None],
    problems: list[BaseException],
    threads: list[threading.Thread],
    calls: int,
) -> None:
    """Take the connections.

    Args:
        listening: the socket.
        behave: what each thread does.
        problems: what went wrong.
        threads: those that were started.
        calls: after which there are no more.
    """
    for _ in range(calls):
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        thread = threading.Thread(target=_talk, args=(connection, behave, problems))
        threads.append(thread)
        thread.start()


def _talk(connection: socket.socket, behave: Callable[[Conversation], None], problems: list[BaseException]) -> None:
    with connection:
        try:
            behave(Conversation(connection))
        except (BrokenPipeError, ConnectionResetError, KeeperLeft):
            pass  # the launcher has seen enough
        except BaseException as problem:
            problems.append(problem)
