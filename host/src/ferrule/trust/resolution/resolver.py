"""Entries of permissions as what they mean on this machine, for this call: absolute paths, hosts, programs."""

from __future__ import annotations

import os

from ferrule.config import configuration
from ferrule.trust import entries
from ferrule.trust.resolution.environment import PROXIES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ferrule.text.json_types import JSONMapping

_PORTS = {"http": "80", "https": "443"}
_MOVED = {"~/.config": "XDG_CONFIG_HOME", "~/.local/share": "XDG_DATA_HOME", "~/.cache": "XDG_CACHE_HOME"}
_SYSTEM = ("/usr/", "/bin/", "/sbin/")  # which no tool may write, whatever it declares: most programs are there


class Resolution:
    """One call's own: the user's home, the working folder, the tool's settings, the environment.

    refused: of entries that are not granted: each with the reason, as the end of a sentence.
    """

    __slots__ = ("environ", "folder", "home", "refused", "table")

    def __init__(self, table: JSONMapping, environ: Mapping[str, str]) -> None:
        self.table = table
        self.environ = environ
        self.home = configuration.home(environ)
        self.folder = _working_folder()
        self.refused: dict[str, str] = {}

    def paths(self, listed: Iterable[str]) -> list[str]:
        """Each path as an absolute one without links. `~/*` is each entry of the home that is not hidden."""
        return list(dict.fromkeys(os.path.realpath(path) for entry in listed for path in self._written(entry)))

    def granted_paths(
        self, listed: Collection[str], by_admin: Collection[str], writable: Callable[[], Iterable[str]]
    ) -> list[str]:
        """As `paths`, without what no tool is given, which `refused` says then.

        That is the home, the root and the folder of the client's tools, but where the admin has written just that; and
        what is reached by a link in a folder that a tool may write: who has made it is not known. by_admin: entries of
        config.toml. writable: finds these folders; most calls do without.
        """
        if not listed:
            return []
        from ferrule.trust.resolution.paths import first_inside, walk, what_is_refused

        found: dict[str, None] = {}
        for entry in listed:
            is_admins = entry in by_admin and not entries.is_indirect(entry) and entry != "."
            for path in self._written(entry):
                way = walk(path)
                why = "" if is_admins else what_is_refused(way.path, self.home)
                folder = first_inside(way.folders, writable()) if way.folders and not why else ""
                if folder:
                    why = f"is reached by a link in {folder}, which a tool may write"
                if why:
                    self.refused[entry] = why
                else:
                    found[way.path] = None
        return list(found)

    def networks(self, listed: Iterable[str]) -> list[str]:
        """`public`, `loopback`, `private`, and hosts with ports. A URL that a setting or variable names is its host."""
        found: dict[str, None] = {}
        for entry in listed:
            if not entries.is_indirect(entry):
                found[entry] = None
            for name in self._named(entry) if entries.is_indirect(entry) else ():
                found.update(dict.fromkeys(filter(None, map(network_of, name.replace(",", " ").split()))))
        return list(found)

    def programs(self, listed: Iterable[str]) -> list[str]:
        """Every executable of these names in absolute folders of PATH.

        One that is nowhere stands for itself where it would be looked for first. So its tool may try to start it, and
        learns that it is missing, not that it is refused.
        """
        found: dict[str, None] = {}
        for entry in listed:
            for name in self._named(entry) if entries.is_indirect(entry) else (entry,):
                found.update(dict.fromkeys(self._executables(name)))
        return list(found)

    def granted_programs(
        self,
        listed: Collection[str],
        writable: Callable[[], Iterable[str]],
        kept: Callable[[], Collection[str]] = tuple,
    ) -> list[str]:
        """As `programs`, without those that a tool can have made, which `refused` says then.

        kept: finds the folders that no tool may write, whatever it is granted. For a program that lies in one of them,
        with all links that lead to it, nothing has to be known of what other tools may write.
        """
        if not listed:
            return []
        from ferrule.trust.resolution.paths import first_inside, walk

        found = []
        for path in self.programs(listed):
            way = None if path.startswith(_SYSTEM) else walk(path)
            places = [way.path, *way.folders] if way else []
            places = [one for one in places if not first_inside([one], kept())]
            if places and first_inside(places, writable()):
                self.refused[path] = "lies in a folder that a tool may write"
            else:
                found.append(path)
        return found

    def _named(self, entry: str) -> list[str]:
        """What a setting or variable holds: one text, or a list of them."""
        kind, _, name = entry.partition(":")
        if kind == "variable" and name in PROXIES:
            return []  # a tool reaches a proxy by a relay alone, and no variable says more of it
        value = self.table.get(name) if kind == "setting" else self.environ.get(name)
        values = value if isinstance(value, list) else [value]
        return [one.strip() for one in values if isinstance(one, str) and one.strip() and "\0" not in one]

    def _written(self, entry: str) -> list[str]:
        """The absolute paths that an entry stands for, with their links."""
        if entry == entries.SHOWN:
            return self._shown_entries()
        names = self._named(entry) if entries.is_indirect(entry) else [entry]
        return [path for name in names if (path := self._path(name))]

    def _path(self, name: str) -> str | None:
        if name.startswith(entries.CONFIG):
            folder = os.path.dirname(configuration.default_path(self.environ))
            name = os.path.join(folder, name.removeprefix(entries.CONFIG))
        for usual, variable in _MOVED.items():
            moved = self.environ.get(variable, "")
            if os.path.isabs(moved) and (name == usual or name.startswith(usual + "/")):
                name = moved + name[len(usual) :]
        if name == "~" or name.startswith("~/"):
            name = self.home + name[1:]
        if os.path.isabs(name):
            return name
        return None if self.folder is None else os.path.join(self.folder, name)

    def _shown_entries(self) -> list[str]:
        home = os.path.realpath(self.home)
        try:
            names = sorted(name for name in os.listdir(home) if not name.startswith("."))
        except OSError:
            return []
        paths = (os.path.join(home, name) for name in names)
        return [path for path in paths if not _leads_to_hidden(os.path.realpath(path), home)]

    def _executables(self, name: str) -> list[str]:
        if name.startswith("~/"):
            name = self.home + name[1:]
        if os.path.isabs(name):
            return [name]
        if "/" in name:
            return []
        paths = [os.path.join(folder, name) for folder in self._folders()]
        return [path for path in paths if _is_executable(path)] or paths[:1]

    def _folders(self) -> list[str]:
        named = self.environ.get("PATH", os.defpath).split(os.pathsep)
        return [folder for folder in dict.fromkeys(named) if os.path.isabs(folder)]


