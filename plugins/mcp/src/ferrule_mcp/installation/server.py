"""A server that is installed: its record, the definitions of its tools, and writing all of it."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ferrule.config.own_folders import environments_folder, homes_folder
from ferrule.errors import InputError
from ferrule.installed import SourceTools, find_sources
from ferrule.storage import locked
from ferrule.text import strict_json
from ferrule_mcp.credentials import declare
from ferrule_mcp.environment.programs import leave_on_signals
from ferrule_mcp.environment.record import Environment, InstallFailed
from ferrule_mcp.record import DEFINITIONS, ENVIRONMENT, FILE, PREVIOUS, SOURCE, cast_record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.record import ServerRecord

_HINTS = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}
_VERSION = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+_")
_MAX_VERSION_CHARACTERS = 60
_WAIT_SECONDS = 2.0
_KEYS = frozenset(
    [
        "name",
        "origin",
        "transport",
        "command",
        "variables",
        "credentials",
        "folder",
        "home",
        "roots",
        "url",
        "headers",
        "era",
        "server",
        "capabilities",
        "offered",
        "instructions",
        "environment",
        "notes",
        "permissions",
        "tools",
    ]
)


class InstalledServer(NamedTuple):
    """One server. definitions: of its tools, by the server's names. environment: None where nothing is known of it."""

    tools: SourceTools
    record: ServerRecord
    definitions: dict[str, JSONObject]
    environment: Environment | None

    @property
    def name(self) -> str:
        """Its name in ferrule."""
        return self.record["name"]


def find_servers() -> list[InstalledServer]:
    """All servers by name, without those whose record cannot be read."""
    found = (_read(tools) for tools in find_sources(SOURCE))
    return [one for one in found if one]


def find_server(name: str) -> InstalledServer:
    """The server of this name. Raises InputError for a name that none has."""
    server = _read(SourceTools(SOURCE, name))
    if server is None:
        if SourceTools(SOURCE, name).version:
            hint = f"`ferrule mcp remove {name}` removes it; add it again then."
            raise InputError(f"What is known of the MCP server {name!r} cannot be read.", hint=hint)
        known = ", ".join(one.name for one in find_sources(SOURCE))
        hint = f"There is {known}." if known else "`ferrule mcp add NAME -- COMMAND` adds one."
        raise InputError(f"No MCP server {name!r} was added.", hint=hint)
    return server


@contextmanager
def hold_server(name: str) -> Iterator[None]:
    """Let no other process add, renew, change or remove a server of this name while the block runs.

    SIGTERM and SIGHUP raise SystemExit in it, so that what is half done goes away.

    Raises InputError where another one does that, and for what is no name of a server.
    """
    SourceTools(SOURCE, name)
    folder = environments_folder(SOURCE)
    os.makedirs(folder, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(locked(os.path.join(folder, f".{name}.lock"), _WAIT_SECONDS))
        except TimeoutError:
            raise InputError(
                f"Another process is changing the MCP server {name!r}.", hint="Wait until it has ended, and try again."
            ) from None
        held.enter_context(leave_on_signals())
        yield


def find_home(name: str) -> str:
    """The folder that is the server's home."""
    return os.path.realpath(os.path.join(homes_folder(SOURCE), name))


def make_home(name: str) -> str:
    """The folder that is the server's home, made where it is missing."""
    path = find_home(name)
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def environment_of(name: str) -> str:
    """A folder for a new environment of the server, which is not there yet."""
    folder = environments_folder(SOURCE)
    number = 1
    while os.path.lexists(os.path.join(folder, f"{name}-{number}")):
        number += 1
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, f"{name}-{number}")


def write_server(
    record: ServerRecord,
    schemas: Mapping[str, JSONObject],
    definitions: Mapping[str, JSONObject],
    environment: Environment | None,
    previous: ServerRecord | None = None,
) -> SourceTools:
    """Install the tools of a server, in place of those that it had.

    Args:
        record: of the server.
        schemas: of its tools, by their names in ferrule.
        definitions: of its tools, by the server's names.
        environment: what was installed for it.
        previous: the record of the server that is replaced, whose environment is still there.

    Raises what `SourceTools.write` raises.
    """
    tools = SourceTools(SOURCE, record["name"])
    credentials = declare(record["name"], record["credentials"])
    declaration: JSONObject = {"permissions": record["permissions"], "credentials": credentials}
    if record.get("keep"):
        declaration["lasting"] = True
    files = {FILE: strict_json.dumps(record), DEFINITIONS: strict_json.dumps(definitions)}
    if environment:
        files[ENVIRONMENT] = strict_json.dumps(environment.to_json())
    if previous:
        files[PREVIOUS] = strict_json.dumps(previous)
    for tool, entry in record["tools"].items():
        files[f"{tool}.tool.json"] = strict_json.dumps(_describe(definitions[entry["name"]]))
    tools.write(find_version(record, environment), schemas, declaration, files, f"The MCP server {record['name']}")
    return tools


def find_version(record: ServerRecord, environment: Environment | None) -> str:
    """The version of the server's package, else what the server calls its version."""
    found = environment.version if environment else ""
    found = found or str(record["server"].get("version") or "")
    kept = "".join(one if one in _VERSION else "." for one in found)[:_MAX_VERSION_CHARACTERS].strip(".")
    return kept or "0"


def remove_environment(record: ServerRecord) -> None:
    """Remove what was installed for a server, where ferrule has installed it."""
    folder = record["environment"]
    if os.path.dirname(folder) == environments_folder(SOURCE):
        shutil.rmtree(folder, ignore_errors=True)


def remove_environments(name: str, kept: Collection[str] = ()) -> None:
    """Remove all that was installed for a server of this name, but for the folders that are kept."""
    folder = environments_folder(SOURCE)
    half = re.compile(rf"\.{name}-\d+\.(?:new|old)-.*")  # what a process that was killed has left
    for one in os.listdir(folder) if os.path.isdir(folder) else ():
        path = os.path.join(folder, one)
        if (one.rpartition("-")[0] == name or half.fullmatch(one)) and path not in kept:
            shutil.rmtree(path, ignore_errors=True)


def _read(tools: SourceTools) -> InstalledServer | None:
    record, definitions = tools.read(FILE), tools.read(DEFINITIONS)
    if record is None or definitions is None:
        return None
    installed = tools.read(ENVIRONMENT)
    try:
        environment = Environment.from_json(strict_json.loads_object(installed)) if installed else None
        found = cast_record(strict_json.loads(record)), strict_json.loads_object(definitions)
    except (ValueError, InstallFailed):
        return None
    if not isinstance(found[0], dict) or not set(found[0]) >= _KEYS:
        return None
    return InstalledServer(tools, *found, environment)


def _describe(definition: JSONObject) -> JSONObject:
    """What the server says of one tool, as keys of `tool.json`: hints, which nothing is granted for."""
    annotations = definition.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    found: JSONObject = {ours: hints[key] for key, ours in _HINTS.items() if isinstance(hints.get(key), bool)}
    title = definition.get("title") or hints.get("title")
    if isinstance(title, str) and (plain := " ".join(title.split())) and plain.isprintable():
        found["title"] = plain
    return found
