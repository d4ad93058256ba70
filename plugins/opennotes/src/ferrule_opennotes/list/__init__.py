"""The tool `opennotes_list`: lists the notes of a notebook."""

from __future__ import annotations

from ferrule_opennotes import execute_by, schema_beside, validate_by

schema = schema_beside(__file__)
validate = validate_by("ferrule_opennotes.answers.pages")
execute = execute_by("ferrule_opennotes.list.handler")
