"""The name server of a call whose network is a list of hosts: it knows these, and asks the real one for no other.

A name that is looked up reaches whoever owns it, so a name server carries out what is written into names. Here the
call's datagram socket is connected to a socket of the supervising process instead of the server. The relay writes each
question anew from the declared name and a known type, so that nothing else of the call's goes out with it.
"""

from __future__ import annotations

import os
from _socket import AF_INET, AF_INET6, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_STREAM, socket
from _struct import Struct  # struct is but its name
from _thread import start_new_thread

from ferrule.confinement.broker import sockets
from ferrule.confinement.refused_network import as_address

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    AllowsName = Callable[[str], bool]
    Deny = Callable[[str, str], None]

PORT = 53
_header, _kind = Struct(">HHHHHH"), Struct(">HH")
_RESPONSE, _OPCODE, _CUT_OFF, _RECURSION_WANTED, _RECURSION_OFFERED = 0x8000, 0x7800, 0x0200, 0x0100, 0x0080
_NO_SUCH_NAME = 3
_INTERNET_CLASS = 1
_TYPES = (1, 5, 28, 64, 65)  # A, CNAME, AAAA, SVCB, HTTPS: what it takes to connect to a host
_MAX_QUESTION_BYTES, _MAX_ANSWER_BYTES = 512, 1 << 16
_MAX_QUESTIONS = 500  # in one call
_MAX_WAITING = 64  # questions without an answer; the oldest is given up
_MAX_AT_ONCE = 16  # messages, until the supervising process looks after its deadlines again
_TCP_SECONDS = 5.0
_MAPPED_LOOPBACK = b"\0" * 10 + b"\xff\xff" + b"\x7f\0\0\1"


class Question:
    """What is asked.

    Args:
        name: in small letters, without the dot at its end.
        wire: name, type and class as written.
    """

    __slots__ = ("identity", "kind", "name", "wire")

    def __init__(self, identity: int, name: str, kind: int, wire: bytes) -> None:
        self.identity = identity
        self.name = name
        self.kind = kind
        self.wire = wire

    @classmethod
    def read(cls, message: bytes) -> Question | None:
        """The question of a message; None where it is none, or has several."""
        if not _header.size < len(message) <= _MAX_QUESTION_BYTES:
            return None
        identity, flags, count = _header.unpack_from(message)[:3]
        if flags & (_RESPONSE | _OPCODE) or count != 1:
            return None
        labels, end = _read_labels(message, _header.size)
        if labels is None or end + _kind.size > len(message):
            return None
        kind, group = _kind.unpack_from(message, end)
        name = b".".join(labels).decode("ascii", "backslashreplace").lower()
        return cls(identity, name, kind, message[_header.size : end + _kind.size]) if group == _INTERNET_CLASS else None

    def rewritten(self, identity: int) -> bytes:
        """The same question as the relay asks it: in small letters, since large ones could stand for something."""
        return _header.pack(identity, _RECURSION_WANTED, 1, 0, 0, 0) + self.wire.lower()[:-4] + self.wire[-4:]

    def answered(self, answer: bytes) -> bytes:
        """The server's answer as one to the question as it was asked."""
        return self.identity.to_bytes(2, "big") + answer[2 : _header.size] + self.wire + answer[self._end :]

    def refused(self, code: int) -> bytes:
        """An answer without addresses."""
        flags = _RESPONSE | _RECURSION_WANTED | _RECURSION_OFFERED | code
        return _header.pack(self.identity, flags, 1, 0, 0, 0) + self.wire

    def is_answered_by(self, answer: bytes) -> bool:
        """Whether an answer repeats the question, as it must."""
        return answer[_header.size : self._end].lower() == self.wire.lower()

    @property
    def _end(self) -> int:
        return _header.size + len(self.wire)