def network_of(name: str) -> str | None:
    """The network or host that one word of a setting names: a URL's host, or what a declaration may hold."""
    if "://" not in name:
        return name if entries.problem("network", name) is None and not entries.is_indirect(name) else None
    scheme, _, rest = name.partition("://")
    authority = rest.partition("/")[0].partition("?")[0].partition("#")[0].rpartition("@")[2]
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        host, port = authority, _PORTS.get(scheme.lower(), "")
    found = f"{host.lower()}:{port}"
    return found if entries.split_host(found) and "*" not in found else None


def without_protected(paths: Collection[str], protected: Sequence[str]) -> list[str]:
    """The same paths, where none of them is, is in or holds a protected one.

    A folder that holds one is taken apart into its entries, since what is granted for a folder holds for all of it.
    """
    if not paths:
        return []
    from ferrule.trust.resolution.paths import is_in

    found: dict[str, None] = {}
    for path in paths:
        if any(is_in(path, one) for one in protected):
            continue
        if any(is_in(one, path) for one in protected):
            found.update(dict.fromkeys(without_protected(_entries_of(path), protected)))
        else:
            found[path] = None
    return list(found)


def _entries_of(folder: str) -> list[str]:
    try:
        return [path for name in sorted(os.listdir(folder)) if not os.path.islink(path := os.path.join(folder, name))]
    except OSError:
        return []


def _leads_to_hidden(path: str, home: str) -> bool:
    """Whether an entry of the home is a link to something hidden there, or to a folder around all of it."""
    from ferrule.trust.resolution.paths import is_in

    if is_in(home, path):
        return True
    return is_in(path, home) and any(part.startswith(".") for part in path[len(home) :].split("/"))


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None  # it has been removed


def _is_executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
