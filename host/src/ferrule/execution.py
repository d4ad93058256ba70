"""One call of one tool, as it runs in the supervised child."""

import gc

from ferrule.errors import ArgumentsInvalid

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ferrule.channel import Channel
    from ferrule.discovery import InstalledTool

_MARGIN = 2.0  # seconds between the tool's deadline and the moment at which it is ended


class Execution:
    """Load the tool, check what has not been checked yet, and execute it."""

    def __init__(
        self,
        tool: "InstalledTool",
        arguments: "dict[str, Any]",
        names: "Mapping[str, str]",
        deadline: float,
        *,
        settings: "Mapping[str, Any]",
        has_been_checked: bool,
        dry: bool = False,
    ) -> None:
        self._tool = tool
        self._arguments = arguments
        self._names = names
        self._deadline = deadline
        self._settings = settings
        self._has_been_checked = has_been_checked
        self._dry = dry

    def __call__(self, channel: "Channel") -> None:
        """Send the result, after every secret value that the tool could leak."""
        from ferrule.context import Context
        from ferrule.loading import load

        loaded = load(self._tool)
        gc.freeze()  # what was imported stays; without this, the first collection would go through all of it
        gc.enable()
        context = Context(
            self._tool.name,
            _tools_deadline(self._deadline),
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
        channel.result({"valid": True} if self._dry else loaded.execute(self._arguments, context))

    def _check(self, schema: "dict[str, Any]") -> None:
        from ferrule.arguments import prepare
        from ferrule.schemas import sound

        self._arguments = prepare(self._arguments, sound(schema, self._tool)["parameters"])


def _tools_deadline(deadline: float) -> float:
    """Two seconds before the supervisor's, and never less than half of the time that is left."""
    import time

    now = time.monotonic()
    return max(deadline - _MARGIN, now + (deadline - now) / 2)
