"""The tool `opennotes_search`: searches notes by text, by likeness, by conditions or by SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import Context, hookimpl
from ferrule_opennotes import schema_beside

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.answers.types import SearchAnswer

schema = schema_beside(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say which filters are none, and what cannot be combined."""
    from ferrule_opennotes.search.handler import find_problems

    return find_problems(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> SearchAnswer:
    """Return `{"results", "pagination", "query"}`, and `_guidance` where there is more.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, INVALID_SQL, QUERY_TIMEOUT or CLI_FAILED.
    """
    from ferrule_opennotes.search.handler import answer

    return answer(arguments, context)
