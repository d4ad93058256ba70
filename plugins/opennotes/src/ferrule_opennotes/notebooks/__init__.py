"""The tool `opennotes_notebooks`: lists the notebooks that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import Context, hookimpl
from ferrule_opennotes import schema_beside

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.answers.types import NotebooksAnswer

schema = schema_beside(__file__)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> NotebooksAnswer:
    """Return `{"notebooks", "current"}`; `current` is null outside of every notebook.

    Raises ToolError with CLI_NOT_FOUND.
    """
    from ferrule_opennotes.notebooks.handler import answer

    return answer(arguments, context)
