"""What a search provider says about itself, so that a general search can use it: plain data, a `SearchManifest`.

    [project.entry-points."ferrule.search_providers"]
    almanac = "ferrule_almanac:SEARCH"

    SEARCH = {
        "tool": "web_search_almanac",
        "name": "Almanac",
        "limits": {"results": 25, "characters": 300},
        "parameters": {
            "query": "text",
            "num_results": "count",
            "time_range": {"as": "age", "values": {"day": "24h", "week": "7d"}},
            "site": {"as": "domains", "list": True},
            "language": "lang",
        },
    }

`tool` is the tool whose credentials, settings and switch are the provider's. Where `provider` is there, the search goes
through `ferrule_websearch` with it: a `Provider` class, or its place as `module:Class`; the names in `parameters` are
then those of its requests. Else the tool's own `execute` is called, and they are those of its arguments; `query` has to
be among them, and `results` says how its result is read where that is no `results[]` of title, url, snippet, published.

A parameter is a name, or `{"as", "values", "list", "lower", "days_ago", "operator"}`: `values` maps what a search asks
for to what the provider takes, and what is not in it cannot be asked for; `list` wraps the value; `lower` writes it in
small letters; `days_ago` says that it is a number of days, and the provider takes the instant so long ago in ISO 8601;
`operator` says that it is a word of the query, as in `lang:german`. What `parameters` lacks is emulated in the query,
or told to the caller. `operators: False` says that the provider reads neither quoted phrases nor -word nor site: in a
query. `site` together with a `provider` says that its `plan` names the domains outside of the query's text.

`kind` is what the provider searches for by this manifest: "web", which is meant where it is not there, "news",
"images" or "patents". Each kind has a group of entry points of its own, `GROUPS`, and a provider has a manifest for
each kind that it answers: one that is not in the group of a kind is not asked for it. `KIND_PARAMETERS` has the
parameters that only a kind has, such as `sort_by` of news. `limits.served` is the most results that the provider has
for a query; a caller who wants more hears so. `warning` goes with each answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, NotRequired, TypedDict

from ferrule_websearch.publication_date import days_ago

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_websearch.provider import Provider

QUERY, RESULTS = "query", "num_results"
SITE, ENGINE = "site", "engine"
VALUES = ("time_range", "safe", "language", "country")
PARAMETERS = (QUERY, RESULTS, *VALUES, SITE, "exact_terms", "exclude_terms", ENGINE)
WEB, NEWS, IMAGES, PATENTS = "web", "news", "images", "patents"
GROUPS = {  # of entry points, by the kind of search
    WEB: "ferrule.search_providers",
    NEWS: "ferrule.search_providers.news",
    IMAGES: "ferrule.search_providers.images",
    PATENTS: "ferrule.search_providers.patents",
}
KIND_PARAMETERS = {
    WEB: (),
    NEWS: ("sort_by",),
    IMAGES: ("size", "type", "color_type", "dominant_color", "file_type"),
    PATENTS: ("assignee", "inventor", "cpc_code", "patent_office", "year_from", "year_to", "number"),
}
_UNLIMITED = 1_000_000
_LIMITS = {"results": 10, "sites": 10, "characters": _UNLIMITED, "words": _UNLIMITED, "served": _UNLIMITED}
_RESULT_FIELDS = {"list": "results", "title": "title", "url": "url", "snippet": "snippet", "published": "published"}


class InvalidManifest(ValueError):
    """The object that the entry point names is no manifest. The message says why."""


class SearchManifest(TypedDict):
    """The data that an entry point of one of the `GROUPS` names, as the module describes it."""

    tool: str
    name: NotRequired[str]
    kind: NotRequired[str]
    provider: NotRequired[str | type[Provider]]
    limits: NotRequired[Mapping[str, int]]
    parameters: NotRequired[Mapping[str, str | Mapping[str, object]]]
    results: NotRequired[Mapping[str, str]]
    operators: NotRequired[bool]
    warning: NotRequired[str]


class Parameter(NamedTuple):
    """How one neutral parameter is handed on. name: the provider's own. values: None where any value is taken."""

    name: str
    values: JSONMapping | None = None
    is_list: bool = False
    is_lower: bool = False
    is_days_ago: bool = False
    is_operator: bool = False

    def takes(self, value: str | int) -> bool:
        """Whether there is a word for this value."""
        return self.values is None or str(value) in self.values

    def value(self, value: str | int) -> object:
        """The provider's word for it."""
        word = value if self.values is None else self.values[str(value)]
        word = word.lower() if self.is_lower and isinstance(word, str) else word
        if self.is_days_ago:
            return days_ago(float(str(word)))
        return [word] if self.is_list and not isinstance(word, list) else word


