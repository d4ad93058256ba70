"""One attempt at one provider, in a process of its tool, which the host runs for a search: an operation of that tool.

What comes of it has the fields of an `Attempt`. `state` is `answered`, `unconfigured` (a credential or a server is not
set), `unusable` (a wrong manifest) or `resting` (its breaker is open). What fails is raised.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import AnswerMissing, FerruleError, ToolError
from ferrule.installed import entry_points, resolve
from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex
from ferrule_websearch.manifest import ENGINE, GROUPS, WEB, InvalidManifest, Manifest, read_manifest
from ferrule_websearch.pace.circuit_breaker import FAILING, SPENT
from ferrule_websearch.pace.request_budget import MAX_REQUESTS, RequestBudget, explain_limit, max_requests
from ferrule_websearch.pagination import Query, ResultSet
from ferrule_websearch.query_mapping import ProviderQuery, QueryMapping, SearchRequest, map_query
from ferrule_websearch.results import DETAILS, Result, read_results

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.installed import CalledTool
    from ferrule.text.json_types import JSONMapping
    from ferrule_websearch.pace.known_identities import Resting
    from ferrule_websearch.provider import Provider

OPERATION = "search"  # of a provider's tool, which is `attempt`
ANSWERED, RESTING = "answered", "resting"
UNCONFIGURED, UNUSABLE = "unconfigured", "unusable"
_SHOWN_SITES = 5
REQUESTS = "ferrule_search_requests"  # the event by which the requests so far are told, also of what is ended
IDENTITY = "ferrule_search_identity"  # the event by which the breaker's name is told, before anything else can happen


class AttemptRequest(NamedTuple):
    """What one attempt is about.

    name: of the provider. search: None where it is only asked whether the provider could be. call_variables:
    environment variables that belong to the call and not to the provider. resting: the identities of the provider that
    may not be asked now. kind: of search, one of `GROUPS`.
    """

    name: str
    search: SearchRequest | None
    call_variables: Collection[str] = ()
    resting: Resting = {}  # noqa: RUF012 - a default that is never changed
    kind: str = WEB

    def as_json(self) -> JSONObject:
        """The same for another process, which reads it by `of`."""
        search = None if self.search is None else {**self.search._asdict(), "sites": list(self.search.sites)}
        resting = {identity: list(rest) for identity, rest in self.resting.items()}
        facts = {"name": self.name, "search": search, "resting": resting, "kind": self.kind}
        return {**facts, "call_variables": list(self.call_variables)}

    @classmethod
    def of(cls, facts: JSONMapping) -> AttemptRequest:
        """The request that `as_json` has written. Raises LookupError, TypeError or ValueError for anything else."""
        search = None if facts["search"] is None else SearchRequest(**facts["search"])
        resting = {identity: (wait, cause) for identity, (wait, cause) in facts["resting"].items()}
        return cls(facts["name"], search, tuple(facts["call_variables"]), resting, facts["kind"])


def attempt(arguments: JSONObject, tool: CalledTool) -> JSONObject:
    """Ask the provider for what is searched, or find out whether it could be. Raises whatever a plugin raises.

    The operation `search` of the tools of search providers. arguments: see `AttemptRequest.as_json`.
    """
    try:
        request = AttemptRequest.of(arguments)
    except (LookupError, TypeError, ValueError):
        raise ToolError("INVALID_INPUT", "This is no request to a search provider.") from None
    try:
        manifest = _find_manifest(request, tool)
        provider = _provider(manifest)
    except AnswerMissing:
        raise  # which is nothing that the provider has done
    except (InvalidManifest, FerruleError) as error:
        return {"state": UNUSABLE, "error": {"message": str(error)}}
    except Exception as error:  # noqa: BLE001 - whatever a plugin raises when it is imported
        message = f"{request.name} cannot be loaded ({type(error).__name__})."
        return {"state": UNUSABLE, "error": {"message": message}}
    return _attempt(request, _Attempt(manifest, tool, provider, tool.context))


def _attempt(request: AttemptRequest, attempted: _Attempt) -> JSONObject:
    manifest, context = attempted.manifest, attempted.context
    identity = "" if request.search else _identity(attempted)  # which a search does not need
    facts = {"label": manifest.name, "identity": identity, "has_engine": ENGINE in manifest.parameters}
    if manifest.warning:
        facts["warning"] = manifest.warning
    breaker = _breaker(attempted, request.call_variables)
    context.event({"event": IDENTITY, "name": breaker})
    if missing := _missing_setting(attempted):
        return {**facts, "state": UNCONFIGURED, "error": missing.facts()}
    mapping = map_query(manifest, request.search) if request.search else None
    resting, cause = request.resting.get(breaker, (0.0, FAILING))
    if resting:
        kind = "upstream_unavailable" if cause == FAILING else "rate_limited"
        return {**facts, "state": RESTING, "wait": ceil(resting), "kind": kind, "is_spent": cause == SPENT}
    if mapping is None:
        return {**facts, "state": ANSWERED, "wait": 0}
    most = max_requests(context, (request.search and request.search.max_requests) or MAX_REQUESTS)
    budget = RequestBudget(most, lambda count: context.event({"event": REQUESTS, "count": count}))
    return {**facts, **_answer(attempted, mapping, budget)}


def _find_manifest(request: AttemptRequest, tool: CalledTool) -> Manifest:
    """The manifest that the tool's own distribution has under this name, for this kind of search.

    Raises InvalidManifest, and what the module raises that has it.
    """
    name, entries = request.name, entry_points(GROUPS[request.kind])
    own = [value for found, value, source in entries if found.lower() == name and source == tool.tool.source]
    if not own:
        raise InvalidManifest(f"{tool.tool.source} has no search provider {name!r}.")
    manifest = read_manifest(resolve(own[0]))
    if manifest.kind != request.kind:
        raise InvalidManifest(
            f"The manifest of {manifest.name} in the group {GROUPS[request.kind]} is of the kind {manifest.kind}; "
            f'write "kind": "{request.kind}" into it.'
        )
    if manifest.tool != tool.tool.name:
        raise InvalidManifest(f"The manifest of {manifest.name} is of the tool {manifest.tool}, not {tool.tool.name}.")
    return manifest


def _provider(manifest: Manifest) -> Provider | None:
    """The provider that a manifest names. Raises InvalidManifest where that cannot be loaded."""
    try:
        named = resolve(manifest.provider) if isinstance(manifest.provider, str) else manifest.provider
        return named() if isinstance(named, type) else named  # type: ignore[return-value] # a plugin names it
    except Exception as error:
        why = f"cannot be loaded ({type(error).__name__}: {error})"
        raise InvalidManifest(f"The manifest of {manifest.name} names {manifest.provider!r}, which {why}.") from error


def _identity(attempted: _Attempt) -> str:
    """A hash of all that can decide its results besides the query, also of what its tool's result policy names."""
    tool, results = attempted.opened.tool, attempted.opened.result_policy()
    own = results.identity(attempted.context) if results.identity else None
    known = attempted.context.identity(results.environment, locale=results.locale)
    facts = [tool.source, tool.value, known, own]
    return sha256_hex(strict_json.dumps(facts))


