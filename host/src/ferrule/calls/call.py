"""One call of one tool, from its arguments to the outcome. How the arguments come and where it runs is handed in."""

from __future__ import annotations

import time

from ferrule.calls.lookup import Lookup
from ferrule.errors import InputMalformed
from ferrule.supervision.channel.outcome import Outcome
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from ferrule.calls.execution import Execution
    from ferrule.calls.interfaces import ArgumentSource, Runner
    from ferrule.calls.output import Output
    from ferrule.calls.streams import Streams
    from ferrule.config.configuration import Configuration
    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.schema.providers.translation import Translation
    from ferrule.supervision.signals import Signals
    from ferrule.text.json_types import JSONMapping, JSONObject

    ToolResolver = Callable[[str, Configuration], InstalledTool]


# What stands in every document that has a code of the host's: part of one, or a letter that is written by its number.
_OF_HOST_CODES = (b"_DENIED", b"OUT_OF_M", b"TOOL_", b"_UNUSABLE", b"_MALFORMED", b"_REFUSED", b"\\u")


class ToolCall:
    """A call of a tool, from what the caller sends to the outcome.

    Args:
        name: the tool that is asked for.
        source: of the arguments.
        runner: executes the tool.
        deadline: an instant of `time.monotonic()`.
        names: other names that tools are linked under.
        resolve_tool: finds the tool, else `Lookup.find_tool`.
        is_dry_run: check the arguments, and execute nothing.
        answer_bytes: that the answer may have, by the configuration; those of an executable where it is None.
        lookup: reads the configuration and the schema. After `run`, tool is what was found.
        environ: the caller's, where it is not this process's.
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
        answer_bytes: Callable[[Configuration], int] | None = None,
        lookup: Lookup | None = None,
        way: str = "",
        client: JSONMapping | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.deadline = deadline
        self.names = names or {}
        self.tool: InstalledTool | None = None
        self._source = source
        self._runner = runner
        self._lookup = lookup or Lookup()
        self._resolve_tool = resolve_tool or self._lookup.find_tool
        self._is_dry_run = is_dry_run
        self._answer_bytes = answer_bytes
        self._way = way
        self._client = client
        self._environ = environ
        self._settings: Configuration | None = None
        self._policy: Policy | None = None
        self._arguments: JSONObject | None = None
        self._input_bytes = 0
        self._began = time.monotonic()
        self._ended: float | None = None

    def run(self) -> Outcome:
        """Make the call. Every failure is an outcome, a defect of the host too."""
        steps = self.steps()
        try:
            job = next(steps)
            while True:
                try:
                    outcome = self._runner.run(job.execution, job.tool, job.memory_mib, self.deadline)
                except Exception as error:  # noqa: BLE001 - see `steps`
                    job = steps.throw(error)
                else:
                    job = steps.send(outcome)
        except StopIteration as stop:
            made: Outcome = stop.value
            return made

    def write_journal(self, outcome: Outcome, output_bytes: int) -> str:
        """Write the call down, where config.toml has the journal on. output_bytes: of the document that answers it.

        Never raises; a warning is returned, once in a process, where it cannot be written, and an empty text else.
        """
        settings = self._settings or self._lookup.readable_settings()
        if settings is None or not _may_be_journaled(settings):
            return ""
        from ferrule.journal.record import write_journal

        input_bytes = self._input_bytes or len(strict_json.dumps(self._arguments or {}))  # not all came as a document
        return write_journal(
            settings,
            self.tool or self.name,
            self._arguments,
            outcome,
            sizes=(input_bytes, output_bytes),
            seconds=(self._ended or time.monotonic()) - self._began,
            way=self._way,
            client=self._client,
            environ=self._environ,
            likely_secrets=self._list_likely_secrets,
        )

    def _list_likely_secrets(self) -> Iterable[str]:
        from ferrule.plugin.hooks.credentials import likely_secrets

        return likely_secrets(self._environ)

    def find_unrecorded(self) -> str:
        """Why an update of the tool will not be held, as a line; empty where it will."""
        if self.tool is None or self._settings is None or self._lookup.is_recorded:
            return ""
        from ferrule.trust import records

        found = records.find_unrecorded(self.tool, self._settings)
        return f"{found}\n" if found else ""

    def steps(self) -> Generator[Job, Outcome, Outcome]:
        """The call for whoever runs several at a time: gives what is to be executed, and wants the outcome of that.

        What is thrown in is an outcome, too.
        """
        outcome = yield from self._steps()
        self._ended = time.monotonic()
        return outcome

    def _steps(self) -> Generator[Job, Outcome, Outcome]:
        try:
            data = self._source.read_input()
            self._input_bytes, self._began = len(data), time.monotonic()
            self._settings = settings = self._lookup.configuration()
            self.tool = self._resolve_tool(self.name, settings)
            self._arguments = self._source.parse_arguments(data, self.tool)
            outcome = yield from self._execute(self.tool, self._arguments, settings)
            if (outcome.failure is not None and outcome.is_said) or _may_say_failure(outcome.result):
                from ferrule.plugin.attribution import attribute

                attribute(outcome, self._policy, self.tool)
            if outcome.failure is not None:
                from ferrule.plugin.failures import name_plugin

                outcome.failure = name_plugin(outcome.failure, self.tool)
            return outcome
        except Exception as error:  # noqa: BLE001 - the answer to a defect of the host itself is one document, too
            from ferrule.plugin.failures import explain_error

            facts, traceback = explain_error(error)
            return Outcome(None, facts, text=traceback)

    def _execute(
        self, tool: InstalledTool, arguments: JSONObject, settings: Configuration
    ) -> Generator[Job, Outcome, Outcome]:
        """Have it executed, once everything is checked that needs none of the plugin's code."""
        from ferrule.schema.arguments import needs_jsonschema, prepare

        schema = self._lookup.schema(tool)
        # A pattern can take for ever to match, so such a schema is left to the child, which can be ended.
        has_been_checked = schema is not None and not needs_jsonschema(schema["parameters"])
        if schema is not None and has_been_checked:
            arguments = prepare(arguments, schema["parameters"])
        with self._lookup.runs(tool, settings) as runs:
            execution = self._execution(tool, arguments, settings, has_been_checked=has_been_checked)
            execution.runs = runs
            # Once. A process that dies has last said whose code ran in it, which a plugin can say as well as a wrapper.
            outcome = yield Job(execution, tool, settings.memory(tool.name))
        if execution.policy is not None:
            _tell_unenforced(tool, execution.policy, outcome)
        return outcome

    def _execution(
        self, tool: InstalledTool, arguments: JSONObject, settings: Configuration, *, has_been_checked: bool
    ) -> Execution:
        """Raises see `Admission.policy`."""
        from ferrule.calls.execution import Execution

        policy = self._policy = self._lookup.policy(tool, settings)
        return Execution(
            tool,
            arguments,
            self.names,
            self.deadline,
            settings=settings.tool(tool.name),
            configuration=self._lookup.visible_configuration(tool, settings),
            wrappers=settings.wrappers(),
            wrapper_tables=settings.wrapper_tables(),
            has_been_checked=has_been_checked,
            is_dry_run=self._is_dry_run,
            answer_bytes=self._answer_bytes(settings) if self._answer_bytes else None,
            policy=policy,
            is_journaled=_may_be_journaled(settings),
            given=self._lookup.list_given(),
        )


