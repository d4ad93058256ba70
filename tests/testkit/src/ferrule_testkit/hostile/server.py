"""A server that is out to hurt who asks it, and a call of a tool that says what it took.

with HostileServer() as server:
    outcome = call([tool], server.url_of(case), environment)
"""

import json
import os
import signal
import socketserver
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from ferrule_dev.testing.http_server import HOST, Exchange, Route, Server
from ferrule_testkit import ikigai
from ferrule_testkit.hostile import bodies as hostile_bodies
from ferrule_testkit.hostile import shapes as hostile_shapes
from ferrule_testkit.hostile import texts as hostile_texts
from ferrule_testkit.hostile import transport as hostile_transport
from ferrule_testkit.hostile.case import Case
from ferrule_testkit.processes.process_memory import MemoryWatch

_ALL = [*hostile_transport.CASES, *hostile_bodies.CASES, *hostile_shapes.CASES, *hostile_texts.CASES]
CASES = [case._replace(path=f"/{number}") for number, case in enumerate(_ALL)]
MOST_MEMORY = 300 << 20  # bytes, of all processes of a call together


class HostileServer:
    """Answers every case, as long as the `with` block lasts."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._server = Server()
        self._server.route("*", _by_path)
        self._speechless: dict[str, _Speechless] = {}

    def url_of(self, case: Case) -> str:
        """Where a case is found."""
        if case.scheme == "https":
            return f"https://{HOST}:{self._speechless_at(case).server_address[1]}{case.path}"
        return self._server.url + case.path

    def __enter__(self) -> Self:
        self._running.enter_context(self._server)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()

    def _speechless_at(self, case: Case) -> "_Speechless":
        if case.path not in self._speechless:
            self._speechless[case.path] = self._running.enter_context(_Speechless(case.answer))
        return self._speechless[case.path]


class Outcome(NamedTuple):
    """What came of a call. answer: None where stdout was not one whole JSON object that the client reads.

    ended: the process ended by itself. seconds: on the wall. memory: bytes at the most. text: of stderr.
    """

    answer: dict[str, Any] | None
    ended: bool
    seconds: float
    memory: int
    text: str

    @property
    def survived(self) -> bool:
        """In time, in memory, with an answer, and without a traceback."""
        return self.answer is not None and self.ended and self.memory < MOST_MEMORY and "Traceback" not in self.text


def call(
    command: Sequence[str | Path], url: str, environment: Mapping[str, str], seconds: float = ikigai.CLIENT.call_seconds
) -> Outcome:
    """Call a tool as the client does, with `{"url": …}` on stdin, and end it where it takes longer than the client."""
    started = time.monotonic()
    process = subprocess.Popen(
        list(map(str, command)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment, "IKIGAI_AGENT_ID": "agent-1"},
        process_group=0,
    )
    with MemoryWatch(process.pid) as watch:
        ended = True
        try:
            out, text = process.communicate(json.dumps({"url": url}).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            ended = False
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            out, text = process.communicate()
    answer = _parsed(out) if process.returncode == 0 else None
    return Outcome(answer, ended, time.monotonic() - started, watch.most, text.decode(errors="replace"))


def _parsed(out: bytes) -> dict[str, Any] | None:
    if len(out) > ikigai.CLIENT.output_bytes:
        return None
    try:
        document = ikigai.parse_strictly(out)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


_ANSWERS: dict[str, Route] = {case.path: case.answer for case in CASES}


def _by_path(exchange: Exchange) -> None:
    _ANSWERS.get(exchange.path.partition("?")[0], _missing)(exchange)


def _missing(exchange: Exchange) -> None:
    exchange.answer(b"", status=404)


class _Unheard(Exchange):
    """A connection of which nothing is read but that it begins."""

    def handle(self) -> None:
        with suppress(OSError):
            self.connection.recv(1)
            self.server.route_of("")(self)


class _Speechless(socketserver.ThreadingTCPServer):
    """Treats whoever connects in one way, whatever they say."""

    daemon_threads = True
    block_on_close = True

    def __init__(self, route: Route) -> None:
        super().__init__((HOST, 0), _Unheard)
        self.closing = threading.Event()
        self._route = route
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)

    def route_of(self, path: str) -> Route:
        return self._route

    def handle_error(self, request: object, address: object) -> None:
        """Clients may go when they like."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
