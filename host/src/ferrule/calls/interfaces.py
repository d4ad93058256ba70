"""What a call is handed: where its arguments come from, and where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ferrule.calls.execution import Execution
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.text.json_types import JSONObject


class ArgumentSource(Protocol):
    """Where the arguments of a call come from. Both methods raise a FerruleError for what cannot be read."""

    def read_input(self) -> bytes:
        """Read what the caller sends, before anything else happens: a client that still writes must not be cut."""

    def parse_arguments(self, data: bytes, tool: InstalledTool, /) -> JSONObject:
        """Return what was read as arguments of this tool."""


class Runner(Protocol):
    """Where an execution runs: in a process that can hurt nothing but itself."""

    def run(self, execution: Execution, tool: InstalledTool, memory_mib: int, deadline: float, /) -> Outcome:
        """Run it; every failure is an outcome.

        Args:
            deadline: an instant of `time.monotonic()`.
        """
