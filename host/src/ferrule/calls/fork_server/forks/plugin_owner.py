"""What keeps a plugin's process for the calls of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from ferrule.calls.fork_server.surroundings import Request
    from ferrule.supervision.channel.outcome import Outcome


_Plugin = TypeVar("_Plugin", contravariant=True)


class PluginOwner(Protocol[_Plugin]):
    """What is told of a plugin."""

    def handle_loaded(self, plugin: _Plugin, failure: Outcome | None) -> None:
        """It is there, or cannot be loaded."""

    def handle_copy(self) -> None:
        """A copy waits for a call, or there will be none any more."""

    def handle_call(self, plugin: _Plugin, request: Request, outcome: Outcome, *, is_worn: bool) -> None:
        """A call has an outcome.

        Args:
            is_worn: it crashed, or its time was over.
        """

    def handle_end(self, plugin: _Plugin) -> None:
        """Its process has ended, with all that it had forked."""
