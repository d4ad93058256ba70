"""The tool `web_search`: searches the web by whatever search providers are installed."""

from __future__ import annotations

from typing import Any

from ferrule import Context, ResultPolicy, hookimpl, static_schema


def identity(context: Context) -> object:
    """What decides a result and is not the tool's own: the providers with their settings and keys, and the lenses."""
    from ferrule_research.search.cache_identity import identity

    return identity(context)


@hookimpl
def schema() -> dict[str, Any]:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: dict[str, Any]) -> list[str]:
    """Say what is no domain, no language and no country, and which lens there is not."""
    from ferrule_research.search.limits import findings

    return findings(arguments)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return `{"urls", "query", "resultCount", "results", "trust"}`, and `hints` where nothing was found.

    Raises ToolError, whose details have `kind`, `retryable` and `suggestedAction`.
    """
    from ferrule_research.search.call import answer

    return answer(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results."""
    return ResultPolicy(cache_seconds=1800, environment=("SEARCH_ROUTING",), identity=identity)