def _tell_unenforced(tool: InstalledTool, policy: Policy, outcome: Outcome) -> None:
    """Say on stderr that the addresses of a call were not judged, where the system cannot: nobody would notice."""
    from ferrule.confinement.kernel.kernel_support import support
    from ferrule.confinement.policy import STRICT

    if policy.network and policy.isolation == STRICT and not support().notifications:
        outcome.text += f"warning: where {tool.name} connects to is not held here; run `ferrule doctor`.\n".encode()


class Job:
    """What a step of a call has executed, in a process that may take so many MiB."""

    __slots__ = ("execution", "memory_mib", "tool")

    def __init__(self, execution: Execution, tool: InstalledTool, memory_mib: int) -> None:
        self.execution = execution
        self.tool = tool
        self.memory_mib = memory_mib


class StreamSource:
    """The arguments are one JSON object on stdin.

    Args:
        translation: how to make them the tool's own, where the client was shown a provider's form of its schema.
    """

    def __init__(
        self, streams: Streams, signals: Signals, deadline: float, translation: Translation | None = None
    ) -> None:
        self._streams = streams
        self._signals = signals
        self._deadline = deadline
        self._translation = translation

    def read_input(self) -> bytes:
        """Read stdin, see `Streams.read`."""
        return self._streams.read(self._signals, self._deadline)

    def parse_arguments(self, data: bytes, _tool: InstalledTool) -> JSONObject:
        """Return the object that was read. Raises InputMalformed, and ArgumentsInvalid from the translation."""
        return parse_document(data, self._translation)


class ForkRunner:
    """Runs each execution in a child that is forked for it."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals

    def run(self, execution: Execution, _tool: InstalledTool, memory_mib: int, deadline: float) -> Outcome:
        """Run it, see `supervise`."""
        from ferrule.supervision.supervisor import supervise

        given = execution.surroundings()
        return supervise(
            execution,
            deadline=deadline,
            memory=memory_mib,
            size_limit=execution.answer_bytes,
            signals=self._signals,
            policy=execution.policy,
            secrets=given.secrets,
            answer=given.answer,
            runs=execution.runs,
        )


def answer(
    call: ToolCall, streams: Streams, signals: Signals, reformat: Callable[[Output], Output] | None = None
) -> int:
    """Make the call, write its output to the streams, and return the exit code.

    Args:
        reformat: changes what is written.
    """
    from ferrule.calls.output import render

    outcome = call.run()
    output = render(outcome, call.tool, call.name, call.names)
    written = reformat(output) if reformat else output
    limit = max(call.deadline, time.monotonic() + 1)
    is_read = streams.write_document(written.document, limit, signals)
    streams.write_text(written.text, limit, signals)
    warning = call.write_journal(outcome, len(output.document))
    if not written.text:  # which the client may take as it is for an event, or for the reason of a failure
        streams.write_text(f"{warning}{call.find_unrecorded()}".encode(), limit, signals)
    return output.exit_code if is_read else 1


def _may_be_journaled(settings: Configuration) -> bool:
    """Whether the journal may be on, without loading what reads its table."""
    table = settings.content.get("journal")
    return table is not None and not (isinstance(table, dict) and table.get("enabled", False) is False)


def _may_say_failure(result: bytes | None) -> bool:
    """Whether a result may be one that says a failure, with a code of the host's."""
    return result is not None and any(word in result for word in _OF_HOST_CODES)


def parse_document(data: bytes, translation: Translation | None) -> JSONObject:
    """The arguments in what came on stdin. Raises InputMalformed, and ArgumentsInvalid from the translation."""
    arguments = parse(data)
    if not translation:
        return arguments
    from ferrule.schema.providers.translation import translate

    return translate(arguments, translation)


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
