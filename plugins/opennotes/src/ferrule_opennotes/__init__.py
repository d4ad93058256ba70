"""Six tools over the OpenNotes CLI and its notebooks: search, list, get, create, notebooks, views.

Each tool is a package of its own with its hooks. `program` finds and runs the CLI, `notebook` reads notebooks, `query`
and `sql` search them, `links` follows what points where, `answers` cuts results into pages.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule import JSONObject


def schema_beside(module_file: str) -> Callable[[], JSONObject]:
    """The hook `schema` of the tool whose `schema.json` lies next to a module; module_file: the module's `__file__`."""
    from ferrule import hookimpl, static_schema

    @hookimpl
    def schema() -> JSONObject:
        """Describe the tool, as `schema.json` does."""
        return static_schema(module_file)

    return schema
