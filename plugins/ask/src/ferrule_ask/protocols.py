"""What the conversation needs of keys and tools, whoever brings them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Found(Protocol):
    """A key, and where it was found."""

    @property
    def value(self) -> str:
        """The key itself."""

    @property
    def source(self) -> str:
        """Where it was found, in words."""


class KeySource(Protocol):
    """Where keys come from; `ferrule_ask.Keys` is one."""

    def find(self, variable: str, path: str = "") -> Found | None:
        """The key of that variable, or of that path of the credentials file."""


class Offer(Protocol):
    """A tool that the model may call."""

    @property
    def name(self) -> str:
        """As the model calls it."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The tool's schema: `name`, `description`, `parameters`."""


class Outcome(Protocol):
    """What came of one execution."""

    @property
    def content(self) -> str:
        """The text for the model."""

    @property
    def is_error(self) -> bool:
        """Whether it failed."""

    @property
    def seconds(self) -> float:
        """How long it took."""


class Tools(Protocol):
    """The tools of one asker; `ferrule_ask.toolbox.Toolbox` is one."""

    @property
    def offered(self) -> Sequence[Offer]:
        """Those that the model may call."""

    @property
    def left_out(self) -> Sequence[tuple[str, str]]:
        """Name and reason of those that were asked for and are not offered."""

    async def execute(self, name: str, arguments: Mapping[str, Any], seconds: float) -> Outcome:
        """Execute an offered tool. Never raises for what a tool does; ends within `seconds` and when cancelled."""
