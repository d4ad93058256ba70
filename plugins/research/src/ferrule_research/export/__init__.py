"""The tool `research_export`: a session as a document, or its sources as a bibliography.

`call` fits the parts of a document into an answer; `markdown`, `bibliographies` and `call` write them.
"""

from __future__ import annotations

from ferrule import Context, JSONObject, ResultPolicy, hookimpl, static_schema


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return the session in a format, with `nextOffset` where an answer has no room for all of it.

    Raises ToolError SESSION_NOT_FOUND.
    """
    from ferrule_research.export.call import export_session

    return export_session(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """A large document may be stored instead of being given in parts. It is not cached: the session goes on."""
    return ResultPolicy(linkable=True, paging=("offset",))