def _breaker(attempted: _Attempt, call_variables: Collection[str]) -> str:
    """A hash of what makes it another provider as far as outages and quotas go: its place and its keys.

    What merely belongs to the call, such as its locale or the order of providers, has to stay out of it, or calls that
    differ in that would not share what they know.
    """
    tool, facts = attempted.opened.tool, attempted.context.identity()
    places = {
        name: value
        for name, value in facts["environment"].items()
        if name.startswith("FERRULE_") and name not in call_variables
    }
    if attempted.provider is not None:
        places = {name: value for name, value in places.items() if name == attempted.provider.endpoint_variable}
    return sha256_hex(strict_json.dumps([tool.source, tool.value, facts["settings"], facts["credentials"], places]))


def _missing_setting(attempted: _Attempt) -> ToolError | None:
    """The error for what is set nowhere: a credential, in the provider's own words where it has some, or its server."""
    from ferrule_websearch.endpoint import missing_endpoint
    from ferrule_websearch.pipeline import keys_of

    try:
        if attempted.provider is not None:
            keys_of(attempted.provider, attempted.context)
        for credential in attempted.opened.credentials():
            attempted.context.credential(credential.name)
    except ToolError as error:
        provider = attempted.provider
        if provider is None or not provider.setup:
            return error
        return provider.setup.general_error(provider.credentials, error)
    return missing_endpoint(attempted.provider, attempted.context) if attempted.provider is not None else None


