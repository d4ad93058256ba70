"""The tool `web_fetch`: fetches a page over HTTP and gives it back as markdown, in pages of lines."""

from __future__ import annotations

from ferrule import Context, ResultPolicy, hookimpl, static_schema

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule import JSONObject


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Fetch `url`; return `{"success", "url", "title", "content"}`: `limit` lines at most, from `offset` on.

    A cut answer has `truncated`, `next_offset` and `total_lines` as well. Raises ToolError with INVALID_URL,
    NETWORK_ERROR, HTTP_ERROR or PARSE_ERROR.
    """
    from ferrule_fetch.call import fetch_as_markdown

    return fetch_as_markdown(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results."""
    return ResultPolicy(cache_seconds=3600, paging=("offset", "limit"))
