"""The process of a keeper, from its start to its end: `main` is started by a call that found none."""

from __future__ import annotations

import os
import sys

from ferrule.config import configuration
from ferrule.config.keep import keep_seconds
from ferrule.config.own_folders import add_sources_to_path
from ferrule.errors import FerruleError
from ferrule.links.keeper_address import lock_path, runtime_folder, socket_name
from ferrule.links.keeper_start import read_first_environ


def main() -> None:
    """`INSTALLATION`: be the keeper of this installation, user and environment, unless there is one already."""
    installation = sys.argv[1]
    environ = read_first_environ()
    folder = runtime_folder(environ, is_made=True)
    if not folder:
        sys.exit("No folder for the socket of a keeper is this user's alone.")
    path = os.path.join(folder, socket_name(installation, environ))
    if not _is_only_one(lock_path(path)):
        return
    try:
        seconds = keep_seconds(configuration.read())
    except FerruleError as error:
        sys.exit(error.message)
    if seconds:
        _run(path, environ, seconds)


def _run(path: str, environ: dict[str, str], seconds: float) -> None:
    from ferrule.calls.fork_server.server import ForkServer
    from ferrule.calls.fork_server.surroundings import ServerOptions
    from ferrule.calls.keeper.keeper import Keeper

    add_sources_to_path()
    os.chdir("/")
    os.umask(0o077)
    with ForkServer(ServerOptions(idle_seconds=seconds, way="")) as server:
        keeper = Keeper(server, path, environ)
        try:
            server.run()
        finally:
            keeper.close()


def _is_only_one(path: str) -> bool:
    """Hold a lock until this process ends; False where another process has it."""
    import fcntl

    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
