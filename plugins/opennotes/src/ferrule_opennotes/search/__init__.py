"""The tool `opennotes_search`: searches notes by text, by likeness, by conditions or by SQL."""

from __future__ import annotations

from ferrule_opennotes import execute_by, schema_beside, validate_by

schema = schema_beside(__file__)
validate = validate_by("ferrule_opennotes.search.handler")
execute = execute_by("ferrule_opennotes.search.handler")
