"""The addresses of hosts, looked up in threads that are left behind when they take too long."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence

from ferrule.http.httpcore_library import httpcore
from ferrule.http.reasons import HostUnknown

Resolver = Callable[[str, int], list[str]]
"""Returns the IP addresses of a host for a port, in the order in which to try them. May block."""
Guard = Callable[[str, Sequence[str]], None]
"""Called with a host before it is resolved, and again with all of its addresses; raises ToolError to refuse."""


def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of a host, each once, in the order in which to try them. Raises HostUnknown."""
    try:
        # as bytes: for text, which is ASCII here, Python would import its codec idna
        found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise HostUnknown(host) from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Lookup:
    """A question to a resolver, asked in a thread, because getaddrinfo knows no timeout.

    Args:
        when_done: called in that thread once there is an answer. The thread keeps no process from ending.
    """

    def __init__(self, resolver: Resolver, host: str, port: int, when_done: Callable[[], object]) -> None:
        self._answer: list[str] | Exception = httpcore.ConnectTimeout()
        self._when_done = when_done
        threading.Thread(target=self._run, args=(resolver, host, port), name=f"resolve {host}", daemon=True).start()

    def addresses(self) -> list[str]:
        """The answer. Raises what the resolver raised, and ConnectTimeout if there is no answer yet."""
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def _run(self, resolver: Resolver, host: str, port: int) -> None:
        try:
            self._answer = resolver(host, port)
        except Exception as error:  # noqa: BLE001 - it is raised again where it is waited for
            self._answer = error
        self._when_done()
