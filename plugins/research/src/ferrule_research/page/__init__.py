"""The tool `scrape_page`: reads a page, and tells what there is to judge it by.

Here stand the steps of a call (`call`, `request`, `content`, `answer`, `errors`); below them, each importing from the
ones before it only, `budget`, `addresses`, `metadata`, `sources` and `credibility`.
"""

from __future__ import annotations

from ferrule import Context, JSONObject, ResultPolicy, hookimpl, static_schema


def identify(context: Context) -> object:
    """What decides a result and is not the tool's own: the version of what fetches and converts."""
    from importlib.metadata import version

    return {"ferrule-fetch": version("ferrule-fetch")}


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Read the page at `url`: its content, a citation, and what its source and its own metadata say of it.

    Raises ToolError, whose details have `kind`, `retryable` and `suggestedAction`.
    """
    from ferrule_research.page.call import scrape

    return scrape(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """A page is kept for half an hour, and one that is large may be stored whole instead of being cut."""
    return ResultPolicy(
        cache_seconds=1800, linkable=True, paging=("max_length",), identity=identify, wrappers=("cache",)
    )
