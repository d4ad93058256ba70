"""A name server on loopback, and the commands that see it as the only one of the machine."""

from __future__ import annotations

import os
import socket
import socketserver
import struct
import threading
from itertools import cycle
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_HEADER = struct.Struct(">HHHHHH")
_ANSWER, _CUT_OFF, _NO_SUCH_NAME = 0x8180, 0x0200, 3
_ADDRESS, _IN = 1, 1
_DATAGRAM_BYTES = 512
_numbers = cycle(range(53, 250))


class NameServer:
    """Knows the IPv4 addresses of some names. questions: all messages that have come, as they were."""

    def __init__(self, addresses: Mapping[str, Sequence[str]]) -> None:
        self._addresses = addresses
        self.questions: list[bytes] = []
        # Of the many addresses of loopback, one that no other test on this machine has, or had a moment ago.
        self.address = f"127.{next(_numbers)}.{os.getpid() >> 8 & 0xFF}.{os.getpid() & 0xFF}"
        self._servers = [self._server(socketserver.ThreadingUDPServer), self._server(socketserver.ThreadingTCPServer)]

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=server.serve_forever) for server in self._servers]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()
        for thread in self._threads:
            thread.join()

    def command(self, folder: Path, *command: str, settings: str = "") -> list[str]:
        """A command in a name space in which this is the machine's name server. Only root can run it.

        settings: further lines of resolv.conf.
        """
        path = folder / "resolv.conf"
        path.write_text(f"nameserver {self.address}\n{settings}")
        script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", script, str(path), *command]

    def answer(self, question: bytes, limit: int = 1 << 16) -> bytes:
        """The message that answers a message; limit: bytes that it may have."""
        self.questions.append(question)
        labels, end = [], _HEADER.size
        while size := question[end]:
            labels.append(question[end + 1 : end + 1 + size].decode())
            end += size + 1
        wire = question[_HEADER.size : end + 5]
        found = self._addresses.get(".".join(labels))
        wanted = found if found and wire[-4:] == struct.pack(">HH", _ADDRESS, _IN) else ()
        records = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", _ADDRESS, _IN, 60, 4) + socket.inet_aton(one) for one in wanted
        )
        code = 0 if found else _NO_SUCH_NAME
        if _HEADER.size + len(wire) + len(records) > limit:
            return _HEADER.pack(*_HEADER.unpack_from(question)[:1], _ANSWER | _CUT_OFF, 1, 0, 0, 0) + wire
        head = _HEADER.pack(*_HEADER.unpack_from(question)[:1], _ANSWER | code, 1, len(wanted), 0, 0)
        return head + wire + records

    def _server(
        self, kind: type[socketserver.ThreadingTCPServer | socketserver.ThreadingUDPServer]
    ) -> socketserver.TCPServer:
        answer = self.answer

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                if isinstance(self.request, tuple):
                    message, own = self.request
                    own.sendto(answer(message, _DATAGRAM_BYTES), self.client_address)
                    return
                with self.request.makefile("rwb") as stream:
                    message = answer(stream.read(int.from_bytes(stream.read(2), "big")))
                    stream.write(len(message).to_bytes(2, "big") + message)

        server = kind((self.address, 53), Handler)
        server.daemon_threads = True
        return server
