"""A tool in the process that was made because another tool runs it, and what that one gets of it."""

from __future__ import annotations

import time
from functools import cached_property

from ferrule.config import configuration
from ferrule.errors import PermissionDenied, ToolBroken, ToolError
from ferrule.plugin.loader import load, resolve
from ferrule.schema import schema_file
from ferrule.schema.arguments import prepare
from ferrule.supervision.channel.outcome import Outcome
from ferrule.supervision.channel.questions import UNSAID
from ferrule.text import strict_json
from ferrule.trust.credentials import declared_keys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.discovery import InstalledTool
    from ferrule.plugin.hooks.context import Context
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.plugin.hooks.result_policy import ResultPolicy
    from ferrule.plugin.loader import LoadedTool
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONMapping, JSONObject

OPERATIONS = "operations"  # the key of `tool.json` that names what other tools may have run, beside `execute`
NO_OPERATION = "OPERATION_UNKNOWN"
BROKEN = "TOOL_BROKEN"
_MARGIN_SECONDS = 0.5  # in which a tool that was too slow can say so, before it is ended


class CalledTool:
    """A tool in the process that was made for one run of it. Its methods run the plugin's code.

    tool: what is installed; its `source` and `value` say which code it is. context: what `execute` gets.
    """

    def __init__(
        self, loaded: LoadedTool, channel: Channel, settings: JSONMapping, deadline: float, max_bytes: int
    ) -> None:
        self.tool: InstalledTool = loaded.tool
        self._loaded = loaded
        self._channel = channel
        self._settings = settings
        self._deadline = deadline
        self._max_bytes = max_bytes

    @cached_property
    def context(self) -> Context:
        """The tool's Context. The parent knows the secrets in it from then on. Raises ToolCrashed as `credentials`."""
        from ferrule.plugin.hooks.context import Context
        from ferrule.plugin.hooks.credential_values import ask_for_values

        credentials = self.credentials()
        return Context(
            self.tool.name,
            self._deadline,
            credentials=credentials,
            settings=self._settings,
            send_event=self._channel.event,
            max_bytes=self._max_bytes,
            values=ask_for_values(self._channel, self.tool.name, credentials),
        )

    def credentials(self) -> list[Credential]:
        """The credentials that it declares. Raises ToolCrashed where it declares something else."""
        return self._loaded.credentials()

    def result_policy(self) -> ResultPolicy:
        """What may be done with its results. Raises ToolCrashed where the hook returns something else."""
        return self._loaded.result_policy()

    def prepare(self, arguments: JSONObject) -> JSONObject:
        """The arguments as the host hands them on. Raises ArgumentsInvalid for those that do not fit its schema."""
        schema = schema_file.read_static(self.tool) or schema_file.require_valid(self._loaded.schema(), self.tool)
        return prepare(arguments, schema["parameters"])

    def validate(self, arguments: JSONObject) -> list[str]:
        """Its own findings about arguments that `prepare` has returned: what is wrong, each without a full stop."""
        return self._loaded.validate(arguments)

    def execute(self, arguments: JSONObject) -> JSONObject:
        """The result of a call with arguments that `prepare` has returned. Raises what the tool raises.

        A result may also say that the call has failed; `ferrule.errors.failure_in` reads that.
        """
        return self._loaded.execute(arguments, self.context)


def work_of(
    tool: InstalledTool,
    question: JSONMapping,
    settings: JSONMapping,
    visible: JSONMapping,
    deadline: float,
    max_bytes: int,
) -> Callable[[Channel], None]:
    """What the process of the tool does. Raises ToolError for an operation that there is not."""
    arguments = question.get("arguments")
    given: JSONObject = arguments if isinstance(arguments, dict) else {}
    operation = find_operation(tool, str(question.get("operation") or ""))

    def work(channel: Channel) -> None:
        configuration.provide(configuration.default_path(), visible)
        left = max(0.0, deadline - time.monotonic())
        called = CalledTool(_load(tool), channel, settings, deadline - min(_MARGIN_SECONDS, left / 10), max_bytes)
        channel.result(resolve(operation)(given, called) if operation else _execute(called, given))

    return work


def _load(tool: InstalledTool) -> LoadedTool:
    """See `load`, with a code of its own for a plugin that cannot be loaded: its caller may do without it."""
    try:
        return load(tool)
    except ToolBroken as error:
        raise ToolError(BROKEN, error.message, hint=error.hint) from error


def find_operation(tool: InstalledTool, name: str) -> str:
    """`module:function` of an operation; empty where none is named. Raises ToolError where it has none of that name."""
    if not name:
        return ""
    named = declared_keys.nearest(tool, OPERATIONS) if schema_file.may_declare(tool, OPERATIONS) else None
    value = named.get(name) if isinstance(named, dict) else None
    if isinstance(value, str):
        return value
    raise ToolError(
        NO_OPERATION,
        f"{tool.name} ({tool.source}) has no operation {name!r} for other tools.",
        hint=f'Its author names it in tool.json, as `"{OPERATIONS}": {{"{name}": "module:function"}}`.',
    )


def _execute(called: CalledTool, arguments: JSONObject) -> JSONObject:
    from ferrule.errors import ArgumentsInvalid

    arguments = called.prepare(arguments)
    findings = called.validate(arguments)
    if findings:
        raise ArgumentsInvalid(findings)
    return called.execute(arguments)


def answer_with(outcome: Outcome) -> JSONObject:
    """What the caller gets, and under `UNSAID` what its supervisor alone learns.

    What an admin could do about a failure is nothing for the caller, which a model may read.
    """
    from ferrule.text.redaction import redact, redact_value

    failure, refusals = outcome.failure, list(outcome.refused)
    if failure is not None and "admin" in failure:
        refusals.append(failure)
        failure = {key: value for key, value in failure.items() if key != "admin"}  # type: ignore[assignment] # one key less
    return {
        "result": None if outcome.result is None else strict_json.loads(outcome.result),
        "failure": failure,
        "events": redact_value(list(outcome.events), outcome.secrets),
        "text": redact(outcome.text, outcome.secrets).decode(errors="replace"),
        UNSAID: refusals,
    }


def refuse_run(name: str, caller: str) -> JSONObject:
    """The answer to a caller that does not run a tool, by its permissions."""
    return answer_with(Outcome(None, not_run(name, caller).facts()))


def not_run(name: str, caller: str) -> PermissionDenied:
    """The error with which a tool is not run for another one. name: as a plugin's code has written it."""
    from ferrule.text.names import is_tool_name

    if not is_tool_name(name):  # else an administrator reads a command with whatever stands there
        return PermissionDenied(f"{caller} asks for a tool by what is no tool's name.")
    error = PermissionDenied(f"{caller} does not run {name}: its permissions name no such tool.")
    error.admin = f"If it shall run it, run: ferrule permissions grant {caller} --with-tool {name}"
    return error


def outcome_in(answer: JSONMapping) -> Outcome:
    """The outcome that an answer of `answer_with` tells. No secret is in it."""
    result, failure, events = answer.get("result"), answer.get("failure"), answer.get("events")
    return Outcome(
        strict_json.dumps(result) if isinstance(result, dict) else None,
        failure if isinstance(failure, dict) else None,  # type: ignore[arg-type] # as `answer_with` wrote it
        events if isinstance(events, list) else [],
        str(answer.get("text", "")).encode(),
    )
