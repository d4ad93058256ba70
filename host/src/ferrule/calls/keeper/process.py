"""The process of a keeper, from its start to its end: `main` is started by a call that found none."""

from __future__ import annotations

import os
import socket
import sys

from ferrule.config import configuration
from ferrule.config.keep import keep_seconds
from ferrule.config.own_folders import add_sources_to_path
from ferrule.errors import FerruleError
from ferrule.links.keeper_address import (
    base_environ,
    is_base,
    keeper_sockets,
    lock_path,
    runtime_folder,
    socket_name,
)
from ferrule.links.keeper_start import read_first_environ
from ferrule.storage.private_files import remove_file

_GIVEN_FILE = 3  # the first one that systemd hands over


def main() -> None:
    """`INSTALLATION`: be the keeper of this installation, user and environment, unless there is one already."""
    installation = sys.argv[1]
    given = take_given_socket()
    environ = read_first_environ() if given is None else _drop_other_variables()
    folder = runtime_folder(environ, is_made=True)
    if not folder:
        sys.exit("No folder for the socket of a keeper is this user's alone.")
    path = os.path.join(folder, socket_name(installation, environ))
    if given is not None and given.getsockname() != path:
        sys.exit(f"Calls with these variables look for {path}. `ferrule keep unit --write` writes the units again.")
    if not _is_only_one(lock_path(path)):
        return
    remove_remains(folder)
    try:
        seconds = keep_seconds(configuration.read())
    except FerruleError as error:
        sys.exit(error.message)
    if seconds:
        _run(path, environ, seconds, given)


def _run(path: str, environ: dict[str, str], seconds: float, given: socket.socket | None) -> None:
    from ferrule.calls.fork_server.server import ForkServer
    from ferrule.calls.fork_server.surroundings import ServerOptions
    from ferrule.calls.keeper.keeper import Keeper

    add_sources_to_path()
    os.chdir("/")
    os.umask(0o077)
    with ForkServer(ServerOptions(idle_seconds=seconds, way="", keeps=True)) as server:
        keeper = Keeper(server, path, environ, given)
        try:
            server.run()
        finally:
            keeper.close()
            remove_file(lock_path(path))


def take_given_socket() -> socket.socket | None:
    """The socket that systemd has opened for this process and listens on while none runs; None where it has not."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or os.environ.get("LISTEN_FDS") != "1":
        return None
    line = socket.socket(fileno=_GIVEN_FILE)
    line.set_inheritable(False)
    line.setblocking(False)
    return line


def _drop_other_variables() -> dict[str, str]:
    """Have no variables but those of a keeper, as one that a call starts; they are returned."""
    environ = base_environ(read_first_environ())
    for name in set(os.environ) - set(environ):
        if not is_base(name):  # one that the interpreter has set, such as LC_CTYPE, stays
            del os.environ[name]
    return environ


def _is_only_one(path: str) -> bool:
    """Hold a lock until this process ends; False where another process has it."""
    import fcntl

    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file), os.lstat(path))  # else one that has just ended has removed it
    except OSError:
        return False


def remove_remains(folder: str) -> None:
    """Remove the sockets of keepers that were killed, with their locks."""
    for path in keeper_sockets(folder):
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with line:
            try:
                line.settimeout(0)
                line.connect(path)
            except ConnectionRefusedError:
                remove_file(path)
            except OSError:
                continue