def _answer(attempted: _Attempt, mapping: QueryMapping, budget: RequestBudget) -> JSONObject:
    found: list[ResultSet] = []
    failure = ""
    for number, query in enumerate(mapping.queries):
        budget.reserved = len(mapping.queries) - number - 1
        if not budget.left:
            break
        try:
            found.append(attempted.ask(query, budget))
        except ToolError as error:
            if not any(one.results for one in found):
                raise
            failure = error.message
            break
    results = merge_by_rank([one.results for one in found])
    stopped = failure or next((one.stop_reason for one in found if one.stop_reason), "")
    bounded = _what_the_bound_left_out(mapping, found, len(results)) if not failure else ""
    if bounded:
        bounded = explain_limit(attempted.manifest.name, budget.limit, attempted.manifest.tool, bounded)
    return {
        "state": ANSWERED,
        "results": [list(one) for one in results],
        "ignored": [list(one) for one in mapping.ignored],
        "emulated": list(mapping.emulated),
        "incomplete": " ".join(filter(None, [stopped, bounded])),
        "is_bounded": bool(bounded) and not stopped,
    }


def _what_the_bound_left_out(mapping: QueryMapping, found: Sequence[ResultSet], count: int) -> str:
    """Sites that were not searched, or else pages that were not asked for though results are missing."""
    sites = [site for query in mapping.queries[len(found) :] for site in query.domains.allowed]
    if sites:
        more = f" and {len(sites) - _SHOWN_SITES} more" if len(sites) > _SHOWN_SITES else ""
        return f"not searched were {', '.join(sites[:_SHOWN_SITES])}{more}"
    is_short = count < mapping.queries[0].limit and any(one.is_bounded for one in found)
    return "the next pages of results were not asked for" if is_short else ""


def merge_by_rank(lists: Sequence[Sequence[Result]]) -> list[Result]:
    """The results of several queries by their ranks: first all that came first, then all that came second, …"""
    return [one for rank in zip_longest(*lists) for one in rank if one is not None]


class _Attempt(NamedTuple):
    manifest: Manifest
    opened: CalledTool
    provider: Provider | None
    context: Context

    def ask(self, query: ProviderQuery, budget: RequestBudget) -> ResultSet:
        """The results of one query. Raises ToolError."""
        if self.provider is None:
            budget.record()  # how many requests it makes of it is the tool's own matter
            return ResultSet(self._ask_tool(query))
        from ferrule_websearch.pipeline import find_results

        whole = Query(query.text, 0, query.limit, query.domains, query.parameters)
        return find_results(self.provider, whole, self.context, budget)

    def _ask_tool(self, query: ProviderQuery) -> list[Result]:
        arguments = self.opened.prepare(dict(query.parameters))
        findings = self.opened.validate(arguments)
        if findings:
            raise ToolError("INVALID_INPUT", "; ".join(findings) + ".")
        return self._read(self.opened.execute(arguments), query)

    def _read(self, answer: JSONObject, query: ProviderQuery) -> list[Result]:
        from ferrule.errors import failure_in

        names = self.manifest.reading
        failure = failure_in(answer)
        if failure is not None:  # which a tool may also return; it is not that nothing was found
            code, message = failure["code"] or "API_ERROR", failure["message"] or "It failed and did not say why."
            raise ToolError(str(code), str(message), retry_after=failure["retry_after"])
        hits = answer.get(names["list"])
        if not isinstance(hits, list):
            raise ToolError("API_ERROR", f"{self.manifest.name} answered without {names['list']!r}.")
        fields = names["title"], names["url"], names["snippet"]
        results = read_results(hits, *fields, html=False, published=names["published"], details=self._details)
        return [one for one in results if one and query.domains.passes(one.url)]

    def _details(self, hit: JSONMapping) -> JSONMapping:
        """What only news and images have, by the names that the manifest gives them."""
        names = self.manifest.reading
        return {name: hit.get(names[name]) for name in DETAILS if name in names}
