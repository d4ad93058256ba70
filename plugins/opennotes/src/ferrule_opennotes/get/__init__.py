"""The tool `opennotes_get`: gives one note, in pages where it is long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import Context, hookimpl
from ferrule_opennotes import schema_beside

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.answers.types import GetAnswer

schema = schema_beside(__file__)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> GetAnswer:
    """Return `{"note", "notebook"}`, and `pagination` and `_guidance` where the content does not fit one answer.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, NOTE_NOT_FOUND or PATH_TRAVERSAL.
    """
    from ferrule_opennotes.get.handler import answer

    return answer(arguments, context)
