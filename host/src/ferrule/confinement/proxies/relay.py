"""The supervising process's handle on the process that stands between a call and the proxy of this machine."""

from __future__ import annotations

import os
import signal
import socket

from ferrule.confinement.policy import OFF, Denial
from ferrule.confinement.proxies.relay_process import Terms, run

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from ferrule.confinement.policy import Policy

_HOST = "127.0.0.1"
_BACKLOG = 128
_MAX_REFUSED = 1000
_CHUNK_BYTES = 1 << 16


class Relay:
    """A relay for the calls of one policy, whose `proxies` name variables of this process's environment.

    policy: the same one, in whose environment these variables name the relay, with the way there. file: readable where
    a host was refused, and once the process has ended. A context manager, which ends it.
    """

    def __init__(self, policy: Policy, *, deadline: float | None, seconds: float) -> None:
        """deadline: after which nothing is passed on, None where the relay ends with those that it serves.

        seconds: that either end of a connection may take to say something more. Raises OSError.
        """
        listeners = _listen(policy.proxies)
        self._owners: dict[int, int] = {}
        self._refused: list[tuple[int | None, str]] = []
        self._rest = b""
        self.file, reports = os.pipe()
        stop, self._stop = os.pipe()
        network = None if policy.isolation == OFF else policy.network
        terms = Terms(network, deadline, seconds)
        try:
            self.process = os.fork()
            if self.process == 0:
                run(listeners, reports, stop, terms)
        finally:
            os.close(reports)
            os.close(stop)
            addresses = {variable: f"{_HOST}:{one.getsockname()[1]}" for variable, one in listeners.items()}
            for one in listeners.values():
                one.close()
        os.set_blocking(self.file, False)
        named = {variable: f"http://{address}" for variable, address in addresses.items()}
        self.policy = policy.replaced(
            proxies=(),
            relays=tuple(dict.fromkeys(addresses.values())),
            environment={**(policy.environment or {}), **named},
        )

    def note(self, port: int, owner: int) -> None:
        """A connection comes from a port of this machine. owner: whose it is."""
        self.read()  # what was refused before is of whoever had the port before
        self._owners[port] = owner

    def read(self) -> bool:
        """Read what was refused; False once the process has ended."""
        while True:
            try:
                data = os.read(self.file, _CHUNK_BYTES)
            except BlockingIOError:
                return True
            if not data:
                return False
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                port, _, host = line.decode("ascii", "replace").partition(" ")
                if len(self._refused) < _MAX_REFUSED and port.isdigit():
                    self._refused.append((self._owners.get(int(port)), host))

    def take(self, owner: int) -> list[Denial]:
        """What was refused to an owner, or to nobody that is known; each is told once."""
        self.read()
        own = [host for whose, host in self._refused if whose in (owner, None)]
        self._refused = [one for one in self._refused if one[0] not in (owner, None)]
        return [Denial("connect", host) for host in dict.fromkeys(own)]

    def close(self) -> None:
        """End the process, and whatever it carries."""
        try:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self._stop)
        os.close(self.file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _listen(variables: Sequence[str]) -> dict[str, socket.socket]:
    """A listener for each proxy, by the variables that name it.

    The values are compared as the bytes that they are: what this process had decoded would be in its memory, and so in
    that of the child that it forks.
    """
    found: dict[bytes, socket.socket] = {}
    for variable in variables:
        value = os.environb[variable.encode()]
        if value not in found:
            found[value] = socket.create_server((_HOST, 0), backlog=_BACKLOG)
    return {variable: found[os.environb[variable.encode()]] for variable in variables}
