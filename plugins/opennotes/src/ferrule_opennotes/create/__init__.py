"""The tool `opennotes_create`: writes a new note into a notebook."""

from __future__ import annotations

from ferrule_opennotes import execute_by, schema_beside, validate_by

schema = schema_beside(__file__)
validate = validate_by("ferrule_opennotes.create.arguments")
execute = execute_by("ferrule_opennotes.create.handler")
