"""One call of one tool, from its arguments to the outcome. How the arguments come and where it runs is handed in."""

from __future__ import annotations

import time

from ferrule import discovery
from ferrule.config import configuration
from ferrule.errors import InputMalformed
from ferrule.supervision.supervisor import Outcome
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferrule.calls.execution import Execution
    from ferrule.calls.interfaces import ArgumentSource, Runner
    from ferrule.calls.output import Output
    from ferrule.calls.streams import Streams
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.signals import Signals
    from ferrule.text.json_types import JSONMapping, JSONObject

    ToolResolver = Callable[[str, Configuration], InstalledTool]


class ToolCall:
    """A call of a tool, from what the caller sends to the outcome.

    name: the tool that is asked for. source: of the arguments. runner: executes the tool. deadline: an instant of
    `time.monotonic()`. names: other names that tools are linked under. resolve_tool: finds the tool, else
    `discovery.find`. is_dry_run: check the arguments, and execute nothing. After `run`, tool is what was found.
    """

    def __init__(
        self,
        name: str,
        source: ArgumentSource,
        runner: Runner,
        deadline: float,
        *,
        names: Mapping[str, str] | None = None,
        resolve_tool: ToolResolver | None = None,
        is_dry_run: bool = False,
    ) -> None:
        self.name = name
        self.deadline = deadline
        self.names = names or {}
        self.tool: InstalledTool | None = None
        self._source = source
        self._runner = runner
        self._resolve_tool = resolve_tool or discovery.find
        self._is_dry_run = is_dry_run

    def run(self) -> Outcome:
        """Make the call. Every failure is an outcome, a defect of the host too."""
        try:
            data = self._source.read_input()
            settings = configuration.read()
            self.tool = self._resolve_tool(self.name, settings)
            return self._execute(self.tool, self._source.parse_arguments(data, self.tool), settings)
        except Exception as error:  # noqa: BLE001 - the answer to a defect of the host itself is one document, too
            from ferrule.calls.failures import explain_error

            facts, traceback = explain_error(error)
            return Outcome(None, facts, text=traceback)

    def _execute(self, tool: InstalledTool, arguments: JSONObject, settings: Configuration) -> Outcome:
        """Hand it to the runner, once everything is checked that needs none of the plugin's code."""
        from ferrule.calls.execution import Execution
        from ferrule.schema import schema_file
        from ferrule.schema.arguments import needs_jsonschema, prepare

        schema = schema_file.read_static(tool)
        # A pattern can take for ever to match, so such a schema is left to the child, which can be ended.
        has_been_checked = schema is not None and not needs_jsonschema(schema["parameters"])
        if schema is not None and has_been_checked:
            arguments = prepare(arguments, schema["parameters"])

        def run(wrappers: Mapping[str, JSONMapping]) -> Outcome:
            execution = Execution(
                tool,
                arguments,
                self.names,
                self.deadline,
                settings=settings.tool(tool.name),
                wrappers=wrappers,
                has_been_checked=has_been_checked,
                is_dry_run=self._is_dry_run,
            )
            return self._runner.run(execution, tool, settings.memory(tool.name), self.deadline)

        return _run_without_crashing_wrappers(run, settings.wrappers())


class StreamSource:
    """The arguments are one JSON object on stdin."""

    def __init__(self, streams: Streams, signals: Signals, deadline: float) -> None:
        self._streams = streams
        self._signals = signals
        self._deadline = deadline

    def read_input(self) -> bytes:
        """Read stdin, as of `Streams.read`."""
        return self._streams.read(self._signals, self._deadline)

    def parse_arguments(self, data: bytes, _tool: InstalledTool) -> JSONObject:
        """Return the object that was read."""
        return parse(data)


class ForkRunner:
    """Runs each execution in a child that is forked for it."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals

    def run(self, execution: Execution, _tool: InstalledTool, memory_mib: int, deadline: float) -> Outcome:
        """Run it, as of `supervise`."""
        from ferrule.supervision.supervisor import supervise
        from ferrule.tool.context import ANSWER_BYTES

        return supervise(
            execution, deadline=deadline, memory=memory_mib, size_limit=ANSWER_BYTES, signals=self._signals
        )


def answer(
    call: ToolCall, streams: Streams, signals: Signals, reformat: Callable[[Output], Output] | None = None
) -> int:
    """Make the call, write its output to the streams, and return the exit code. reformat: changes what is written."""
    from ferrule.calls.output import render

    output = render(call.run(), call.tool, call.name, call.names)
    written = reformat(output) if reformat else output
    limit = max(call.deadline, time.monotonic() + 1)
    is_read = streams.write_document(written.document, limit, signals)
    streams.write_text(written.text, limit, signals)
    return output.exit_code if is_read else 1


def _run_without_crashing_wrappers(
    run: Callable[[Mapping[str, JSONMapping]], Outcome], wrappers: Mapping[str, JSONMapping]
) -> Outcome:
    """Run a call; a wrapper in whose code the process dies before the tool has begun is left out of the next run."""
    outcome = run(wrappers)
    while outcome.wrapper in wrappers:
        wrappers = {name: table for name, table in wrappers.items() if name != outcome.wrapper}
        died, outcome = outcome, run(wrappers)
        outcome.events = [*died.events, *outcome.events]
        outcome.secrets = [*died.secrets, *outcome.secrets]
    return outcome


def parse(data: bytes, source: str = "stdin") -> JSONObject:
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
