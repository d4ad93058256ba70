"""In which form clients get the schemas of arguments: `schemas` in `[serve]` of config.toml, or FERRULE_SERVE_SCHEMAS.

mcp    the tool's own schema, closed at the top
plain  in the few keywords that every library takes; the arguments of calls are translated back
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferrule.errors import ServeError

if TYPE_CHECKING:
    from ferrule.config import Configuration

MCP: Final = "mcp"
PLAIN: Final = "plain"
FORMS: Final = (MCP, PLAIN)


def schema_form(settings: Configuration) -> str:
    """The form that a configuration sets, one of FORMS. Raises ServeError where it sets another."""
    table = settings.content.get("serve", {})
    said = settings.environ.get("FERRULE_SERVE_SCHEMAS", "").strip()
    form = said or (table.get("schemas", MCP) if isinstance(table, dict) else MCP)
    if form not in FORMS:
        where = "FERRULE_SERVE_SCHEMAS" if said else "schemas in [serve] of config.toml"
        raise ServeError(f"{where} is {form!r}, and {' and '.join(FORMS)} are the forms there are.")
    return str(form)
