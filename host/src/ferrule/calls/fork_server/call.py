"""One call of a fork server: from its arguments to its events and its answer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ferrule import config
from ferrule.calls.call import ToolCall, parse
from ferrule.calls.fork_server.facts import CallAnswer
from ferrule.calls.fork_server.renderer import Renderer
from ferrule.calls.fork_server.surroundings import Request
from ferrule.calls.output import Output, advice_of, render, render_printed
from ferrule.calls.streams import INPUT_BYTES
from ferrule.errors import InputMalformed
from ferrule.supervision.channel.channel import Messages
from ferrule.text import strict_json
from ferrule.text.redaction import Redaction, redact_json

if TYPE_CHECKING:
    from ferrule.calls.call import Job
    from ferrule.calls.fork_server.facts import Client
    from ferrule.calls.fork_server.plugins import Plugins
    from ferrule.calls.fork_server.surroundings import Surroundings
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.text.json_types import JSONObject

EventHandler = Callable[[bytes], object]
AnswerHandler = Callable[[CallAnswer], object]

_CANCELLED = "CANCELLED"
_MAX_EVENTS, _MAX_EVENT_BYTES = 1000, 1 << 20  # of one call that are handed on


class ServedCall:
    """A call that runs in a `ForkServer`.

    Args:
        on_event: gets each event of the tool as one JSON object, without secrets.
        on_answer: gets the answer, once.
        on_end: is called just before that.
    """

    def __init__(
        self,
        plugins: Plugins,
        surroundings: Surroundings,
        on_event: EventHandler | None,
        on_answer: AnswerHandler,
        on_end: Callable[[ServedCall], object],
    ) -> None:
        self._plugins = plugins
        self._surroundings = surroundings
        self._on_event = on_event or _ignore
        self._on_answer = on_answer
        self._on_end = on_end
        self._request: Request | None = None
        self._started = time.monotonic()
        self._is_cancelled = False
        self.is_done = False

    def start(self, tool: str, arguments: bytes, seconds: float | None, client: Client | None) -> None:
        """Begin the call. Its answer may be there when this returns."""
        surroundings = self._surroundings
        self._deadline = self._started + (seconds or config.deadline())
        self._call = ToolCall(
            tool,
            _ArgumentBytes(arguments),
            NO_RUNNER,
            self._deadline,
            resolve_tool=surroundings.lookups.tool,
            answer_bytes=surroundings.options.answer_bytes,
            lookup=surroundings.lookups,
            way=surroundings.options.way,
            client=None if client is None else dict(client),
        )
        self._steps: Generator[Job, Outcome, Outcome] = self._call.steps()
        self._step(lambda: next(self._steps))

    def cancel(self) -> None:
        """End the call. Its answer is sent all the same."""
        self._is_cancelled = True
        if self._request is not None:
            self._plugins.cancel(self._request)

    def _step(self, advance: Callable[[], Job]) -> None:
        try:
            job = advance()
        except StopIteration as stop:
            self._answer(stop.value)
            return
        messages = Messages(job.execution.answer_bytes, _EventForwarder(self._on_event))
        self._request = Request(job, messages, self._deadline, self._handle_outcome)
        try:
            self._plugins.submit(self._request)
        except OSError as error:
            failure = error
            self._step(lambda: self._steps.throw(failure))

    def _handle_outcome(self, outcome: Outcome) -> None:
        self._step(lambda: self._steps.send(outcome))

    def _answer(self, outcome: Outcome) -> None:
        for event in outcome.events:  # those that are only known now
            self._on_event(redact_event(event, outcome.secrets))
        call = self._call
        if outcome.failure is None or call.tool is None or not call.tool.failures:
            self._finish(outcome, render(outcome, call.tool, call.name, call.names))
            return

        Renderer(self._surroundings, outcome, call.tool, call.name, partial(self._finish_rendered, outcome))

    def _finish_rendered(self, outcome: Outcome, document: bytes) -> None:
        if document:
            self._finish(outcome, Output(document, b"", 1))
        else:
            self._finish(outcome, render(outcome, None, self._call.name, self._call.names))

    def _finish(self, outcome: Outcome, output: Output) -> None:
        seconds = time.monotonic() - self._started
        text = render_printed(outcome).decode(errors="replace")
        self.is_done = True
        self._on_end(self)
        self._on_answer(CallAnswer(output.document, outcome.failure is not None, text, seconds))
        advice = advice_of(outcome.failure, self._call.name)
        if self._is_cancelled and outcome.failure is not None:  # by which it has ended, and by nothing of the host's
            outcome.failure = {"code": _CANCELLED, "message": "The client cancelled the call."}
        _complain(advice + self._call.write_journal(outcome, len(output.document)))


def _complain(warning: str) -> None:
    """Say on the server's stderr what is for who runs the server, and for no client."""
    if not warning:
        return
    try:
        os.write(2, warning.encode())
    except OSError:
        return


class _ArgumentBytes:
    """Arguments that are there already, as JSON."""

    def __init__(self, arguments: bytes) -> None:
        self._arguments = arguments

    def read_input(self) -> bytes:
        """Return the arguments as they came."""
        return self._arguments

    def parse_arguments(self, data: bytes, _tool: InstalledTool) -> JSONObject:
        """Return the JSON object that came. Raises InputMalformed."""
        if len(data) > INPUT_BYTES:
            raise InputMalformed(f"The call's arguments hold more than {INPUT_BYTES:,} bytes.")
        return parse(data, "The call's arguments")


def _ignore(_event: bytes) -> None:
    return


class _NoRunner:
    """Served calls are run step by step."""

    def run(self, *_: object) -> Outcome:
        raise NotImplementedError


NO_RUNNER = _NoRunner()


class _EventForwarder:
    """Hands the events of one call on without secrets, up to a number and a size."""

    def __init__(self, on_event: EventHandler) -> None:
        self._on_event = on_event
        self._count = self._bytes = 0
        self._redaction, self._known = Redaction(()), 0

    def __call__(self, event: Mapping[str, object], secrets: Sequence[str]) -> None:
        if self._count >= _MAX_EVENTS or self._bytes > _MAX_EVENT_BYTES:
            return
        if len(secrets) != self._known:  # those of a call only become more
            self._redaction, self._known = Redaction(secrets), len(secrets)
        document = self._redaction.of_json(strict_json.dumps(event))
        self._count += 1
        self._bytes += len(document)
        if self._bytes <= _MAX_EVENT_BYTES:
            self._on_event(document)


def redact_event(event: Mapping[str, object], secrets: Sequence[str]) -> bytes:
    """The event as JSON, without secrets."""
    document = strict_json.dumps(event)
    return redact_json(document, secrets) if secrets else document
