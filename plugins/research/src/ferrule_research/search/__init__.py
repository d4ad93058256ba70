"""The tool `web_search`: searches the web by whatever search providers are installed.

`call` is one search: `provider_order` says who is asked, `lenses` on which sites; `claims`, `reputation` and `hints`
are what is told with the results, `errors` what is told instead.
"""

from __future__ import annotations

from ferrule import Context, JSONObject, ResultPolicy, hookimpl, static_schema


def identify(context: Context) -> object:
    """What decides a result and is not the tool's own: the providers with their settings and keys, and the lenses."""
    from ferrule_research.search.cache_identity import read_identity

    return read_identity(context)


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
    """Say what is no domain, no language and no country, and which lens there is not."""
    from ferrule_research.search.arguments import findings

    return findings(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `{"urls", "query", "resultCount", "results", "trust"}`, and `hints` where nothing was found.

    Raises ToolError, whose details have `kind`, `retryable` and `suggestedAction`.
    """
    from ferrule_research.search.call import search_web

    return search_web(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results."""
    return ResultPolicy(
        cache_seconds=1800,
        environment=("SEARCH_ROUTING",),
        identity=identify,
        normalise=normalise,
        locale=False,
        fleeting=lambda result: not result.get("results"),
        wrappers=("cache",),
    )
