"""An internet in which every name resolves as a test wants it, and every connection ends at one loopback server.

    with Internet() as internet:
        internet.resolve({"target.example": [["10.0.0.1"]]})
        fetch("http://target.example/")
    assert internet.connected == ["10.0.0.1"]

It stands in for socket.getaddrinfo and socket.socket.connect in this process, so any library can be watched.
"""

import socket
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from ferrule_dev.testing import Exchange, Server
from ferrule_testkit.hostile.urls import PUBLIC, Answers

PAGE = b"<title>Reached</title><p>reached"


class Internet:
    """Answers every request with a page, those with `?to=` in their target with a redirect.

    connected: the addresses that connections were made to, in their order. server: at which they end; its routes are
    those of all hosts.
    """

    def __init__(self) -> None:
        self.connected: list[str] = []
        self._answers: dict[str, list[list[str]]] = {}
        self.server = Server()
        self.server.route("*", _answer)
        self._getaddrinfo, self._connect = socket.getaddrinfo, socket.socket.connect

    def resolve(self, answers: Answers) -> None:
        """From now on, names resolve to these, and nothing has been connected to."""
        self.connected.clear()
        self._answers = {host: [list(answer) for answer in successive] for host, successive in answers.items()}

    def __enter__(self) -> Self:
        self.server.__enter__()
        internet = self

        def connect(connection: socket.socket, address: Any) -> None:
            internet._connected(connection, address)

        socket.getaddrinfo = self._resolved
        socket.socket.connect = connect  # type: ignore[method-assign,assignment] # it stands in for the real one while this runs
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        socket.getaddrinfo = self._getaddrinfo
        socket.socket.connect = self._connect  # type: ignore[method-assign] # it stands in for the real one while this runs
        self.server.__exit__(kind, error, trace)

    def _connected(self, connection: socket.socket, address: Any) -> None:
        if connection.family not in (socket.AF_INET, socket.AF_INET6):
            return self._connect(connection, address)
        self.connected.append(address[0])
        host, port = self.server.address
        return self._connect(connection, (f"::ffff:{host}" if connection.family == socket.AF_INET6 else host, port))

    def _resolved(
        self, host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> list[tuple[Any, ...]]:
        try:
            return self._numeric(host, port, family, type, proto)
        except socket.gaierror:
            name = (host if isinstance(host, bytes) else host.encode("idna")).decode().lower().rstrip(".")
        found: list[tuple[Any, ...]] = []
        for address in self._next(name):
            if family in (0, socket.AF_INET6 if ":" in address else socket.AF_INET):
                found += self._numeric(address, port, 0, type, proto)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return found

    def _numeric(self, host: Any, port: Any, family: int, type: int, proto: int) -> list[tuple[Any, ...]]:
        return self._getaddrinfo(host, port, family, type, proto, socket.AI_NUMERICHOST)

    def _next(self, name: str) -> list[str]:
        successive = self._answers.get(name, [[PUBLIC]])
        return successive.pop(0) if len(successive) > 1 else successive[0]


def _answer(exchange: Exchange) -> None:
    target = parse_qs(urlsplit(exchange.path).query).get("to")
    if target:
        # as bytes, for a real server may send what http.server would refuse
        exchange.send(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + target[0].encode() + b"\r\n\r\n")
    else:
        exchange.answer(PAGE)