class NameRelay:
    """Answers one call's questions to one name server. files: what a poll waits for; then call `relay` or `answer`.

    Raises OSError where there can be no further socket.
    """

    def __init__(self, server: str, allows: AllowsName, deny: Deny) -> None:
        """server: its IP address. allows: whether a name may be looked up. deny: is told what was refused."""
        self._allows = allows
        self._deny = deny
        self._server = server, PORT
        self._family = AF_INET6 if ":" in server else AF_INET
        self._own = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK)
        self._upstream = socket(self._family, SOCK_DGRAM | SOCK_NONBLOCK)
        self._own.bind(("127.0.0.1", 0))
        self._upstream.connect(self._server)
        self._port: int = self._own.getsockname()[1]
        self._waiting: dict[int, tuple[Question, tuple[str, int]]] = {}
        self._left = _MAX_QUESTIONS
        self.files = {self._own.fileno(): self.relay, self._upstream.fileno(): self.answer}

    def address(self, family: int) -> bytes:
        """Where a socket of a family reaches it, as the kernel takes an address."""
        port = self._port.to_bytes(2, "big")
        if family == sockets.INET:
            return family.to_bytes(2, "little") + port + _MAPPED_LOOPBACK[-4:] + bytes(8)
        return family.to_bytes(2, "little") + port + bytes(4) + _MAPPED_LOOPBACK + bytes(4)

    def begin(self) -> None:
        """Another call begins."""
        self._left = _MAX_QUESTIONS

    def relay(self) -> None:
        """Take questions of the call, and ask those that may be asked."""
        for _ in range(_MAX_AT_ONCE):
            try:
                message, client = self._own.recvfrom(_MAX_QUESTION_BYTES + 1)
            except OSError:
                return
            question = Question.read(message)
            if question is not None:
                self._take(question, client)

    def answer(self) -> None:
        """Hand the server's answers on."""
        for _ in range(_MAX_AT_ONCE):
            try:
                message = self._upstream.recv(_MAX_ANSWER_BYTES)
            except OSError:
                return
            waiting = self._waiting.get(int.from_bytes(message[:2], "big"))
            if waiting is None or not waiting[0].is_answered_by(message):
                continue
            del self._waiting[int.from_bytes(message[:2], "big")]
            if message[2] << 8 & _CUT_OFF:
                self._ask_by_tcp(*waiting)
            else:
                self._send(waiting[0].answered(message), waiting[1])

    def close(self) -> None:
        """Ask nothing more."""
        self._own.close()
        self._upstream.close()

    def _take(self, question: Question, client: tuple[str, int]) -> None:
        if not self._allows(question.name) or self._left <= 0:
            self._deny("connect", as_address(question.name, None) or "a name that no host has")
            self._send(question.refused(_NO_SUCH_NAME), client)
        elif question.kind not in _TYPES:
            self._send(question.refused(0), client)
        else:
            self._left -= 1
            self._ask(question, client)

    def _ask(self, question: Question, client: tuple[str, int]) -> None:
        identity = int.from_bytes(os.urandom(2), "big")
        self._waiting[identity] = question, client
        if len(self._waiting) > _MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]
        try:
            self._upstream.send(question.rewritten(identity))
        except OSError:
            return  # as a server that does not answer; the call asks again

    def _ask_by_tcp(self, question: Question, client: tuple[str, int]) -> None:
        """Ask for an answer that is too long for a datagram to the server, but not for one to the call."""
        own = socket(fileno=os.dup(self._own.fileno()))

        def ask() -> None:
            try:
                own.sendto(question.answered(_ask_by_tcp(self._family, self._server, question)), client)
            except OSError:
                return
            finally:
                own.close()

        try:
            start_new_thread(ask, ())
        except RuntimeError:
            own.close()

    def _send(self, message: bytes, client: tuple[str, int]) -> None:
        try:
            self._own.sendto(message, client)
        except OSError:
            return  # the call has closed its socket


def _ask_by_tcp(family: int, server: tuple[str, int], question: Question) -> bytes:
    from socket import socket as connected_socket

    with connected_socket(family, SOCK_STREAM) as connection:
        connection.settimeout(_TCP_SECONDS)
        connection.connect(server)
        message = question.rewritten(int.from_bytes(os.urandom(2), "big"))
        connection.sendall(len(message).to_bytes(2, "big") + message)
        with connection.makefile("rb") as stream:
            answer = stream.read(int.from_bytes(stream.read(2), "big"))
    if answer[:2] != message[:2] or not question.is_answered_by(answer):
        raise OSError("no answer to this question")
    return answer


def _read_labels(message: bytes, start: int) -> tuple[list[bytes] | None, int]:
    """The labels of a name, and where it ends; None for one that points elsewhere, or does not end."""
    labels: list[bytes] = []
    while start < len(message):
        size = message[start]
        start += 1
        if not size:
            return labels, start
        if size > 63:
            break
        labels.append(message[start : start + size])
        start += size
    return None, start
