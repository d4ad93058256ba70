"""The tool `opennotes_list`: lists the notes of a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import Context, hookimpl
from ferrule_opennotes import schema_beside

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.answers.types import ListAnswer

schema = schema_beside(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say where `limit` and `offset` are no whole numbers."""
    from ferrule_opennotes.answers.pages import find_problems

    return find_problems(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> ListAnswer:
    """Return `{"notes", "notebook", "pagination"}`, and `_guidance` where there is more.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND or PATH_TRAVERSAL.
    """
    from ferrule_opennotes.list.handler import answer

    return answer(arguments, context)
