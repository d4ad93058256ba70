"""The tool `opennotes_create`: writes a new note into a notebook."""

from __future__ import annotations

from typing import Any

from ferrule import Context, hookimpl, static_schema


@hookimpl
def schema() -> dict[str, Any]:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: dict[str, Any]) -> list[str]:
    """Say which titles, paths and fields no note can have."""
    from ferrule_opennotes.create.limits import findings

    return findings(arguments)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Write the note; return `{"created": {"path", "absolutePath", "title"}, "notebook": {"name", "path"}}`.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, TEMPLATE_NOT_FOUND, PATH_TRAVERSAL, NOTE_EXISTS,
    CLI_FAILED, WRITE_FAILED, or INVALID_INPUT for fields that are too many or too long to be read back.
    """
    from ferrule_opennotes.create.handler import create

    return create(arguments, context)
