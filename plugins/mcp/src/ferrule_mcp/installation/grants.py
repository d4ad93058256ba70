"""What a server was granted, changed for all of its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.errors import InputError
from ferrule.text import strict_json
from ferrule_mcp.installation.host_commands import accept_permissions
from ferrule_mcp.installation.rights import add_rights
from ferrule_mcp.installation.server import find_server, hold_server, write_server
from ferrule_mcp.record import cast_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule_mcp.installation.rights import Right
    from ferrule_mcp.record import ServerRecord


def change_rights(name: str, granted: Sequence[Right] = (), revoked: Sequence[Right] = ()) -> ServerRecord:
    """Give a server permissions, and take some from it; its record afterwards.

    Raises InputError for a server that was not added, and where it does not have what is to be taken.
    """
    with hold_server(name):
        return _change(name, granted, revoked)


def _change(name: str, granted: Sequence[Right], revoked: Sequence[Right]) -> ServerRecord:
    server = find_server(name)
    permissions, origin = server.record["permissions"], server.record["origin"]
    for right in revoked:
        if right.entry not in permissions.get(right.key, ()):
            has = ", ".join(permissions.get(right.key, ())) or "nothing"
            raise InputError(f"{name} does not have {right.entry} in {right.key}.", hint=f"It has {has}.")
    changed = add_rights(permissions, granted)
    for right in revoked:
        changed[right.key].remove(right.entry)
    gone = {f"{one.key}={one.entry}" for one in revoked}
    rights = [*(one for one in origin["rights"] if one not in gone), *(f"{one.key}={one.entry}" for one in granted)]
    record = cast_record({**server.record, "permissions": changed, "origin": {**origin, "rights": rights}})
    schemas = {
        tool: strict_json.loads_object(server.tools.read(f"{tool}.schema.json") or b"{}") for tool in record["tools"]
    }
    write_server(record, schemas, server.definitions, server.environment)
    accept_permissions(list(record["tools"]))
    return record
