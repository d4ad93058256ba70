"""A server that is installed anew, next to the one that is there: what differs, and taking it."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, NamedTuple

from ferrule.installed import SourceTools
from ferrule_mcp.credentials import declare
from ferrule_mcp.environment.differences import compare_records
from ferrule_mcp.installation.addition import install_and_start
from ferrule_mcp.installation.host_commands import accept_permissions
from ferrule_mcp.installation.request import remake_request
from ferrule_mcp.installation.server import remove_environments, write_server
from ferrule_mcp.record import SOURCE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.environment.differences import Difference
    from ferrule_mcp.environment.record import Environment
    from ferrule_mcp.installation.addition import Addition, Decide
    from ferrule_mcp.installation.rights import Right
    from ferrule_mcp.installation.server import InstalledServer
    from ferrule_mcp.record import ServerRecord


class Renewal(NamedTuple):
    """What a server would be now. addition, environment: of it; differences: from the one that is there."""

    addition: Addition
    environment: Environment | None
    differences: Sequence[Difference]


def renew(server: InstalledServer, rights: Sequence[Right], decide: Decide, tell: Callable[[str], None]) -> Renewal:
    """Install and start a server anew, with what it was granted; nothing that is there changes.

    Args:
        server: the one that is there.
        rights: more that it is granted.
        decide: see `ferrule_mcp.installation.addition.Decide`.
        tell: gets lines on what goes on.

    Raises what `install_and_start` raises.
    """
    request = remake_request(server.record)
    request = request._replace(rights=[*request.rights, *rights])
    addition, environment = install_and_start(request, decide, tell)
    before = _describe(server.record, server.definitions, server.environment)
    now = _describe(addition.record, addition.definitions, environment)
    return Renewal(addition, environment, compare_records(before, now))


def take(server: InstalledServer, renewal: Renewal) -> None:
    """Have the renewed server in place of the one that is there. Raises what writing it raises.

    The environment before stays until the next time: a call may run in it.
    """
    addition, environment = renewal.addition, renewal.environment
    _accept_both(server.record, addition)
    write_server(addition.record, addition.schemas, addition.definitions, environment, server.record)
    accept_permissions(list(addition.record["tools"]))
    kept = [server.record["environment"], addition.record["environment"]]
    remove_environments(server.name, [folder for folder in kept if folder])


def _accept_both(before: ServerRecord, addition: Addition) -> None:
    """Accept what the tools ask for before and after they are written, so that a call meanwhile is not refused."""
    old, new = before["permissions"], addition.record["permissions"]
    both = {key: [*dict.fromkeys([*old.get(key, ()), *value])] for key, value in new.items() if isinstance(value, list)}
    credentials = declare(before["name"], [*before["credentials"], *addition.record["credentials"]])
    with tempfile.TemporaryDirectory(prefix="ferrule-mcp-") as folder:
        tools = SourceTools(SOURCE, before["name"], folder)
        tools.write("0", addition.schemas, {"permissions": {**new, **both}, "credentials": credentials}, {})
        accept_permissions(list(addition.schemas), folder)


def drop(server: InstalledServer, renewal: Renewal) -> None:
    """Remove what a renewal has installed."""
    if renewal.addition.record["environment"]:
        remove_environments(server.name, [server.record["environment"]])


def _describe(
    record: ServerRecord, definitions: Mapping[str, JSONObject], environment: Environment | None
) -> JSONObject:
    """What is compared of a server: paths have no place in it that are new each time."""
    folder = record["environment"]
    packages = [one.to_json() for one in environment.packages] if environment else []
    permissions = {
        key: [entry for entry in value if not (folder and str(entry).startswith(folder))]
        for key, value in record["permissions"].items()
        if isinstance(value, list)
    }
    texts = ("era", "transport", "url", "instructions", "folder", "variables", "headers", "capabilities", "offered")
    return {
        **{key: record[key] for key in texts},  # type: ignore[literal-required] # each is a key of it
        "command": [one.replace(folder, "") if folder else one for one in record["command"]],
        "server": record["server"],
        "packages": packages,
        "tools": dict(definitions),
        "permissions": permissions,
    }
