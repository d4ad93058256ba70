"""Starting a keeper, for the calls that come after this one. Nobody waits for it."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool

_MAIN = """\
{paths}
from ferrule.calls.keeper.process import main
main()
"""


def start_if_wanted(settings: Configuration | None, tool: InstalledTool | None, installation: str) -> None:
    """Start a keeper where this tool is to be kept and none listens. Never raises: the call has been made without.

    settings: as far as the call knows them. tool: None where none was found. installation: see
    `keeper_address.installation_number`.
    """
    if settings is None or tool is None or not sys.platform.startswith("linux"):
        return
    from ferrule.links.kept_tools import is_to_keep

    try:
        if is_to_keep(settings, tool):
            _start_if_missing(installation)
    except OSError:
        return


def _start_if_missing(installation: str) -> None:
    """Raises OSError."""
    from ferrule.links.keeper_address import base_environ, runtime_folder, socket_name

    environ = read_first_environ()
    folder = runtime_folder(environ, is_made=True)
    if folder and not _listens(os.path.join(folder, socket_name(installation, environ))):
        start(installation, base_environ(environ), f"sys.path[:] = {sys.path}")


def start(installation: str, environ: dict[str, str], paths: str) -> None:
    """Start one, which ends at once if another one runs. Raises OSError.

    environ: its variables, see `base_environ`. paths: the line of Python that makes its `sys.path` that of a call.
    """
    command = compose_command(installation, paths)
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, nothing, file) for file in range(3)]
        os.posix_spawn(command[0], command, environ, file_actions=actions, setsid=True)
    finally:
        os.close(nothing)


def compose_command(installation: str, paths: str) -> list[str]:
    """The command that is a keeper. See `start`."""
    from ferrule.supervision import python_start

    code = python_start.CODE + _MAIN.format(paths=paths)
    return [sys.executable, *python_start.OPTIONS.split(), "-c", code, installation]


def read_first_environ() -> dict[str, str]:
    """The variables with which this process was started, before the interpreter or anything else has set any."""
    try:
        with open("/proc/self/environ", "rb", buffering=0) as file:
            entries = file.readall().split(b"\0")
    except OSError:
        return dict(os.environ)
    pairs = (os.fsdecode(entry).partition("=") for entry in entries)
    return {name: value for name, separator, value in pairs if separator and name}


def _listens(path: str) -> bool:
    import _socket

    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.settimeout(0)
        line.connect(path)
    except BlockingIOError:
        return True  # and has more to do than it can
    except OSError:
        return False
    finally:
        line.close()
    return True
