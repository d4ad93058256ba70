"""From what a search asks for to what one provider can be asked: its own words, what is emulated, what it cannot do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import ToolError
from ferrule_websearch.domains import DomainFilter
from ferrule_websearch.manifest import ENGINE, QUERY, RESULTS, SITE, VALUES, Manifest

if TYPE_CHECKING:
    from ferrule import JSONObject

_SPARE_RESULTS = 3  # results more than were asked for, since some may be the same page twice
HOUR = "hour"  # of news, which few providers can tell from a day
_TERM = re.compile(r'"([^"]*)"|(\S+)')


class SearchRequest(NamedTuple):
    """A search in the words of no provider. What is empty is not asked for.

    limit: results. sites: domains, of which each result has to be on one. time_range: day, week, month or year. safe:
    off, medium or high. language: ISO 639-1 in small letters. country: ISO 3166-1 alpha-2 in capitals. exact_terms: a
    phrase. exclude_terms: words, and phrases in quotes. engine: an engine of the provider's own, which then has the
    sites. max_requests: that one provider may get, where its own settings do not say. filters: what one kind of search
    alone asks for, by the names in `KIND_PARAMETERS`.
    """

    text: str
    limit: int
    sites: Sequence[str] = ()
    time_range: str = ""
    safe: str = ""
    language: str = ""
    country: str = ""
    exact_terms: str = ""
    exclude_terms: str = ""
    engine: str = ""
    max_requests: int = 0
    filters: Mapping[str, str | int] = {}


class ProviderQuery(NamedTuple):
    """One query. parameters: in the provider's words. domains: what its results are held against."""

    text: str
    limit: int
    parameters: Mapping[str, object]
    domains: DomainFilter


class QueryMapping(NamedTuple):
    """queries: whose results are merged. ignored: name and reason. emulated: names of what stands in the query."""

    queries: Sequence[ProviderQuery]
    ignored: Sequence[tuple[str, str]]
    emulated: Sequence[str]


class _Draft:
    """A mapping that is being made."""

    def __init__(self, manifest: Manifest, request: SearchRequest) -> None:
        self.manifest = manifest
        self.request = request
        self.text = request.text
        self.parameters: JSONObject = {}
        self.ignored: list[tuple[str, str]] = []
        self.emulated: list[str] = []

    def hand_on(self, name: str, value: str | int) -> bool:
        """Say it with the provider's own parameter; False where it has none, or no word for the value."""
        parameter = self.manifest.parameters.get(name)
        if parameter is None or not parameter.takes(value):
            return False
        if not parameter.is_operator:
            self.parameters[parameter.name] = parameter.value(value)
            return True
        text = f"{self.text} {parameter.name}:{parameter.value(value)}"
        if self.manifest.fits(text):
            self.text = text
        else:
            self.ignored.append((name, _too_long(self.manifest)))
        return True

    def emulate(self, name: str, words: str) -> None:
        """Say it in the query, where the provider reads that and it fits."""
        if not words.strip('"- '):
            return
        if not self.manifest.operators:
            self.ignored.append((name, f"{self.manifest.name} has nothing that would do this"))
        elif not self.manifest.fits(f"{self.text} {words}"):
            self.ignored.append((name, _too_long(self.manifest)))
        else:
            self.text = f"{self.text} {words}"
            self.emulated.append(name)


def map_query(manifest: Manifest, request: SearchRequest) -> QueryMapping:
    """What to ask this provider.

    Raises ToolError INVALID_INPUT where it cannot be asked at all: its queries are shorter, or an engine is asked for
    that only another provider has, without sites that would do instead.
    """
    if not manifest.fits(request.text):
        raise ToolError("INVALID_INPUT", f"query: {manifest.name} takes {manifest.longest} at most.")
    draft = _Draft(manifest, request)
    if request.limit > manifest.served:
        draft.ignored.append((RESULTS, f"{manifest.name} has {manifest.served} results at most for a query"))
    values: dict[str, str | int] = {**{name: str(getattr(request, name)) for name in VALUES}, **request.filters}
    for name, value in values.items():
        if value and not draft.hand_on(name, value):
            draft.ignored.append((name, _replace_unknown(draft, name, value)))
    if request.exact_terms and not draft.hand_on("exact_terms", request.exact_terms):
        draft.emulate("exact_terms", f'"{" ".join(request.exact_terms.replace(chr(34), " ").split())}"')
    if request.exclude_terms and not draft.hand_on("exclude_terms", request.exclude_terms):
        draft.emulate("exclude_terms", exclusion_operators(request.exclude_terms))
    sites = _sites(draft)
    queries = [_provider_query(draft, group) for group in (_groups(draft, sites) if sites else [()])]
    return QueryMapping(queries, draft.ignored, draft.emulated)


