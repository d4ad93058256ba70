"""The tool `opennotes_create`: writes a new note into a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import Context, hookimpl
from ferrule_opennotes import schema_beside

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.answers.types import CreateAnswer

schema = schema_beside(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say which titles, paths and fields no note can have."""
    from ferrule_opennotes.create.arguments import find_problems

    return find_problems(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> CreateAnswer:
    """Write the note; return `{"created": {"path", "absolutePath", "title"}, "notebook": {"name", "path"}}`.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, TEMPLATE_NOT_FOUND, PATH_TRAVERSAL, NOTE_EXISTS,
    CLI_FAILED, WRITE_FAILED, or INVALID_INPUT for fields that are too many or too long to be read back.
    """
    from ferrule_opennotes.create.handler import answer

    return answer(arguments, context)
