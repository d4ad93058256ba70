"""One call of one tool, from stdin to the exit code, as its executable makes it."""

from __future__ import annotations

import time

from ferrule import discovery
from ferrule.config import configuration
from ferrule.errors import FerruleError, InputMalformed
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ferrule.calls.execution import Execution
    from ferrule.calls.streams import Streams
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.signals import Signals
    from ferrule.supervision.supervisor import Outcome


class ToolCall:
    """A call of a tool, from what was received to the outcome. Who gives it its arguments overrides `received`.

    name: the tool that is asked for. names: other names that tools are linked under. deadline: an instant of
    `time.monotonic()`. dry: check the arguments, and execute nothing.
    """

    def __init__(
        self, name: str, names: Mapping[str, str], signals: Signals, deadline: float, *, dry: bool = False
    ) -> None:
        self.name = name
        self.deadline = deadline
        self.tool: InstalledTool | None = None
        self._names = names
        self._signals = signals
        self._dry = dry

    def received(self) -> bytes:
        """What the caller sent. It is read first, whatever comes after: a client that still writes must not be cut."""
        raise NotImplementedError

    def found(self, settings: Configuration) -> InstalledTool:
        """The tool, or the error that says why there is none."""
        return discovery.find(self.name, settings)

    def arguments(self, data: bytes, tool: InstalledTool) -> dict[str, Any]:
        """What was received, as arguments of this tool."""
        return parse(data)

    def supervised(self, execution: Execution, tool: InstalledTool, memory: int) -> Outcome:
        """What comes of the execution in a process that can hurt nothing but itself. memory: MiB."""
        from ferrule.supervision.supervisor import supervise
        from ferrule.tool.context import ANSWER_BYTES

        return supervise(
            execution, deadline=self.deadline, memory=memory, size_limit=ANSWER_BYTES, signals=self._signals
        )

    def outcome(self) -> Outcome:
        """Make the call; what comes of it, which is a failure for whatever goes wrong."""
        from ferrule.supervision.supervisor import Outcome

        try:
            data = self.received()
            settings = configuration.read()
            self.tool = self.found(settings)
            return self._executed(self.tool, self.arguments(data, self.tool), settings)
        except FerruleError as error:
            return Outcome(None, error.facts())
        except Exception as error:  # noqa: BLE001 - the answer to a defect of the host itself is one document, too
            from ferrule.supervision.exception_text import defect, traceback_of

            return Outcome(None, defect(error).facts(), text=traceback_of(error))

    def _executed(self, tool: InstalledTool, arguments: dict[str, Any], settings: Configuration) -> Outcome:
        """What comes of it in a supervised child, once everything is checked that needs none of the plugin's code."""
        from ferrule.calls.execution import Execution
        from ferrule.schema import schema_file
        from ferrule.schema.arguments import needs_jsonschema, prepare

        schema = schema_file.static(tool)
        # A pattern can take for ever to match, so such a schema is left to the child, which can be ended.
        has_been_checked = schema is not None and not needs_jsonschema(schema["parameters"])
        if schema is not None and has_been_checked:
            arguments = prepare(arguments, schema["parameters"])

        def run(wrappers: Mapping[str, Mapping[str, Any]]) -> Outcome:
            execution = Execution(
                tool,
                arguments,
                self._names,
                self.deadline,
                settings=settings.tool(tool.name),
                wrappers=wrappers,
                has_been_checked=has_been_checked,
                dry=self._dry,
            )
            return self.supervised(execution, tool, settings.memory(tool.name))

        return _without_what_dies(run, settings.wrappers())


class Call(ToolCall):
    """A call whose arguments come from stdin. started: the instant from which the deadline counts."""

    def __init__(
        self,
        name: str,
        names: Mapping[str, str],
        streams: Streams,
        signals: Signals,
        started: float,
        *,
        dry: bool = False,
    ) -> None:
        super().__init__(name, names, signals, started + configuration.deadline(), dry=dry)
        self._streams = streams

    def answer(self) -> int:
        """Make the call, put what comes of it on the streams, and return the exit code."""
        from ferrule.calls.output import Answer

        answer = Answer.of(self.outcome(), self.tool, self.name, self._names)
        limit = max(self.deadline, time.monotonic() + 1)
        is_read = self._streams.answer(self.shown(answer.document), limit, self._signals)
        self._streams.report(self.reported(answer.text), limit, self._signals)
        return answer.exit_code if is_read else 1

    def received(self) -> bytes:
        """What is on stdin."""
        return self._streams.read(self._signals, self.deadline)

    def shown(self, document: bytes) -> bytes:
        """The answer in the form in which it is written."""
        return document

    def reported(self, text: bytes) -> bytes:
        """What goes to stderr in the form in which it is written."""
        return text


def _without_what_dies(
    run: Callable[[Mapping[str, Mapping[str, Any]]], Outcome], wrappers: Mapping[str, Mapping[str, Any]]
) -> Outcome:
    """What comes of a call. A wrapper in whose code the process dies before the tool has begun is left out then."""
    outcome = run(wrappers)
    while outcome.wrapper in wrappers:
        wrappers = {name: table for name, table in wrappers.items() if name != outcome.wrapper}
        died, outcome = outcome, run(wrappers)
        outcome.events = [*died.events, *outcome.events]
        outcome.secrets = [*died.secrets, *outcome.secrets]
    return outcome


def parse(data: bytes, source: str = "stdin") -> dict[str, Any]:
    """The arguments of a call; InputMalformed for anything but one JSON object. source: where they stood."""
    try:
        arguments = strict_json.loads(data)
    except strict_json.MalformedJSON as error:
        raise InputMalformed(
            f"{source} is not valid JSON: {error}.", hint="Send one JSON object, {} where there are no arguments."
        ) from None
    if isinstance(arguments, dict):
        return arguments
    kinds = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    kind = kinds.get(type(arguments), "a number")
    raise InputMalformed(f"{source} holds {kind}; the arguments are expected as one JSON object.")
