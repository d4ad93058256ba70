"""Units of systemd for a keeper: a socket that is there from login on, and the keeper that its first call starts."""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING, NamedTuple

from ferrule._version import __version__
from ferrule.calls.keeper.client import paths_line
from ferrule.errors import FerruleError
from ferrule.links.keeper_address import (
    BASE_VARIABLES,
    base_environ,
    installation_number,
    runtime_folder,
    socket_name,
)
from ferrule.links.keeper_start import compose_command, read_first_environ
from ferrule.storage.private_files import replace_file
from ferrule.supervision.python_process import installation_folders, interpreter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "%": "%%"}
_LIMITS = {
    "LimitCPU": resource.RLIMIT_CPU,
    "LimitFSIZE": resource.RLIMIT_FSIZE,
    "LimitDATA": resource.RLIMIT_DATA,
    "LimitSTACK": resource.RLIMIT_STACK,
    "LimitCORE": resource.RLIMIT_CORE,
    "LimitRSS": resource.RLIMIT_RSS,
    "LimitNPROC": resource.RLIMIT_NPROC,
    "LimitNOFILE": resource.RLIMIT_NOFILE,
    "LimitMEMLOCK": resource.RLIMIT_MEMLOCK,
    "LimitAS": resource.RLIMIT_AS,
}
_SOCKET = """\
[Unit]
Description=Socket of the keeper of ferrule

[Socket]
ListenStream={path}
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
"""
_SERVICE = """\
[Unit]
Description=Keeper of ferrule
Requires={name}.socket

[Service]
ExecStart={command}
{variables}UnsetEnvironment={unset}
{limits}KillMode=mixed
TimeoutStopSec=30
"""


class Units(NamedTuple):
    """The two, by their texts. name: of both, without its end."""

    name: str
    socket: str
    service: str


def compose_units() -> Units:
    """For this installation, and calls with this environment. Raises FerruleError where no folder is safe."""
    environ = read_first_environ()
    folder = runtime_folder(environ, is_made=True)
    if not folder:
        raise FerruleError("No folder for its socket is this user's alone.", hint="Set XDG_RUNTIME_DIR to one.")
    file = socket_name(installation_number(interpreter(), installation_folders(), __version__), environ)
    name = "ferrule-" + file.removesuffix(".sock")
    installation = file.split("-")[1]
    base = base_environ(environ)
    words = compose_command(installation, paths_line())
    service = _SERVICE.format(
        name=name,
        command=" ".join(_quote(word).replace("$", "$$") for word in words),
        variables="".join(f"Environment={_quote(f'{one}={value}')}\n" for one, value in sorted(base.items())),
        unset=" ".join(one for one in BASE_VARIABLES if one not in base),
        limits="".join(_list_limits()),
    )
    return Units(name, _SOCKET.format(path=os.path.join(folder, file).replace("%", "%%")), service)


def write_units(units: Units, environ: Mapping[str, str]) -> list[str]:
    """Write them where systemd looks for those of this user; the paths. Raises OSError."""
    configuration = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(configuration):
        configuration = os.path.join(os.path.expanduser("~"), ".config")
    folder = os.path.join(configuration, "systemd", "user")
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, f"{units.name}.{end}") for end in ("socket", "service")]
    for path, text in zip(paths, (units.socket, units.service), strict=True):
        replace_file(path, text.encode())
    return paths


def _list_limits() -> Iterator[str]:
    """The limits of this process, as a keeper refuses calls with other ones than its own."""
    for name, number in _LIMITS.items():
        soft, hard = ("infinity" if one < 0 else str(one) for one in resource.getrlimit(number))
        yield f"{name}={soft}:{hard}\n"


def _quote(word: str) -> str:
    return '"' + "".join(_ESCAPES.get(one, one) for one in word) + '"'
