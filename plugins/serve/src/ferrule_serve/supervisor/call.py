"""One served call in the supervisor: from its arguments to the frames with its events and its answer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ferrule import config
from ferrule.calls.server_interface import (
    INPUT_BYTES,
    Messages,
    Output,
    ToolCall,
    advice_of,
    parse,
    render,
    render_printed,
)
from ferrule.errors import InputMalformed
from ferrule.text import strict_json
from ferrule.text.redaction import Redaction, redact_json
from ferrule_serve import limits, wire
from ferrule_serve.supervisor.renderer import Renderer
from ferrule_serve.supervisor.surroundings import Request

if TYPE_CHECKING:
    from ferrule.calls.server_interface import InstalledTool, Job, Outcome
    from ferrule.text.json_types import JSONObject
    from ferrule_serve.supervisor.plugins import Plugins
    from ferrule_serve.supervisor.surroundings import Surroundings

_CANCELLED = "CANCELLED"
_MAX_EVENTS, _MAX_EVENT_BYTES = 1000, 1 << 20  # of one call that are handed on


class Sender(Protocol):
    """Sends a frame of this call."""

    def __call__(self, kind: bytes, facts: Mapping[str, object] | None = None, document: bytes = b"") -> None: ...


class ServedCall:
    """A call that runs. on_end: is called when the answer has been sent."""

    def __init__(
        self, plugins: Plugins, surroundings: Surroundings, send: Sender, on_end: Callable[[], object]
    ) -> None:
        self._plugins = plugins
        self._surroundings = surroundings
        self._send = send
        self._on_end = on_end
        self._request: Request | None = None
        self._started = time.monotonic()
        self._is_cancelled = False

    def start(self, facts: wire.CallFacts, arguments: bytes) -> None:
        """Begin the call."""
        self._deadline = self._started + (facts["seconds"] or config.deadline())
        self._call = ToolCall(
            facts["tool"],
            _FrameSource(arguments),
            NO_RUNNER,
            self._deadline,
            resolve_tool=self._surroundings.lookups.tool,
            answer_bytes=limits.result_bytes,
            lookup=self._surroundings.lookups,
            way="serve",
            client=facts["client"],
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
        messages = Messages(job.execution.answer_bytes, _EventForwarder(self._send))
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
            self._send(wire.EVENT, None, redact_event(event, outcome.secrets))
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
        answer: wire.AnswerFacts = {
            "is_error": outcome.failure is not None,
            "seconds": time.monotonic() - self._started,
            "text": render_printed(outcome).decode(errors="replace"),
        }
        self._on_end()
        self._send(wire.ANSWER, answer, output.document)
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


class _FrameSource:
    """The arguments came with the call's frame."""

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


class _NoRunner:
    """Served calls are run step by step."""

    def run(self, *_: object) -> Outcome:
        raise NotImplementedError


NO_RUNNER = _NoRunner()


class _EventForwarder:
    """Hands the events of one call on without secrets, up to a number and a size."""

    def __init__(self, send: Sender) -> None:
        self._send = send
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
            self._send(wire.EVENT, None, document)


def redact_event(event: Mapping[str, object], secrets: Sequence[str]) -> bytes:
    """The event as JSON, without secrets."""
    document = strict_json.dumps(event)
    return redact_json(document, secrets) if secrets else document
