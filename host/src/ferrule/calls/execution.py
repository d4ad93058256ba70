"""One call of one tool, as it runs in the supervised child."""

from __future__ import annotations

import gc

from ferrule.errors import ArgumentsInvalid, ResultTooLarge

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel import Channel
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule.tool.context import Context
    from ferrule.tool.loader import LoadedTool

_DEADLINE_MARGIN_SECONDS = 2.0  # between the tool's deadline and the moment at which it is ended


class Execution:
    """Load the tool, check what has not been checked yet, and execute it, wrapped by what is on.

    settings: the tool's table of config.toml. wrappers: the tables of the wrappers that are on, by name.
    """

    def __init__(
        self,
        tool: InstalledTool,
        arguments: JSONObject,
        names: Mapping[str, str],
        deadline: float,
        *,
        settings: JSONMapping,
        wrappers: Mapping[str, JSONMapping] | None = None,
        has_been_checked: bool,
        is_dry_run: bool = False,
    ) -> None:
        self._tool = tool
        self._arguments = arguments
        self._names = names
        self._deadline = deadline
        self._settings = settings
        self._wrappers = wrappers or {}
        self._has_been_checked = has_been_checked
        self._is_dry_run = is_dry_run

    def __call__(self, channel: Channel) -> None:
        """Load the tool, and run it."""
        from ferrule.tool.loader import load

        loaded = load(self._tool)
        gc.freeze()  # what was imported stays; without this, the first collection would go through all of it
        gc.enable()
        self.run_loaded(loaded, channel)

    def run_loaded(self, loaded: LoadedTool, channel: Channel) -> None:
        """Send the result of a tool that is loaded, after every secret value that it could leak.

        Raises ArgumentsInvalid, ResultInvalid, ResultTooLarge, and what the tool raises.
        """
        from ferrule.tool.context import Context

        context = Context(
            self._tool.name,
            _tool_deadline(self._deadline),
            credentials=loaded.credentials(),
            names=self._names,
            settings=self._settings,
            send_event=channel.event,
        )
        channel.secrets(context.secrets())
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
        if not self._wrappers:
            return loaded.execute(self._arguments, context)
        from ferrule.wrappers.guard import execute_wrapped

        return execute_wrapped(loaded, self._arguments, context, self._wrappers, channel)

    def _check(self, schema: JSONObject) -> None:
        from ferrule.schema.arguments import prepare
        from ferrule.schema.schema_file import require_valid

        self._arguments = prepare(self._arguments, require_valid(schema, self._tool)["parameters"])


def _with_paging_hint(error: ResultTooLarge, loaded: LoadedTool) -> ResultTooLarge:
    """The error with the arguments by which the model gets less at a time."""
    from ferrule.tool.result_policy import paging_arguments

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
