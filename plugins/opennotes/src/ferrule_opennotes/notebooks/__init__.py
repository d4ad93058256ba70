"""The tool `opennotes_notebooks`: lists the notebooks that there are."""

from __future__ import annotations

from ferrule_opennotes import execute_by, schema_beside

schema = schema_beside(__file__)
execute = execute_by("ferrule_opennotes.notebooks.handler")
