"""The tool `academic_search`: papers from all installed services at once."""

from __future__ import annotations

from ferrule import Context, Credential, JSONObject, ResultPolicy, hookimpl, static_credentials, static_schema

CREDENTIALS = static_credentials(__file__)


def identify(context: Context) -> object:
    """What decides a result and is not the tool's own: the services that are installed."""
    from ferrule.installed import entry_points
    from ferrule_scholar.asking.scholar import GROUP

    return sorted(entry_points(GROUP))


def normalise(arguments: JSONObject) -> JSONObject:
    """The arguments as a search reads them: blanks around texts do not matter."""
    from ferrule_scholar.search.arguments import normalise_texts

    return normalise_texts(arguments)


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def credentials() -> list[Credential]:
    """Keys that raise what the services allow; none is needed."""
    return CREDENTIALS


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say what the schema cannot: a blank query, years in the wrong order."""
    from ferrule_scholar.search.arguments import findings

    return findings(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `{"papers", "query", "totalResults", "resultCount", "source", "providers", "checks", "trust"}`.

    Raises ToolError, whose details have `kind`, `retryable` and `suggestedAction`.
    """
    from ferrule_scholar.search.call import search_papers

    return search_papers(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results. One that some service is missing from is not kept."""
    return ResultPolicy(
        cache_seconds=3600,
        identity=identify,
        normalise=normalise,
        locale=False,
        fleeting=lambda result: not result.get("papers"),
        wrappers=("cache",),
    )
