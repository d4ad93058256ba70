"""What a call of `search_and_scrape` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

MAX_PAGES = 10
DEFAULT_PAGES = 3
DEFAULT_SOURCE_BYTES = 50_000
MAX_SOURCE_BYTES = 1_000_000
DEFAULT_TOTAL_BYTES = 300_000
MAX_TOTAL_BYTES = 5_000_000


class Request(NamedTuple):
    """The arguments, with the defaults filled in.

    asked_pages: as the call has it; pages: as many as are read. source_bytes: of the text of one page. total_bytes: of
    the texts together, with what stands between them. unrecorded: why the session has not recorded the pages.
    """

    query: str
    asked_pages: int
    source_bytes: int
    total_bytes: int
    provider: str
    claim: str
    session: str
    has_sources: bool
    is_deduplicated: bool
    is_filtered: bool
    unrecorded: str = ""

    @classmethod
    def of(cls, arguments: JSONMapping) -> Self:
        """The call's. Pages are filtered where that is wanted, or with a claim to judge them by."""
        claim = str(arguments.get("claim", "")).strip()
        return cls(
            arguments["query"].strip(),
            arguments.get("num_results", DEFAULT_PAGES),
            min(arguments.get("max_length_per_source", DEFAULT_SOURCE_BYTES), MAX_SOURCE_BYTES),
            min(arguments.get("total_max_length", DEFAULT_TOTAL_BYTES), MAX_TOTAL_BYTES),
            str(arguments.get("provider", "")).strip(),
            claim,
            str(arguments.get("sessionId", "")).strip(),
            has_sources=arguments.get("include_sources", True),
            is_deduplicated=arguments.get("deduplicate", True),
            is_filtered=arguments.get("filter_by_query", bool(claim)),
        )

    @property
    def pages(self) -> int:
        """How many pages are read at most."""
        return min(self.asked_pages, MAX_PAGES)
