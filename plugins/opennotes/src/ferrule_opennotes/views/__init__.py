"""The tool `opennotes_views`: lists the views of a notebook, or runs one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import Context, hookimpl
from ferrule_opennotes import schema_beside

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.answers.types import ViewAnswer, ViewListAnswer

schema = schema_beside(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say which parameters are no texts, and what is wrong with the page."""
    from ferrule_opennotes.views.handler import find_problems

    return find_problems(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> ViewListAnswer | ViewAnswer:
    """List the views: `{"views", "notebook"}`; or run one: `{"view", "results", "pagination", "notebook"}`.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, VIEW_NOT_FOUND or INVALID_INPUT.
    """
    from ferrule_opennotes.views.handler import answer

    return answer(arguments, context)
