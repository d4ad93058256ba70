"""The tool `news_search`: recent articles by whichever installed search providers have news."""

from __future__ import annotations

from ferrule import Context, JSONObject, ResultPolicy, hookimpl, static_schema


def identify(context: Context) -> object:
    """What decides a result and is not the tool's own: the providers of news with their settings and keys."""
    from ferrule_research.search.cache_identity import identify_providers

    return identify_providers(context, "news")


def normalise(arguments: JSONObject) -> JSONObject:
    """The arguments as a search reads them: blanks around texts do not matter, nor does the case of codes."""
    from ferrule_research.search.arguments import normalise_texts

    return normalise_texts(arguments)


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say what is no domain, no language and no country."""
    from ferrule_research.news.call import find_faults

    return find_faults(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `{"articles", "query", "resultCount", "trust"}`, and `hints` where nothing was found.

    Raises ToolError, whose details have `kind`, `retryable` and `suggestedAction`.
    """
    from ferrule_research.news.call import search_news

    return search_news(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results. News are older after a quarter of an hour."""
    return ResultPolicy(
        cache_seconds=900,
        environment=("SEARCH_ROUTING",),
        identity=identify,
        normalise=normalise,
        locale=False,
        fleeting=lambda result: not result.get("articles"),
        wrappers=("cache",),
    )
