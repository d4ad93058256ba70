"""The declaration that a call would have needed: as narrow as what was seen of it allows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from shutil import which
from typing import TYPE_CHECKING, TypedDict

from ferrule.config import configuration
from ferrule.trace.usual import UsualPaths, own_variables

if TYPE_CHECKING:
    from ferrule.trace.observations import Connection, Observations

_MAX_HOSTS = 5  # a tool that asks more of them asks whatever it is told to
_HTTPS = 443
_MANY_FILES = 3  # of one folder, which stand for the folder
_BROAD = ("/", "/etc", "/home", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr", "/var")  # noqa: S108 - no file is made
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "FERRULE_HTTP_RELAY")


class Needs(TypedDict):
    """The keys of `permissions` in `tool.json`."""

    network: list[str]
    read: list[str]
    write: list[str]
    programs: list[str]
    environment: list[str]
    processes: int


class Needed:
    """permissions: what to declare. notes: sentences on what cannot be declared, or is broader than it has to be."""

    def __init__(self, found: Observations, usual: UsualPaths, environ: Mapping[str, str], folder: str) -> None:
        self.notes: list[str] = []
        self._home = os.path.realpath(configuration.home(environ))
        self._folder = os.path.realpath(folder)
        self._usual = usual
        write = self._places(self._usual.without([*found.folders, *_kept(found.written, found.folders)]))
        read = self._places(self._usual.without(path for path in found.read if path not in found.programs))
        network = self._network(found, environ)
        self.permissions: Needs = {
            "network": network,
            "read": [place for place in read if not any(_is_in(place, other) for other in write)],
            "write": write,
            "programs": [_program(path, environ) for path in found.programs],
            "environment": own_variables((one for one in found.variables if one in environ), has_network=bool(network)),
            "processes": found.copies.most,
        }
        self.permissions["programs"] = sorted(set(self.permissions["programs"]))
        if found.sockets.keys() and (sockets := self._usual.without(found.sockets)):
            self.notes.append(f"It connects to {', '.join(sockets)}, which no declaration can name.")

    def _places(self, paths: Sequence[str]) -> list[str]:
        """Files as the folders that they are in, where there are several of one folder; folders hold what is below."""
        by_folder = Counter(os.path.dirname(path) for path in paths)
        grouped = {
            parent if by_folder[parent := os.path.dirname(path)] >= _MANY_FILES and not self._is_broad(parent) else path
            for path in paths
        }
        for path in sorted(grouped):
            if self._is_broad(path) and os.path.isdir(path):
                self.notes.append(f"{self._shown(path)} is broad; a folder of its own would do with less.")
        kept = [path for path in grouped if not any(path != other and _is_in(path, other) for other in grouped)]
        return sorted(map(self._shown, kept))

    def _is_broad(self, folder: str) -> bool:
        return folder in _BROAD or folder == self._home or _is_in(self._home, folder)

    def _shown(self, path: str) -> str:
        """The path from the working folder or from the home, where it is below one of them."""
        if self._folder != self._home and not _is_in(self._home, self._folder) and _is_in(path, self._folder):
            return "." + path[len(self._folder) :]
        return "~" + path[len(self._home) :] if _is_in(path, self._home) else path

    def _network(self, found: Observations, environ: Mapping[str, str]) -> list[str]:
        proxies = [environ[name] for name in _PROXIES if environ.get(name)]
        needed: dict[str, None] = {}
        for one in found.connections:
            is_proxy = any(
                f"{host}:{one.port}" in proxy for proxy in proxies for host in (one.host, one.address) if host
            )
            needed["public" if is_proxy else _target(one)] = None
        reached = {one.host for one in found.connections}
        asked = {name: port for name, port in found.asked if name not in reached}
        guessed = [name for name in found.names if name not in reached and name not in asked]
        needed.update({_named(name, port): None for name, port in asked.items()})
        needed.update({_named(name, _HTTPS): None for name in guessed})
        if guessed:
            self.notes.append(f"Nothing was connected to under {', '.join(guessed)}, so port {_HTTPS} is a guess.")
        if found.listened:
            needed["loopback"] = None
        hosts = [one for one in needed if ":" in one]
        if "public" in needed or len(hosts) > _MAX_HOSTS:
            return ["public", *sorted(one for one in needed if ":" not in one and one != "public")]
        return sorted(needed)


def _kept(written: Iterable[str], folders: Mapping[str, None]) -> list[str]:
    return [path for path in written if os.path.dirname(path) not in folders]


def _target(one: Connection) -> str:
    address = ip_address(one.address)
    mapped = getattr(address, "ipv4_mapped", None) or address
    if mapped.is_loopback or mapped.is_unspecified:
        return "loopback"
    if one.host:
        return f"{one.host}:{one.port}"
    return "public" if mapped.is_global else "private"


def _named(name: str, port: int) -> str:
    return "loopback" if name == "localhost" or name.endswith(".localhost") else f"{name}:{port}"


def _program(path: str, environ: Mapping[str, str]) -> str:
    """The name, where PATH leads to the same program, else the path."""
    name = os.path.basename(path)
    found = which(name, path=environ.get("PATH"))
    return name if found and os.path.realpath(found) == os.path.realpath(path) else path


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
