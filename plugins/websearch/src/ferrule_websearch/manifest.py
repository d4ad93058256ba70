"""What a search provider says about itself, so that a general search can use it: plain data, read from a mapping.

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
be among them, and `results` says how its result is read where that is not `results[]` of title, url and snippet.

A parameter is a name, or `{"as", "values", "list", "lower"}`: `values` maps what a search asks for to what the provider
takes, and what is not in it cannot be asked for; `list` wraps the value; `lower` writes it in small letters. What
`parameters` lacks is emulated in the query, or told to the caller. `operators: False` says that the provider reads
neither quoted phrases nor -word nor site: in a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

QUERY, RESULTS = "query", "num_results"
SITE, ENGINE = "site", "engine"
PARAMETERS = (
    QUERY,
    RESULTS,
    "time_range",
    "safe",
    "language",
    "country",
    SITE,
    "exact_terms",
    "exclude_terms",
    ENGINE,
)
_MANY = 1_000_000
_LIMITS = {"results": 10, "sites": 10, "characters": _MANY, "words": _MANY}
_READING = {"list": "results", "title": "title", "url": "url", "snippet": "snippet"}


class DeclarationWrong(ValueError):
    """The object that the entry point names is no declaration. The message says why."""


class Parameter(NamedTuple):
    """How one neutral parameter is handed on. name: the provider's own. values: None where any value is taken."""

    name: str
    values: Mapping[str, Any] | None = None
    is_list: bool = False
    is_lower: bool = False

    def takes(self, value: str) -> bool:
        """Whether there is a word for this value."""
        return self.values is None or value in self.values

    def value(self, value: Any) -> Any:
        """The provider's word for it."""
        if isinstance(value, str):
            value = value if self.values is None else self.values[value]
            value = value.lower() if self.is_lower and isinstance(value, str) else value
        return [value] if self.is_list and not isinstance(value, list) else value


class Declaration(NamedTuple):
    """A provider: see the module. results, sites, characters, words: the most that one query takes."""

    tool: str
    name: str
    provider: Any
    parameters: Mapping[str, Parameter]
    results: int
    sites: int
    characters: int
    words: int
    operators: bool
    reading: Mapping[str, str]

    def fits(self, text: str) -> bool:
        """Whether a query of this length is taken."""
        return len(text) <= self.characters and len(text.split()) <= self.words

    @property
    def longest(self) -> str:
        """The longest query, in words."""
        parts = [(self.characters, "characters"), (self.words, "words")]
        return " and ".join(f"{number} {unit}" for number, unit in parts if number < _MANY)


def declaration(value: object) -> Declaration:
    """Read a declaration. Raises DeclarationWrong."""
    facts = _mapping(value, "it")
    tool = _text(facts.get("tool"), "tool")
    parameters = {
        name: _parameter(rule, name) for name, rule in _mapping(facts.get("parameters", {}), "parameters").items()
    }
    for name in parameters:
        if name not in PARAMETERS:
            raise DeclarationWrong(f"parameters: {name!r} is none of {', '.join(PARAMETERS)}")
    provider = facts.get("provider")
    if provider is None and QUERY not in parameters:
        raise DeclarationWrong("parameters: `query` has to be there, since there is no `provider`")
    limits = {**_LIMITS, **_mapping(facts.get("limits", {}), "limits")}
    for name, limit in limits.items():
        if name not in _LIMITS or not isinstance(limit, int) or limit < 1:
            raise DeclarationWrong(f"limits: {name!r} is not a limit, or no positive integer")
    reading = {**_READING, **_mapping(facts.get("results", {}), "results")}
    name = _text(facts.get("name", tool), "name")
    return Declaration(
        tool, name, provider, parameters, **limits, operators=facts.get("operators") is not False, reading=reading
    )


def _parameter(rule: object, name: str) -> Parameter:
    if isinstance(rule, str):
        return Parameter(rule)
    facts = _mapping(rule, name)
    values: Any = facts.get("values")
    if isinstance(values, Sequence) and not isinstance(values, str):
        values = {value: value for value in values}
    if values is not None:
        values = _mapping(values, f"{name}.values")
    return Parameter(_text(facts.get("as"), f"{name}.as"), values, bool(facts.get("list")), bool(facts.get("lower")))


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise DeclarationWrong(f"{what} is no mapping of texts")
    return value


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DeclarationWrong(f"{what} is no text")
    return value