def exclusion_operators(terms: str) -> str:
    """Terms in the words of a query: `a "b c"` is `-a -"b c"`.

    >>> exclusion_operators('python "monty hall"')
    '-python -"monty hall"'
    """
    found = ((" ".join(phrase.split()), word.strip('"').lstrip("-")) for phrase, word in _TERM.findall(terms))
    return " ".join(f'-"{phrase}"' if phrase else f"-{word}" for phrase, word in found if phrase or word)


def _too_long(manifest: Manifest) -> str:
    return f"{manifest.name} takes {manifest.longest} at most in a query"


def _replace_unknown(draft: _Draft, name: str, value: str | int) -> str:
    """What comes of a value that the provider does not know: an hour is a day to it, all else is not asked for."""
    manifest = draft.manifest
    if value == HOUR and draft.hand_on(name, "day"):
        return f"{manifest.name} knows no shorter time than a day, and is asked for that"
    if name not in manifest.parameters:
        return f"{manifest.name} cannot be asked for it"
    return f"{manifest.name} does not know {value!r}"


def _sites(draft: _Draft) -> Sequence[str]:
    """The sites that are left to ask for, once the engine is named."""
    request = draft.request
    if not request.engine or draft.hand_on(ENGINE, request.engine):
        return () if request.engine else request.sites
    if not request.sites:
        raise ToolError("INVALID_INPUT", f"lens: {draft.manifest.name} has no engine of this kind.")
    return request.sites


def _groups(draft: _Draft, sites: Sequence[str]) -> list[tuple[str, ...]]:
    """The sites in groups that one query takes, none left out; all at once where no query can name any of them."""
    manifest = draft.manifest
    if not _can_name(draft, sites):
        return [tuple(sites)]
    parameter = manifest.parameters.get(SITE)
    is_own = parameter is not None
    most = 1 if parameter and not manifest.provider and not parameter.is_list else manifest.sites
    groups: list[tuple[str, ...]] = []
    for site in sites:
        grown = (*groups[-1], site) if groups else (site,)
        text = draft.text if is_own else f"{draft.text} {DomainFilter(grown).operators()}"
        if groups and len(grown) <= most and manifest.fits(text):
            groups[-1] = grown
        else:
            groups.append((site,))
    return groups


def _can_name(draft: _Draft, sites: Sequence[str]) -> bool:
    """Whether the provider can be told of at least one site; else there is one query, and its results to filter."""
    manifest = draft.manifest
    if SITE in manifest.parameters:
        return True
    is_read = manifest.operators or manifest.provider is not None
    return is_read and any(manifest.fits(f"{draft.text} {DomainFilter((site,)).operators()}") for site in sites)


def _provider_query(draft: _Draft, sites: tuple[str, ...]) -> ProviderQuery:
    manifest, domains = draft.manifest, DomainFilter(sites)
    spare = 0 if sites and manifest.provider else _SPARE_RESULTS
    limit = min(draft.request.limit + spare, max(manifest.results, draft.request.limit if manifest.provider else 1))
    if manifest.provider is not None:
        return ProviderQuery(draft.text, limit, draft.parameters, domains)
    return _query_for_tool(draft, domains, limit)


def _query_for_tool(draft: _Draft, domains: DomainFilter, limit: int) -> ProviderQuery:
    """The whole of the tool's arguments, with the sites in its own words or in the query."""
    manifest, parameters, text = draft.manifest, dict(draft.parameters), draft.text
    site = manifest.parameters.get(SITE)
    if domains.allowed and site:
        parameters[site.name] = list(domains.allowed) if site.is_list else site.value(domains.allowed[0])
    elif domains.allowed and manifest.operators and manifest.fits(f"{text} {domains.operators()}"):
        text = f"{text} {domains.operators()}"
    if RESULTS in manifest.parameters:
        parameters[manifest.parameters[RESULTS].name] = limit
    parameters[manifest.parameters[QUERY].name] = text
    return ProviderQuery(text, limit, parameters, domains)
