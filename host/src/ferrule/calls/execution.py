"""One call of one tool, as it runs in the supervised child."""

from __future__ import annotations

import gc

from ferrule.confinement.policy import OFF
from ferrule.errors import ArgumentsInvalid, ResultTooLarge

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.calls.caller import CallerState
    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.plugin.hooks.context import Context
    from ferrule.plugin.hooks.lasting_state import Lasting
    from ferrule.plugin.loader import LoadedTool
    from ferrule.plugin.surroundings import Surroundings
    from ferrule.supervision.channel.channel import Channel
    from ferrule.supervision.channel.questions import Runs
    from ferrule.text.json_types import JSONMapping, JSONObject

_DEADLINE_MARGIN_SECONDS = 2.0  # between the tool's deadline and the moment at which it is ended


class Execution:
    """Load the tool, check what has not been checked yet, and execute it, wrapped by what is on.

    Args:
        settings: the tool's table of config.toml.
        wrappers: the tables of the wrappers that are on, by name.
        wrapper_tables: all of the admin's, by which the wrappers that the tool wants are judged; None where it is not
            asked.
        configuration: what the process goes by instead of config.toml; None where it reads that itself.
        answer_bytes: that the answer may have, those of an executable where it is None.
        policy: what the process of the call is held to; None is nothing. runs: what forks the processes that run other
            tools for it.
        is_journaled: whether the journal wants to know what the call is refused.
        given: the variables of the tool's credentials that it has, where they are known.
    """

    def __init__(
        self,
        tool: InstalledTool,
        arguments: JSONObject,
        names: Mapping[str, str],
        deadline: float,
        *,
        settings: JSONMapping,
        configuration: JSONMapping | None = None,
        wrappers: Mapping[str, JSONMapping] | None = None,
        wrapper_tables: Mapping[str, JSONMapping] | None = None,
        has_been_checked: bool,
        is_dry_run: bool = False,
        answer_bytes: int | None = None,
        policy: Policy | None = None,
        is_journaled: bool = False,
        given: Sequence[str] | None = None,
    ) -> None:
        from ferrule.plugin.hooks.context import ANSWER_BYTES

        self._tool = tool
        self._arguments = arguments
        self._names = names
        self._deadline = deadline
        self._settings = settings
        self._configuration = configuration
        self._wrappers = wrappers or {}
        self._wrapper_tables = wrapper_tables
        self._has_been_checked = has_been_checked
        self._is_dry_run = is_dry_run
        self.policy = policy
        self.runs: Runs | None = None
        self.caller: CallerState | None = None  # of a keeper's call
        self.lasting: Lasting | None = None  # of a process that takes more calls than this one
        self._is_journaled = is_journaled
        self._given = given
        self.answer_bytes = ANSWER_BYTES if answer_bytes is None else answer_bytes

    @property
    def tool(self) -> InstalledTool:
        """The tool that is called."""
        return self._tool

    def surroundings(self) -> Surroundings:
        """What the process in which this runs is given beside its policy. For the parent, which keeps it."""
        from ferrule.plugin.surroundings import Surroundings

        return Surroundings(self._tool, self.policy, self._given)

    def for_held_process(self) -> Execution:
        """The same for a process that is held to the policy already: it is sent without it."""
        sent = object.__new__(Execution)
        vars(sent).update(vars(self), policy=None, runs=None)
        return sent

    def __call__(self, channel: Channel) -> None:
        """Load the tool, and run it."""
        from ferrule.plugin.loader import load

        self._provide_configuration()
        self._watch_attempts()
        loaded = load(self._tool)
        gc.freeze()  # what was imported stays; without this, the first collection would go through all of it
        gc.enable()
        self.run_loaded(loaded, channel)

    def run_loaded(self, loaded: LoadedTool, channel: Channel) -> None:
        """Send the result of a tool that is loaded. Its parent knows every secret value that it could leak.

        Raises ArgumentsInvalid, ResultInvalid, ResultTooLarge, and what the tool raises.
        """
        from ferrule.plugin.hooks.context import Context

        self._provide_configuration()
        self._watch_attempts()
        credentials = loaded.credentials()
        values = None
        if credentials:
            from ferrule.plugin.hooks.credential_values import ask_for_values

            values = ask_for_values(channel, self._tool.name, credentials)
        context = Context(
            self._tool.name,
            _tool_deadline(self._deadline),
            credentials=credentials,
            names=self._names,
            settings=self._settings,
            send_event=channel.event,
            max_bytes=self.answer_bytes,
            values=values,
            lasting=self.lasting,
        )
        try:
            self._run_with(context, loaded, channel)
        finally:
            if values is not None:
                values.withdraw()

    def _watch_attempts(self) -> None:
        """Have noted what the call is refused, also of a call that goes on: the journal has it."""
        if self._is_journaled:
            from ferrule.confinement import attempts, enforcement

            policy = enforcement.in_force()
            if policy is not None and policy.isolation != OFF:
                attempts.watch(policy)

    def _provide_configuration(self) -> None:
        if self._configuration is not None:
            from ferrule.config import configuration

            configuration.provide(configuration.default_path(), self._configuration)

    def _run_with(self, context: Context, loaded: LoadedTool, channel: Channel) -> None:
        if not self._has_been_checked:
            self._check(loaded.schema())
        findings = loaded.validate(self._arguments)
        if findings:
            raise ArgumentsInvalid(findings)
        result = {"valid": True} if self._is_dry_run else self._execute(loaded, context, channel)
        try:
            channel.result(result)
        except ResultTooLarge as error:
            raise _with_paging_hint(error, loaded) from None

    def _execute(self, loaded: LoadedTool, context: Context, channel: Channel) -> JSONObject:
        wrappers = {**self._wanted_wrappers(loaded), **self._wrappers}
        if not wrappers:
            return loaded.execute(self._arguments, context)
        from ferrule.wrappers.guard import execute_wrapped

        return execute_wrapped(loaded, self._arguments, context, wrappers, channel)

    def _wanted_wrappers(self, loaded: LoadedTool) -> Mapping[str, JSONMapping]:
        if self._wrapper_tables is None or not loaded.has_result_policy:
            return {}
        from ferrule.plugin.hooks.result_policy import wanted_wrappers

        return wanted_wrappers(loaded.result_policy(), self._wrapper_tables)

    def _check(self, schema: JSONObject) -> None:
        from ferrule.schema.arguments import prepare
        from ferrule.schema.schema_file import require_valid

        self._arguments = prepare(self._arguments, require_valid(schema, self._tool)["parameters"])


def _with_paging_hint(error: ResultTooLarge, loaded: LoadedTool) -> ResultTooLarge:
    """The error with the arguments by which the model gets less at a time."""
    from ferrule.plugin.hooks.result_policy import paging_arguments

    try:
        names = paging_arguments(loaded.result_policy(), loaded.schema()["parameters"])
    except Exception:  # noqa: BLE001 - the error says what happened without them
        names = []
    if names:
        last = f" and {names[-1]}" if names[1:] else ""
        plural = "s" if names[1:] else ""
        error.hint = f"Ask for less at a time, with the argument{plural} {', '.join(names[:-1] or names)}{last}."
    return error


def _tool_deadline(deadline: float) -> float:
    """Two seconds before the supervisor's, and never less than half of the time that is left."""
    import time

    now = time.monotonic()
    return max(deadline - _DEADLINE_MARGIN_SECONDS, now + (deadline - now) / 2)
