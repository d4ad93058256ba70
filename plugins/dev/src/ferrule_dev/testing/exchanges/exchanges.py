"""The exchanges of one test while it runs: a relay that records or replays them."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from difflib import SequenceMatcher, unified_diff
from typing import TYPE_CHECKING, Self

from ferrule_dev.testing.exchanges import file
from ferrule_dev.testing.exchanges.recorded import UNRECORDED, RecordedExchange, Writer, as_it_came, body_of, comparable
from ferrule_dev.testing.exchanges.secrets import Secrets
from ferrule_dev.testing.http_server import Exchange, Server

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule_dev.testing.exchanges.recorded import RecordedAnswer, RecordedRequest

_SECONDS = 60.0
_MAX_BODY_BYTES = 16 << 20


class ExchangesDiffer(AssertionError):
    """The requests of a test are not those of its file, or could not be recorded."""


class Exchanges(ABC):
    """The exchanges of a test, between `with` and `finish`. path: the file. anew: the command that records them anew.

    url: of the relay, for FERRULE_HTTP_RELAY. secrets: what must not be written.
    """

    is_recording: bool

    def __init__(self, path: Path, anew: str) -> None:
        self.path = path
        self.secrets = Secrets()
        self._anew = anew
        self._lock = threading.Lock()
        self._problems: list[str] = []
        self._ignored_headers = UNRECORDED
        self._ignored_parameters: frozenset[str] = frozenset()
        self._server = Server()
        self._server.route("*", self._relay)

    @property
    def url(self) -> str:
        """The address of the relay, for FERRULE_HTTP_RELAY."""
        return self._server.url

    def ignore_headers(self, *names: str) -> None:
        """Let requests count as the same that differ in these headers only."""
        self._ignored_headers |= {name.lower() for name in names}

    def ignore_parameters(self, *names: str) -> None:
        """Let requests count as the same that differ in these parameters of the query only."""
        self._ignored_parameters |= set(names)

    def hide(self, *values: str) -> None:
        """Keep further values out of the file, which no tool declares as credentials."""
        self.secrets.add(*values)

    def require_no_problem(self) -> None:
        """Raise ExchangesDiffer with what was wrong so far."""
        if self._problems:
            raise ExchangesDiffer("\n\n".join(dict.fromkeys(self._problems)))

    @abstractmethod
    def finish(self) -> None:
        """The test has passed: write the file, or say what was not asked. Raises ExchangesDiffer."""

    @abstractmethod
    def _answer(self, exchange: Exchange, request: RecordedRequest, body: bytes) -> RecordedAnswer | None:
        """The answer to a request; None if there is none, and the problem has been noted."""

    def _relay(self, exchange: Exchange) -> None:
        answer = None
        try:
            headers = {name.lower(): value for name, value in exchange.headers.items()}
            body = exchange.read_body()
            request = Writer(self.secrets.values()).request(exchange.command, exchange.path, headers, body)
            answer = self._answer(exchange, request, body)
        except Exception as error:  # noqa: BLE001 - in this thread nobody would hear of it
            self._note(f"The relay failed with {type(error).__name__}, which is a defect of ferrule.")
        if answer is None:
            exchange.answer(b"See the test's own message.", "text/plain", status=502)
        else:
            _send(exchange, answer)

    def _note(self, problem: str) -> None:
        with self._lock:
            self._problems.append(problem)

    def _comparable(self, request: RecordedRequest) -> str:
        return comparable(request, self._ignored_headers, self._ignored_parameters)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.__exit__(None, None, None)


class RecordedExchanges(Exchanges):
    """Exchanges that are recorded: each request goes where it was sent to, and the file is written at the end."""

    is_recording = True

    def __init__(self, path: Path, anew: str) -> None:
        super().__init__(path, anew)
        self._exchanges: list[RecordedExchange] = []

    def finish(self) -> None:
        self.require_no_problem()
        if not self._exchanges:
            raise ExchangesDiffer(
                "No request was recorded. Only requests of ferrule.http are, and those of httpx with its transports; "
                "a test that sends none needs no ferrule_exchanges."
            )
        try:
            file.write(self.path, self._exchanges, self.secrets.values())
        except file.UnusableFile as error:
            raise ExchangesDiffer(f"Nothing was recorded: {error}.") from None

    def _answer(self, exchange: Exchange, request: RecordedRequest, body: bytes) -> RecordedAnswer | None:
        from ferrule.http import BodyUnreadable, RequestFailed, as_request_failed
        from ferrule_dev.testing.exchanges.upstream import ask

        try:
            with as_request_failed():
                asked = ask(exchange, body, time.monotonic() + _SECONDS, _MAX_BODY_BYTES)
        except (BodyUnreadable, RequestFailed, ValueError) as error:
            self._note(f"{request['method']} {request['url']} could not be recorded: {error}")
            return None
        recorded: RecordedExchange = {
            "request": request,
            "answer": Writer(self.secrets.values()).answer(*asked),
        }
        with self._lock:
            self._exchanges.append(recorded)
        # The tool gets the answer as it came, with what it may need for its next request, such as a token.
        return as_it_came(*asked)


class ReplayedExchanges(Exchanges):
    """Exchanges that have been recorded before: each is given once, to a request that is the recorded one."""

    is_recording = False

    def __init__(self, path: Path, anew: str) -> None:
        self._waiting = file.read(path)
        super().__init__(path, anew)
        self._given: list[RecordedExchange] = []

    def finish(self) -> None:
        self.require_no_problem()
        if self._waiting:
            unsent = "".join(self._comparable(one["request"]) for one in self._waiting)
            raise ExchangesDiffer(
                f"{len(self._waiting)} of the requests in {self.path} were not sent:\n{unsent}{self._advice()}"
            )

    def _answer(self, exchange: Exchange, request: RecordedRequest, body: bytes) -> RecordedAnswer | None:
        wanted = self._comparable(request)
        with self._lock:
            for one in self._waiting:
                if self._comparable(one["request"]) == wanted:
                    self._waiting.remove(one)
                    self._given.append(one)
                    return one["answer"]
            nearest = self._nearest(wanted)
        self._note(self._difference(nearest, wanted))
        return None

    def _nearest(self, wanted: str) -> str:
        """The recorded request that is most like one; those that were not asked yet come first."""
        for exchanges in (self._waiting, self._given):
            texts = [self._comparable(one["request"]) for one in exchanges]
            if texts:
                return max(texts, key=lambda text: SequenceMatcher(None, text, wanted).ratio())
        return ""

    def _difference(self, nearest: str, wanted: str) -> str:
        if nearest == wanted:
            return f"A request was sent more often than it is recorded in {self.path}:\n{wanted}{self._advice()}"
        lines = unified_diff(
            nearest.splitlines(keepends=True), wanted.splitlines(keepends=True), str(self.path), "the request now"
        )
        return f"A request is not one of those in {self.path}:\n{''.join(lines)}{self._advice()}"

    def _advice(self) -> str:
        return f"If this is meant, record anew, with the keys of the tool set: {self._anew}"


def _send(exchange: Exchange, answer: RecordedAnswer) -> None:
    body = body_of(answer)
    exchange.send_response_only(answer["status"], answer["reason"])
    for name, value in answer["headers"]:
        exchange.send_header(name, value)
    if answer["status"] not in (204, 304):
        exchange.send_header("Content-Length", str(len(body)))
    exchange.end_headers()
    if exchange.command != "HEAD":
        exchange.wfile.write(body)
