"""The process that stands between the tools of a call and a proxy. It ends when the supervising process lets go of it.

It is a process of its own, so that nothing that a tool sends is read where the secrets of other calls are needed, and
so that only this one reads the variable in which the proxy's password stands.
"""

from __future__ import annotations

import os
import select
import signal
from functools import partial
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from socket import socket

    from ferrule.confinement.proxies.host_judge import HostJudge

MAX_CONNECTIONS = 128
_MAX_REPORT_BYTES = 512  # which are written at once, or not at all


class Terms:
    """network: of the policy, which judges. deadline: an instant of `time.monotonic()`, None where it has no own one.

    seconds: that either end of a connection may take to say something more.
    """

    __slots__ = ("deadline", "network", "seconds")

    def __init__(self, network: Sequence[str] | None, deadline: float | None, seconds: float) -> None:
        self.network = network
        self.deadline = deadline
        self.seconds = seconds


def run(listeners: Mapping[str, socket], reports: int, stop: int, terms: Terms) -> NoReturn:
    """The whole life of the process.

    Args:
        listeners: by the variable that names the proxy behind each.
        reports: where it is written which hosts were refused.
        stop: a descriptor that is readable once it shall end.
    """
    try:
        _be_alone([*(one.fileno() for one in listeners.values()), reports, stop])
        os.set_blocking(reports, False)
        _Relays(listeners, reports, terms).serve(stop)
    finally:
        os._exit(0)


def _be_alone(files: Sequence[int]) -> None:
    """No signal for the client's group, no handler and no descriptor of the process that this one was forked from."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in range(3):
        os.dup2(nothing, file)
    for name in os.listdir("/dev/fd"):
        file = int(name)
        if file > 2 and file not in files:
            try:
                os.close(file)
            except OSError:
                continue  # the listing's own


class _Relays:
    def __init__(self, listeners: Mapping[str, socket], reports: int, terms: Terms) -> None:
        self._listeners = {one.fileno(): (variable, one) for variable, one in listeners.items()}
        self._reports = reports
        self._terms = terms
        self._room = BoundedSemaphore(MAX_CONNECTIONS)
        self._judge: HostJudge | None = None

    def serve(self, stop: int) -> None:
        """Take connections until the end."""
        poll = select.poll()
        for file in (*self._listeners, stop):
            poll.register(file, select.POLLIN)
        while (left := self._left()) is None or left > 0:
            ready = {file for file, _ in poll.poll(None if left is None else left * 1000 + 1)}
            if stop in ready:
                return
            for file in ready:
                self._accept(*self._listeners[file])

    def _left(self) -> float | None:
        return None if self._terms.deadline is None else self._terms.deadline - monotonic()

    def _accept(self, variable: str, listener: socket) -> None:
        try:
            client, address = listener.accept()
        except OSError:
            return
        if not self._room.acquire(blocking=False):
            client.close()
            return
        Thread(target=self._serve, args=(variable, client, address[1]), daemon=True).start()

    def _serve(self, variable: str, client: socket, port: int) -> None:
        from ferrule.confinement.proxies.exchange import Exchange

        try:
            report = partial(self._report, port)
            value = os.environ.get(variable, "").strip()
            Exchange(client, variable, value, self._judged_by(), report, self._terms.seconds).run()
        finally:
            client.close()
            self._room.release()

    def _judged_by(self) -> HostJudge:
        if self._judge is None:
            from ferrule.confinement.proxies.host_judge import HostJudge

            self._judge = HostJudge(self._terms.network)
        return self._judge

    def _report(self, port: int, host: str) -> None:
        """Say what was refused, before its client learns that. port: of the client, by which its call is known."""
        try:
            os.write(self._reports, f"{port} {host}\n".encode("ascii")[:_MAX_REPORT_BYTES])
        except OSError:
            return  # more has been refused than anybody reads
