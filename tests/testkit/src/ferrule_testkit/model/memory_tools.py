"""Tools that live in the test's own process: what a conversation does with tools, without the tools.

tools = MemoryTools(content="It is 95,234 dollars.")
Client(toolbox=tools).ask("Bitcoin", "What is the price?")
assert tools.executed == [("web_search_brave", {"query": "BTC"})]
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ferrule_ask.tools.protocols import Passage, Source, ToolOffer, ToolResult

SEARCH = "web_search_brave"
QUERY = {"type": "object", "properties": {"query": {"type": "string", "description": "Words"}}, "required": ["query"]}


class MemoryTools:
    """Some tools, all with one argument `query`, which answer the same after a while, or raise.

    executed: name and arguments of every execution. cancelled: how many were ended from outside.
    """

    def __init__(
        self,
        *names: str,
        content: str = "Search Results:\n\n1. Bitcoin\n   https://example.org/\n   95,234 dollars",
        is_error: bool = False,
        seconds: float = 0.0,
        raises: Exception | None = None,
        code: str | None = None,
        error: str | None = None,
        sources: Sequence[tuple[str, str, str, str]] = (),
        passages: Sequence[tuple[str, str, str]] = (),
    ) -> None:
        self.offered = tuple(
            ToolOffer(name, {"name": name, "description": "Searches.", "parameters": QUERY})
            for name in names or (SEARCH,)
        )
        self.left_out: tuple[tuple[str, str], ...] = ()
        self.executed: list[tuple[str, Mapping[str, Any]]] = []
        self.cancelled = 0
        found, parts = tuple(Source(*one) for one in sources), tuple(Passage(*one) for one in passages)
        self._outcome = ToolResult(content, is_error, seconds, code, error, sources=found, passages=parts)
        self._raises = raises

    async def execute(self, name: str, arguments: Mapping[str, Any], seconds: float) -> ToolResult:
        """Note the execution, take the time, and answer."""
        self.executed.append((name, arguments))
        try:
            await asyncio.sleep(self._outcome.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self._raises:
            raise self._raises
        return self._outcome


def no_tools() -> MemoryTools:
    """Nothing on offer."""
    tools = MemoryTools()
    tools.offered = ()
    return tools
