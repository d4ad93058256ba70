"""One call of a fork server: from its arguments to its events and its answer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ferrule import config
from ferrule.calls.call import ToolCall, parse, parse_document
from ferrule.calls.fork_server.facts import CallAnswer
from ferrule.calls.fork_server.lookups import CallerLookup
from ferrule.calls.fork_server.renderer import Renderer
from ferrule.calls.fork_server.surroundings import Request
from ferrule.calls.output import Output, advice_of, render, render_around, render_printed
from ferrule.calls.streams import INPUT_BYTES
from ferrule.errors import FerruleError, InputMalformed
from ferrule.supervision.channel.channel import Messages
from ferrule.text import strict_json
from ferrule.text.redaction import Redaction, redact_json

if TYPE_CHECKING:
    from ferrule.calls.call import Job
    from ferrule.calls.caller import Caller
    from ferrule.calls.fork_server.facts import Client
    from ferrule.calls.fork_server.plugins import Plugins
    from ferrule.calls.fork_server.surroundings import BeginHandler, Surroundings
    from ferrule.calls.interfaces import ArgumentSource
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
        on_event: gets each event of the tool as one JSON object, without secrets; where it is None, they are part of
            what a caller gets on stderr.
        on_answer: gets the answer, once.
        on_end: is called just before that.
        caller: who has the call made, where that is not the server itself.
        on_begin: is called with the tool when a process is about to get the arguments.
    """

    def __init__(
        self,
        plugins: Plugins,
        surroundings: Surroundings,
        on_event: EventHandler | None,
        on_answer: AnswerHandler,
        on_end: Callable[[ServedCall], object],
        caller: Caller | None = None,
        on_begin: BeginHandler | None = None,
    ) -> None:
        self._plugins = plugins
        self._on_begin = on_begin
        self._caller = caller
        self._surroundings = surroundings
        self._on_event = on_event
        self._on_answer = on_answer
        self._on_end = on_end
        self._request: Request | None = None
        self._started = time.monotonic()
        self._is_cancelled = False
        self.is_done = False

    def start(self, tool: str, arguments: bytes | FerruleError, seconds: float | None, client: Client | None) -> None:
        """Begin the call. Its answer may be there when this returns."""
        surroundings, caller = self._surroundings, self._caller
        self._deadline = self._started + (seconds or config.deadline())
        self._lookup = None if caller is None else CallerLookup(surroundings.lookups, caller)
        self._call = ToolCall(
            tool,
            _argument_source(arguments, caller),
            NO_RUNNER,
            self._deadline,
            names=caller.names if caller else None,
            resolve_tool=surroundings.lookups.tool,
            answer_bytes=surroundings.options.answer_bytes,
            lookup=self._lookup or surroundings.lookups,
            way=surroundings.options.way,
            client=None if client is None else dict(client),
            environ=caller.environ if caller else None,
        )
        self._steps: Generator[Job, Outcome, Outcome] = self._call.steps()
        self._step(lambda: next(self._steps))

    def cancel(self, reason: FerruleError | None = None) -> None:
        """End the call. Its answer is sent all the same. reason: what it fails with, else as usual."""
        self._is_cancelled = True
        if self._request is not None:
            self._plugins.cancel(self._request, reason)

    def _step(self, advance: Callable[[], Job]) -> None:
        try:
            job = advance()
        except StopIteration as stop:
            self._answer(stop.value)
            return
        # Where there is no listener, the events are kept, and stand on the stderr of an executable.
        forwarder = None if self._on_event is None else _EventForwarder(self._on_event)
        messages = Messages(job.execution.answer_bytes, forwarder)
        given = self._surroundings.lookups.given(job)
        self._request = Request(job, messages, self._deadline, self._handle_outcome, given)
        if self._caller is not None:
            policy = job.execution.policy
            job.execution.caller = self._caller.here()
            self._request.on_begin = self._on_begin
            self._request.variant = tuple(sorted((policy.environment or {}).items())) if policy else ()
        try:
            self._plugins.submit(self._request)
        except OSError as error:
            failure = error
            if self._caller is None or self._request.begun:  # what has begun is not made twice
                self._step(lambda: self._steps.throw(failure))
            else:
                self._give_back()

    def _handle_outcome(self, outcome: Outcome) -> None:
        if outcome.is_unbegun and self._caller is not None:
            self._give_back()
        else:
            self._step(lambda: self._steps.send(outcome))

    def _give_back(self) -> None:
        """There is no room for the call, which the caller can make without this server: nothing is written of it."""
        self._steps.close()
        self.is_done = True
        self._on_end(self)
        self._on_answer(CallAnswer(b"", is_error=True, text="", seconds=0.0, is_unbegun=True))

    def _answer(self, outcome: Outcome) -> None:
        if self._on_event is not None:
            for event in outcome.events:  # those that are only known now
                self._on_event(redact_event(event, outcome.secrets))
        call = self._call
        if outcome.failure is None or call.tool is None or not call.tool.failures:
            self._finish(outcome, self._render(outcome, call.tool))
            return
        done = partial(self._finish_rendered, outcome)
        try:
            Renderer(self._surroundings, outcome, call.tool, call.name, done)
        except OSError:  # no process or descriptor is left: the failure is told as if the tool had no words of its own
            done(b"")

    def _finish_rendered(self, outcome: Outcome, document: bytes) -> None:
        call, caller = self._call, self._caller
        if not document:
            self._finish(outcome, self._render(outcome, None))
        elif caller is None:
            self._finish(outcome, Output(document, b"", 1))
        else:
            name = call.names.get(call.name, call.name)
            self._finish(
                outcome,
                render_around(document, outcome, name, call.names, caller.environ, is_terminal=caller.is_terminal),
            )

    def _render(self, outcome: Outcome, tool: InstalledTool | None) -> Output:
        call, caller = self._call, self._caller
        if caller is None:
            return render(outcome, tool, call.name, call.names)
        return render(outcome, tool, call.name, call.names, environ=caller.environ, is_terminal=caller.is_terminal)

    def _finish(self, outcome: Outcome, output: Output) -> None:
        seconds = time.monotonic() - self._started
        text = render_printed(outcome).decode(errors="replace")
        self.is_done = True
        self._on_end(self)
        answer = CallAnswer(output.document, outcome.failure is not None, text, seconds, output.text, output.exit_code)
        if self._caller is not None:
            self._answer_caller(outcome, answer)
            return
        self._on_answer(answer)
        advice = advice_of(outcome.failure, self._call.name)
        if self._is_cancelled and outcome.failure is not None:  # by which it has ended, and by nothing of the host's
            outcome.failure = {"code": _CANCELLED, "message": "The client cancelled the call."}
        _complain(advice + self._call.write_journal(outcome, len(output.document)))

    def _answer_caller(self, outcome: Outcome, answer: CallAnswer) -> None:
        """As `ferrule.calls.call.answer` does, which makes a call in the caller's own process."""
        warning = self._call.write_journal(outcome, len(answer.document))
        if not answer.stderr:
            answer = answer._replace(stderr=f"{warning}{self._call.find_unrecorded()}".encode())
        self._on_answer(answer)
        if self._lookup is not None:
            self._lookup.renew()


