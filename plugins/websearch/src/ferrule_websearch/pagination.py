"""From the results that a provider has to those that were asked for: which pages, and which of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from ferrule.errors import ToolError
from ferrule_websearch.domains import DomainFilter, InvalidDomain, domain_findings

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_websearch.results import Result


class Query(NamedTuple):
    """What is searched for. offset: how many results to pass over. limit: how many to return at the most.

    parameters: what every request of the search has besides its page's own, in the provider's words.
    """

    text: str
    offset: int
    limit: int
    domains: DomainFilter = DomainFilter()
    parameters: Mapping[str, object] = {}

    @classmethod
    def of(cls, arguments: JSONMapping, *, offset: int, limit: int) -> Self:
        """The query that a tool's arguments mean: `query`, `allowed_domains` and `blocked_domains` are read from them.

        Raises ToolError INVALID_INPUT for what `findings` should have found before.
        """
        try:
            domains = DomainFilter.of(arguments)
        except InvalidDomain:
            raise ToolError("INVALID_INPUT", "; ".join(domain_findings(arguments)) + ".") from None
        return cls(arguments["query"], offset, limit, domains)


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments that `Query.of` reads, for a tool's `validate` hook; `[]` where nothing is."""
    return domain_findings(arguments) + ([] if arguments["query"].strip() else ["query: it is blank"])


class Page(NamedTuple):
    """One request. first: the place of its first result among all that the provider has, from 0."""

    params: Mapping[str, object]
    first: int


class Reply(NamedTuple):
    """What a page holds: its results in their places, None for one that cannot be shown. has_more: pages follow it."""

    results: Sequence[Result | None]
    has_more: bool = True


class Plan(NamedTuple):
    """The pages to ask for, one after the other, as long as results are missing.

    offset_counts_passing: the query's offset counts the results that pass the filter, and not those that the provider
    has. It does where the provider cannot filter, because else results would come twice or never as a caller goes on.
    """

    pages: Iterable[Page]
    offset_counts_passing: bool = False


class ResultSet(NamedTuple):
    """results: at most as many as were asked for. stop_reason: why there are no more, where that is not their end."""

    results: list[Result]
    stop_reason: str = ""


def pages_from(first: int, size: int, end: int, params: Callable[[int, int], Mapping[str, object]]) -> Iterator[Page]:
    """The pages from a place on, `size` results each, up to `end`; `params` gets each page's place and size.

    For providers that take the place of the first result. The last page is cut where `end` demands it.
    """
    for place in range(first, end, size):
        yield Page(params(place, min(size, end - place)), place)


def collect(plan: Plan, query: Query, ask: Callable[[Page], Reply]) -> ResultSet:
    """Ask for pages until the query has its results, and each of them once.

    What goes wrong after the first results ends the search and is told in `stop_reason`; before, it is raised.
    """
    selection = _Selection(plan, query)
    for page in plan.pages:
        try:
            reply = ask(page)
        except ToolError as error:
            if not selection.results:
                raise
            return ResultSet(selection.results, error.message)
        selection.add(page, reply)
        if selection.is_complete or not reply.has_more:
            break
    return ResultSet(selection.results)


class _Selection:
    """The results so far."""

    def __init__(self, plan: Plan, query: Query) -> None:
        self.results: list[Result] = []
        self._query = query
        self._seen: set[str] = set()
        self._first = 0 if plan.offset_counts_passing else query.offset
        self._to_skip = query.offset if plan.offset_counts_passing else 0
        # Without a filter the next call goes on where this one ends, even if one of the results cannot be shown.
        self._end = None if query.domains.is_active else query.offset + query.limit
        self.is_complete = False

    def add(self, page: Page, reply: Reply) -> None:
        for place, result in enumerate(reply.results, page.first):
            if self._end is not None and place >= self._end:
                self.is_complete = True
            if self.is_complete:
                return
            if result and place >= self._first and self._is_new(result):
                self._keep(result)

    def _is_new(self, result: Result) -> bool:
        if result.url in self._seen or not self._query.domains.passes(result.url):
            return False
        self._seen.add(result.url)
        return True

    def _keep(self, result: Result) -> None:
        if self._to_skip:
            self._to_skip -= 1
        else:
            self.results.append(result)
            self.is_complete = len(self.results) >= self._query.limit