class Manifest(NamedTuple):
    """A provider: see the module. results, sites, characters, words: the most that one query takes."""

    tool: str
    name: str
    kind: str
    provider: object
    parameters: Mapping[str, Parameter]
    results: int
    sites: int
    characters: int
    words: int
    served: int
    operators: bool
    reading: Mapping[str, str]
    warning: str

    def fits(self, text: str) -> bool:
        """Whether a query of this length is taken."""
        return len(text) <= self.characters and len(text.split()) <= self.words

    @property
    def longest(self) -> str:
        """The longest query, in words."""
        parts = [(self.characters, "characters"), (self.words, "words")]
        return " and ".join(f"{number} {unit}" for number, unit in parts if number < _UNLIMITED)


def read_manifest(value: object) -> Manifest:
    """The manifest that plain data is. Raises InvalidManifest."""
    facts = _mapping(value, "it")
    tool = _text(facts.get("tool"), "tool")
    parameters = _parameters(facts)
    provider = facts.get("provider")
    if provider is None and QUERY not in parameters:
        raise InvalidManifest("parameters: `query` has to be there, since there is no `provider`")
    limits = {**_LIMITS, **_mapping(facts.get("limits", {}), "limits")}
    for name, limit in limits.items():
        if name not in _LIMITS or not isinstance(limit, int) or limit < 1:
            raise InvalidManifest(f"limits: {name!r} is not a limit, or no positive integer")
    reading = {**_RESULT_FIELDS, **_mapping(facts.get("results", {}), "results")}
    return Manifest(
        tool,
        _text(facts.get("name", tool), "name"),
        facts.get("kind", WEB),
        provider,
        parameters,
        **limits,
        operators=facts.get("operators") is not False,
        reading=reading,
        warning=_text(facts["warning"], "warning") if "warning" in facts else "",
    )


def _parameters(facts: JSONMapping) -> dict[str, Parameter]:
    kind = facts.get("kind", WEB)
    if kind not in KIND_PARAMETERS:
        raise InvalidManifest(f"kind: {kind!r} is none of {', '.join(KIND_PARAMETERS)}")
    rules, known = _mapping(facts.get("parameters", {}), "parameters"), (*PARAMETERS, *KIND_PARAMETERS[kind])
    for name in rules:
        if name not in known:
            raise InvalidManifest(f"parameters: {name!r} is none of {', '.join(known)}")
    return {name: _parameter(rule, name) for name, rule in rules.items()}


def _parameter(rule: object, name: str) -> Parameter:
    if isinstance(rule, str):
        return Parameter(rule)
    facts = _mapping(rule, name)
    values = facts.get("values")
    if isinstance(values, Sequence) and not isinstance(values, str):
        values = {value: value for value in values}
    if values is not None:
        values = _mapping(values, f"{name}.values")
    is_days_ago = bool(facts.get("days_ago"))
    if is_days_ago and not all(isinstance(days, int | float) for days in (values or {"": ""}).values()):
        raise InvalidManifest(f"{name}.values: `days_ago` needs numbers of days")
    flags = bool(facts.get("list")), bool(facts.get("lower")), is_days_ago, bool(facts.get("operator"))
    return Parameter(_text(facts.get("as"), f"{name}.as"), values, *flags)


def _mapping(value: object, what: str) -> JSONMapping:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidManifest(f"{what} is no mapping of texts")
    return value


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidManifest(f"{what} is no text")
    return value