def _complain(warning: str) -> None:
    """Say on the server's stderr what is for who runs the server, and for no client."""
    if not warning:
        return
    try:
        os.write(2, warning.encode())
    except OSError:
        return


class _CallerArguments:
    """What a caller has sent: as a document on its stdin, or why there is none, which is raised."""

    def __init__(self, sent: bytes | FerruleError, caller: Caller) -> None:
        self._sent = sent
        self._translation = caller.translation

    def read_input(self) -> bytes:
        """Return the arguments as they came. Raises what is there in their place."""
        if isinstance(self._sent, FerruleError):
            raise self._sent
        return self._sent

    def parse_arguments(self, data: bytes, _tool: InstalledTool) -> JSONObject:
        """See `parse_document`."""
        return parse_document(data, self._translation)


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


def _argument_source(sent: bytes | FerruleError, caller: Caller | None) -> ArgumentSource:
    if caller is not None:
        return _CallerArguments(sent, caller)
    if isinstance(sent, FerruleError):
        raise TypeError("only a caller's input can be missing")
    return _ArgumentBytes(sent)


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
        self._redaction: Redaction | None = None
        self._known = 0

    def __call__(self, event: Mapping[str, object], secrets: Sequence[str]) -> None:
        if self._count >= _MAX_EVENTS or self._bytes > _MAX_EVENT_BYTES:
            return
        if self._redaction is None or len(secrets) != self._known:  # those of a call only become more
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
