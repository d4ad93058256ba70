"""Whether the process of a server goes on between calls, which an admin decides for each server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.errors import InputError
from ferrule.text import strict_json
from ferrule_mcp.installation.host_commands import accept_permissions
from ferrule_mcp.installation.server import find_server, hold_server, write_server
from ferrule_mcp.record import cast_record

if TYPE_CHECKING:
    from ferrule_mcp.record import ServerRecord


def change_keeping(name: str, *, keep: bool) -> ServerRecord:
    """Have a keeper keep a server, or not; its record afterwards. Raises InputError where it cannot be kept."""
    with hold_server(name):
        server = find_server(name)
        record = server.record
        if keep:
            require_process(name, has_process=record["transport"] == "stdio")
        changed = cast_record({**record, "keep": keep, "origin": {**record["origin"], "keep": keep}})
        schemas = {
            tool: strict_json.loads_object(server.tools.read(f"{tool}.schema.json") or b"{}")
            for tool in record["tools"]
        }
        write_server(changed, schemas, server.definitions, server.environment)
        accept_permissions(list(record["tools"]))
    return changed


def require_process(name: str, *, has_process: bool) -> None:
    """Raise InputError for a server that does not run here."""
    if not has_process:
        raise InputError(f"{name} is reached by a URL, so there is no process to keep.", hint="Leave it as it is.")
