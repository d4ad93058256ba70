"""The tool `search_and_scrape`: searches the web, reads the pages that were found at once, and joins what they say.

`call` has the steps: `pages` reads, each page in a process of its own; `scores` judges, `paragraphs` leaves out what
stands twice, `combination` joins, and `answer` says what came of it.
"""

from __future__ import annotations

from ferrule import Context, JSONObject, ResultPolicy, hookimpl, static_schema


def identify(context: Context) -> object:
    """What decides a result and is not the tool's own: the providers, and the version of what reads pages."""
    from importlib.metadata import version

    from ferrule_research.search.cache_identity import read_identity

    return {"ferrule-fetch": version("ferrule-fetch"), "search": read_identity(context)}


def normalise(arguments: JSONObject) -> JSONObject:
    """The arguments as a search reads them: blanks around texts do not matter."""
    from ferrule_research.search.arguments import normalise_texts

    return normalise_texts(arguments)


def is_fleeting(result: JSONObject) -> bool:
    """Whether the next call may have more: nothing was found, a page could not be read, or is from an earlier call."""
    if result.get("status") != "complete":
        return True
    summary = result["summary"]
    return not summary["urlsScraped"] or bool(summary["urlsKept"])


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say that a query of blanks is none."""
    return [] if arguments["query"].strip() else ["query: it is blank"]


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return what the best pages say: `{"query", "status", "sources", "combinedContent", "summary", …}`.

    Raises ToolError where no provider answered; a page that cannot be read is in `scrapeFailures`.
    """
    from ferrule_research.bundle.call import collect_pages

    return collect_pages(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """A bundle is kept for half an hour, and one that is large may be stored whole instead of being cut."""
    return ResultPolicy(
        cache_seconds=1800,
        linkable=True,
        paging=("max_length_per_source", "num_results"),
        environment=("SEARCH_ROUTING",),
        identity=identify,
        normalise=normalise,
        locale=False,
        fleeting=is_fleeting,
        wrappers=("cache",),
    )
