"""What the conversation needs of tools, also of those that a caller brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping


class ToolOffer(NamedTuple):
    """A tool that the model may call. schema: sound, `{"name", "description", "parameters"}`."""

    name: str
    schema: JSONMapping


class Source(NamedTuple):
    """Where something that a tool found is. published: a date as the tool has it; empty where it is not known."""

    title: str
    url: str
    published: str
    tool: str


class Passage(NamedTuple):
    """A part of a tool's result that has a place of its own, which a model may cite. url: empty for a text of none."""

    url: str
    title: str
    text: str


class ResultText(NamedTuple):
    """What the model gets of a tool's result. passages: the same in parts, for a provider that cites; may be empty."""

    content: str
    is_error: bool
    passages: tuple[Passage, ...] = ()


class ToolResult(NamedTuple):
    """The result of an execution. content: the text for the model, without secrets. seconds: how long it took.

    code, error: of a failure, for the user, without secrets. retry_after: seconds after which the same call may
    succeed; with the code RATE_LIMIT, the call is made again then. sources: of what the content says. passages: the
    content in parts, of which each has its source; may be empty.
    """

    content: str
    is_error: bool
    seconds: float
    code: str | None = None
    error: str | None = None
    retry_after: float | None = None
    sources: tuple[Source, ...] = ()
    passages: tuple[Passage, ...] = ()

    def with_texts(self, change: Callable[[str], str]) -> ToolResult:
        """The same with each of its texts changed."""
        code, error = (None if text is None else change(text) for text in (self.code, self.error))
        sources = tuple(Source._make(map(change, one)) for one in self.sources)
        passages = tuple(Passage._make(map(change, one)) for one in self.passages)
        content = change(self.content)
        return self._replace(content=content, code=code, error=error, sources=sources, passages=passages)


class Tools(Protocol):
    """The tools of one client; `ferrule_ask.tools.toolbox.Toolbox` is one."""

    @property
    def offered(self) -> Sequence[ToolOffer]:
        """Those that the model may call."""

    @property
    def left_out(self) -> Sequence[tuple[str, str]]:
        """Name and reason of those that were asked for and are not offered."""

    async def execute(self, name: str, arguments: JSONMapping, seconds: float) -> ToolResult:
        """Execute an offered tool. Never raises for what a tool does; ends within `seconds` and when cancelled."""
