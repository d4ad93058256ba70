"""What the conversation needs of tools, also of those that a caller brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping


class ToolOffer(NamedTuple):
    """A tool that the model may call. schema: sound, `{"name", "description", "parameters"}`."""

    name: str
    schema: JSONMapping


class ToolResult(NamedTuple):
    """The result of an execution. content: the text for the model, without secrets. seconds: how long it took."""

    content: str
    is_error: bool
    seconds: float


class Tools(Protocol):
    """The tools of one client; `ferrule_ask.toolbox.Toolbox` is one."""

    @property
    def offered(self) -> Sequence[ToolOffer]:
        """Those that the model may call."""

    @property
    def left_out(self) -> Sequence[tuple[str, str]]:
        """Name and reason of those that were asked for and are not offered."""

    async def execute(self, name: str, arguments: JSONMapping, seconds: float) -> ToolResult:
        """Execute an offered tool. Never raises for what a tool does; ends within `seconds` and when cancelled."""
