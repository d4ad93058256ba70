"""What the admin asks for when a server is added, and the record that it becomes before the server has answered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ferrule_mcp.environment.installation import install
from ferrule_mcp.installation.known_servers import find_variables
from ferrule_mcp.installation.rights import Right, add_rights, base_permissions, parse_right
from ferrule_mcp.installation.selection import Selection
from ferrule_mcp.installation.server import environment_of, make_home
from ferrule_mcp.launch.plan import NONE, Launch
from ferrule_mcp.record import cast_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.environment.record import Environment
    from ferrule_mcp.launch.bundles import FilledBundle
    from ferrule_mcp.launch.plan import Secret
    from ferrule_mcp.record import ServerRecord

DEFAULT_SECONDS = 120.0
_PROJECT_FILES = ("package.json", "pyproject.toml", ".git")


class Request(NamedTuple):
    """A server that is to be added.

    Args:
        name: in ferrule.
        source: how it is installed and started, or a bundle that says so; None for one over HTTP.
        url, headers: of one over HTTP; `{NAME}` in a header is a credential.
        variables: more variables of its process; `{NAME}` in one is a credential.
        credentials: values by their names; empty for one that is to be set later.
        folder: where it works, empty for its home.
        roots: folders that it is given as roots.
        rights: what it is granted from the beginning.
        selection: which of its tools.
        allowed_scripts: packages whose install scripts may run.
        seconds: that its first start may take.
        keep: whether it goes on between calls; None where its tools decide that.
        origin: what a record keeps of it besides: the bundle with its answers, above all.
    """

    name: str
    source: Launch | FilledBundle | None = None
    url: str = ""
    headers: Mapping[str, str] = {}
    variables: Mapping[str, str] = {}
    credentials: Mapping[str, str] = {}
    folder: str = ""
    roots: Sequence[str] = ()
    rights: Sequence[Right] = ()
    selection: Selection = Selection()
    allowed_scripts: Sequence[str] = ()
    seconds: float = DEFAULT_SECONDS
    keep: bool | None = None
    origin: Mapping[str, object] = {}

    @property
    def launch(self) -> Launch | None:
        """Its launch, where it is known before anything is installed."""
        return self.source if isinstance(self.source, Launch) else None

    def values(self) -> dict[str, str]:
        """The values of its credentials, as far as they are known."""
        return {name: value for name, value in self.credentials.items() if value}

    def to_json(self) -> JSONObject:
        """What a record keeps, to install the same again; without a value of any credential."""
        return {
            **self.origin,
            "launch": self.launch.to_json() if self.launch else None,
            "headers": dict(self.headers),
            "variables": dict(self.variables),
            "rights": [f"{one.key}={one.entry}" for one in self.rights],
            "selection": self.selection.to_json(),
            "allowed_scripts": list(self.allowed_scripts),
            "seconds": self.seconds,
            "keep": self.keep,
        }


def with_own_credentials(request: Request, secrets: Iterable[Secret]) -> Request:
    """The request with the credentials that its command line or bundle has shown."""
    found = {one.name: one.value for one in secrets}
    return request._replace(credentials={**found, **request.credentials})


def remake_request(record: ServerRecord) -> Request:
    """The request from which a server was added, without the values of its credentials. Raises LaunchRefused."""
    origin = record["origin"]
    selection = origin["selection"]
    return Request(
        record["name"],
        source=_remake_source(origin),
        url=record["url"],
        headers=origin["headers"],
        variables=origin["variables"],
        credentials=dict.fromkeys(record["credentials"], ""),
        folder=record["folder"],
        roots=record["roots"],
        rights=[parse_right(one) for one in origin["rights"]],
        selection=Selection(**selection),
        allowed_scripts=origin["allowed_scripts"],
        seconds=origin["seconds"],
        keep=origin.get("keep"),
        origin={key: origin[key] for key in ("bundle", "answers") if key in origin},
    )


def _remake_source(origin: JSONObject) -> Launch | FilledBundle | None:
    if "bundle" in origin:
        from ferrule_mcp.launch.bundles import read_bundle

        return read_bundle(Path(origin["bundle"])).fill(origin["answers"])
    return Launch.from_json(origin["launch"]) if origin["launch"] else None


def install_request(
    request: Request, on_line: Callable[[str], None]
) -> tuple[ServerRecord, JSONObject, Environment | None]:
    """Install what a server needs; its record without tools, its first permissions, and its environment.

    Raises what `ferrule_mcp.environment.installation.install` raises.
    """
    environment = None
    if request.source:
        folder = Path(environment_of(request.name))
        environment = install(request.source, folder, request.allowed_scripts, on_line)
    record = make_record(request, environment)
    permissions = add_rights(base_permissions(record, _read_beside(request)), request.rights)
    return record, permissions, environment


def make_record(request: Request, environment: Environment | None) -> ServerRecord:
    """The record of a server that has not answered yet."""
    home = make_home(request.name)
    known = find_variables([one.name for one in environment.packages], home) if environment else {}
    own = environment.variables if environment else {}
    launch = request.launch
    return cast_record(
        {
            "name": request.name,
            "origin": request.to_json(),
            "transport": "stdio" if request.source else "http",
            "command": list(environment.command) if environment else [],
            "variables": {**known, **own, **request.variables},
            "credentials": sorted(request.credentials),
            "folder": request.folder or (launch.folder if launch else ""),
            "home": home,
            "roots": list(request.roots),
            "url": request.url,
            "headers": dict(request.headers),
            "era": "",
            "server": {},
            "capabilities": {},
            "offered": {},
            "instructions": "",
            "environment": environment.folder if environment else "",
            "notes": [
                *(environment.notes if environment else ()),
                *_tell_known(known),
            ],
            "permissions": {},
            "keep": request.keep if request.source else False,
            "tools": {},
        }
    )


def _tell_known(variables: Mapping[str, str]) -> list[str]:
    return [f"It gets {name}={value}." for name, value in variables.items()]


def _read_beside(request: Request) -> list[str]:
    """What the program of a server reads that ferrule has not installed: the project that its file is in."""
    launch = request.launch
    if launch is None or launch.ecosystem != NONE or not os.path.isabs(launch.executable):
        return []
    file = Path(os.path.realpath(launch.executable))
    home = Path.home()
    for folder in file.parents:
        if folder == home or folder in home.parents:
            break
        if any((folder / name).exists() for name in _PROJECT_FILES):
            return [str(folder)]
    return [str(file)]
