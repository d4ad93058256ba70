"""From the results that a provider has to those that were asked for: which pages, and which of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from ferrule.errors import ToolError
from ferrule_websearch.domains import DomainFilter, InvalidDomain, domain_findings

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_websearch.pace.request_budget import RequestBudget
    from ferrule_websearch.results import Result


_DEFAULT_RESULTS = 10
_MORE_RESULTS = 20  # that a provider without pages is asked for, where too few of the first pass a filter


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
        return cls(arguments["query"].strip(), offset, limit, domains)


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments that `Query.of` reads, for a tool's `validate` hook; `[]` where nothing is."""
    return domain_findings(arguments) + ([] if arguments["query"].strip() else ["query: it is blank"])


def range_findings(name: str, arguments: JSONMapping, most: int) -> list[str]:
    """What is wrong with `offset` and `count`, where the provider of that name serves its first `most` results."""
    end = arguments.get("offset", 0) + count_of(arguments, most)
    return [f"offset: {name} serves the first {most} results, and offset + count is {end:,}"] if end > most else []


def count_of(arguments: JSONMapping, most: int) -> int:
    """How many results to return: `count`, or ten where it is not there, or as many as the provider still serves."""
    count: int = arguments.get("count") or min(_DEFAULT_RESULTS, most - arguments.get("offset", 0))
    return max(1, count)


class Page(NamedTuple):
    """One request. first: the place of its first result among all that the provider has, from 0.

    Where pages have no size of their own, first is None: a page begins where the one before it has ended.
    size: how many results are asked for; where fewer come, there are no more. None where that says nothing.
    """

    params: Mapping[str, object]
    first: int | None = None
    size: int | None = None


class Reply(NamedTuple):
    """What a page holds: its results in their places, None for one that cannot be shown. has_more: pages follow it.

    incomplete: why it may lack results that there are, as a sentence.
    """

    results: Sequence[Result | None]
    has_more: bool = True
    incomplete: str = ""


class Plan(NamedTuple):
    """The pages to ask for, one after the other, as long as results are missing.

    offset_counts_passing: the query's offset counts the results that pass the filter, and not those that the provider
    has. It does where the provider cannot filter, because else results would come twice or never as a caller goes on.
    """

    pages: Iterable[Page]
    offset_counts_passing: bool = False


class ResultSet(NamedTuple):
    """results: at most as many as were asked for. stop_reason: why there are no more, where that is not their end.

    is_bounded: there may be more, and the bound on requests is why they were not asked for.
    """

    results: list[Result]
    stop_reason: str = ""
    is_bounded: bool = False


def pages_from(first: int, size: int, end: int, params: Callable[[int, int], Mapping[str, object]]) -> Iterator[Page]:
    """The pages from a place on, `size` results each, up to `end`; `params` gets each page's place and size.

    For providers that take the place of the first result. The last page is cut where `end` demands it.
    """
    for place in range(first, end, size):
        yield Page(params(place, min(size, end - place)), place)


def plan_without_pages(query: Query, most: int, params: Callable[[int], Mapping[str, object]]) -> Plan:
    """One request for all results up to the last one of the query; `params` gets their number, `most` at the most.

    For providers that have no pages, and filter domains themselves. Where their filter lets others through, they are
    asked once more, for more results.
    """
    end = min(query.offset + query.limit, most)
    sizes = dict.fromkeys([end, min(end + _MORE_RESULTS, most)] if query.domains.is_active else [end])
    return Plan((Page(params(size), 0, size) for size in sizes), offset_counts_passing=query.domains.is_active)


def collect(plan: Plan, query: Query, ask: Callable[[Page], Reply], budget: RequestBudget | None = None) -> ResultSet:
    """Ask for pages until the query has its results or the budget is spent, and each of them once.

    What goes wrong after the first results ends the search and is told in `stop_reason`; before, it is raised. So is
    what a page says that it lacks; a first page that lacks all is a failure, so that another provider may be asked.
    """
    selection = _Selection(plan, query)
    lacking = ""
    for number, page in enumerate(plan.pages):
        if budget is not None and not budget.allows(is_first=number == 0):
            return ResultSet(selection.results, lacking, is_bounded=True)
        try:
            reply = ask(page)
            if reply.incomplete and not reply.results and number == 0:
                raise ToolError("API_ERROR", reply.incomplete)
        except ToolError as error:
            if not selection.results:
                raise
            return ResultSet(selection.results, error.message)
        lacking = lacking or reply.incomplete
        selection.add(page, reply)
        is_last = not reply.has_more or (page.size is not None and len(reply.results) < page.size)
        if selection.is_complete or is_last:
            break
    return ResultSet(selection.results, lacking)


class _Selection:
    """The results so far."""

    def __init__(self, plan: Plan, query: Query) -> None:
        self.results: list[Result] = []
        self._next = 0  # the place behind the page before
        self._query = query
        self._seen: set[str] = set()
        self._first = 0 if plan.offset_counts_passing else query.offset
        self._to_skip = query.offset if plan.offset_counts_passing else 0
        # Without a filter the next call goes on where this one ends, even if one of the results cannot be shown.
        self._end = None if query.domains.is_active else query.offset + query.limit
        self.is_complete = False

    def add(self, page: Page, reply: Reply) -> None:
        first = self._next if page.first is None else page.first
        self._next = first + len(reply.results)
        for place, result in enumerate(reply.results, first):
            if self._end is not None and place >= self._end:
                self.is_complete = True
            if self.is_complete:
                return
            if result and place >= self._first and self._is_new(result):
                self._keep(result)
        # Also where one of the results is there twice: the next page holds none that was asked for.
        self.is_complete = self.is_complete or (self._end is not None and self._next >= self._end)

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
