"""The tool `opennotes_get`: gives one note, in pages where it is long."""

from __future__ import annotations

from ferrule_opennotes import execute_by, schema_beside

schema = schema_beside(__file__)
execute = execute_by("ferrule_opennotes.get.handler")
