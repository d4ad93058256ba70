"""What every tool may touch without asking: it is left out of a trace."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ferrule.config import configuration
from ferrule.confinement.policy import DEVICES, readable
from ferrule.storage import state_folder
from ferrule.trust.resolution.environment import HARMLESS, HOST, OF_NETWORK, PROXIES

_OF_PROGRAMS = ("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin")
_NAME_SERVICES = ("/run/nscd", "/var/run/nscd", "/run/systemd", "/dev/log", "/run/dbus")
_SEEN_BY_ALL = ("/proc/self", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_INTERPRETER = ("PYTHON*", "VIRTUAL_ENV", "COLUMNS", "LINES", "TEMP", "TMP")


class UsualPaths:
    """Python and its libraries, what these read of the system, the tool's own state, files that go with the call.

    temporary: the folder of the last; empty where there was none.
    """

    def __init__(self, temporary: str) -> None:
        own = [temporary, state_folder(), configuration.default_path(), configuration.credentials_path()]
        usual = (*DEVICES, *_SEEN_BY_ALL, *_OF_PROGRAMS, *_NAME_SERVICES)
        named = [*readable(with_others=False), *usual, *filter(None, own)]
        self._folders = {path for one in named for path in (os.path.abspath(one), os.path.realpath(one))} - {"/"}

    def without(self, paths: Iterable[str]) -> list[str]:
        """The paths that are something of their own."""
        return sorted(path for path in paths if not self._has(path))

    def _has(self, path: str) -> bool:
        if path in ("/", "/proc") or path.startswith("/proc/"):
            return True
        parts = path.split("/")
        return any("/".join(parts[:end]) in self._folders for end in range(2, len(parts) + 1))


def own_variables(names: Iterable[str], *, has_network: bool) -> list[str]:
    """The variables that a tool has to ask for."""
    patterns = (*HARMLESS, *HOST, *_INTERPRETER, *PROXIES, *(OF_NETWORK if has_network else ()))
    beginnings = tuple(one[:-1] for one in patterns if one.endswith("*"))
    return sorted(name for name in names if name not in patterns and not name.startswith(beginnings))
