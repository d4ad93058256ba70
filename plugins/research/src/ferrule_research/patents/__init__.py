"""The tool `patent_search`: patents by the offices whose keys are set, or else by a search of the web."""

from __future__ import annotations

from ferrule import Context, JSONObject, ResultPolicy, hookimpl, static_schema


def identify(context: Context) -> object:
    """What decides a result and is not the tool's own: the offices and the providers of the web with their keys."""
    from ferrule_research.search.cache_identity import identify_providers

    return [identify_providers(context, kind) for kind in ("patents", "web")]


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
    """Say what is missing, and which years are in the wrong order."""
    from ferrule_research.patents.arguments import find_faults

    return find_faults(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `{"patents", "query", "searchType", "resultCount", "source", "searchUrl", "trust"}`.

    It has `hints` where nothing was found, and a `warning` where no office has answered.

    Raises ToolError, whose details have `kind`, `retryable` and `suggestedAction`.
    """
    from ferrule_research.patents.call import search_patents

    return search_patents(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results."""
    return ResultPolicy(
        cache_seconds=86_400,
        environment=("SEARCH_ROUTING",),
        identity=identify,
        normalise=normalise,
        locale=False,
        fleeting=lambda result: not result.get("patents"),
        wrappers=("cache",),
    )
