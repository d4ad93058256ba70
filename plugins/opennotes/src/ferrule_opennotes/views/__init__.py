"""The tool `opennotes_views`: lists the views of a notebook, or runs one."""

from __future__ import annotations

from ferrule_opennotes import execute_by, schema_beside, validate_by

schema = schema_beside(__file__)
validate = validate_by("ferrule_opennotes.views.handler")
execute = execute_by("ferrule_opennotes.views.handler")
