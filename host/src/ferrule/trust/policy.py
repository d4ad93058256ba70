"""What a tool may touch in this call, for the kernel: every path, host and program of this machine."""

from __future__ import annotations

import os
import sys

from ferrule.config import configuration
from ferrule.config.own_folders import (
    environments_folder,
    outer_data_folders,
    outer_state_folder,
    sources_folder,
    state_folder,
)  # fmt: skip
from ferrule.storage.state import make_folders_of_tool, make_shared_folders
from ferrule.trust import entries
from ferrule.trust.grants import REFUSE, choice, entries_of_admin, granted, isolation
from ferrule.trust.resolution.environment import PROXIES, environment
from ferrule.trust.resolution.resolver import Resolution, network_of, without_protected

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.confinement import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.trust.declaration import Permissions

FILE_MIB = 1024
"""MiB that a file may have which a tool writes."""

_LOCK_FILE = "ferrule.lock"
_RELAY = "FERRULE_HTTP_RELAY"
_REDIS = "FERRULE_REDIS"
_STORE_WRAPPERS = frozenset(("cache", "artifacts"))  # of the host, which may keep what they keep on a Redis


class WholeConfigurationNeeded(Exception):
    """What a tool may touch depends on what config.toml says of other tools, which is not known here."""


def policy_of(
    name: str,
    permissions: Permissions,
    settings: Configuration,
    environ: Mapping[str, str],
    taken: Collection[str],
    by_admin: Mapping[str, Collection[str]],
    given: Iterable[str],
) -> Policy:
    """The policy of one call of a tool that is accepted. The other arguments: see `door.admission.Grant`.

    Raises PermissionsHeld where this system cannot hold the tool and the admin refuses that, and ProxyUnusable.
    """
    policy = resolve(name, permissions, settings, environ, taken, by_admin)
    own = {variable: environ[variable] for variable in given if variable in environ}
    if own:
        policy = policy.replaced(environment={**(policy.environment or {}), **own})
    if choice(settings, "unenforced") == REFUSE:
        from ferrule.trust.enforcement import require_enforced

        require_enforced(name, policy)
    return policy


# Long: one expression names every part of a policy, so that none is decided in a second place.
def resolve(
    name: str,
    permissions: Permissions,
    settings: Configuration,
    environ: Mapping[str, str],
    without: Collection[str] = (),
    by_admin: Mapping[str, Collection[str]] | None = None,
) -> Policy:
    """The policy that these permissions are here and now. Makes folders that it writes to.

    Args:
        name: of the tool.
        without: variables that are not even read.
        by_admin: see `entries_of_admin`, which is asked where it is not given.
    """
    from ferrule.confinement.policy import Policy

    here = Resolution(settings.tool(name), environ)
    network = here.networks(permissions.network)
    by_admin = entries_of_admin(name, settings) if by_admin is None else by_admin
    own = _Writable(name, here, permissions, settings, environ)
    read = here.granted_paths(permissions.read, by_admin["read"], own.folders)
    write = here.granted_paths(permissions.write, by_admin["write"], own.folders)
    programs = here.granted_programs(permissions.programs, own.named_folders, _kept)
    has_store = bool(_STORE_WRAPPERS.intersection(settings.wrappers())) or _REDIS in permissions.environment
    stores = [_REDIS] if has_store else []
    proxies, relays = _ways_out(environ) if network and any(one in environ for one in PROXIES) else ((), ())
    return Policy(
        tool=name,
        network=(*network, *_of_host(settings, environ, [*stores, *([_RELAY] if network else ())])),
        read=tuple(without_protected(read, _hidden_here(settings, environ) if read else ())),
        write=(
            *without_protected(write, [*_hidden_here(settings, environ), *_kept()] if write else ()),
            *make_shared_folders(permissions.state),
            *make_folders_of_tool(name),
        ),
        programs=tuple(programs),
        environment=environment(permissions, environ, [*stores, *(PROXIES if relays else ())], without),
        processes=permissions.processes,
        file_mib=FILE_MIB,
        temporary=True,
        isolation=isolation(settings, network),
        granted_by="",
        refused=tuple(f"{entry} {why}" for entry, why in here.refused.items()),
        proxies=proxies,
        relays=relays,
    )


def _ways_out(environ: Mapping[str, str]) -> tuple[Sequence[str], Sequence[str]]:
    """The variables for whose proxies the process of a tool gets relays, and the relays that it has already.

    A process that is held to a policy has those of that policy in its environment: a tool that it calls gets the same.
    Raises ProxyUnusable.
    """
    from ferrule.confinement.enforcement import in_force

    held = in_force()
    if held is not None:
        return (), held.relays
    from ferrule.trust.resolution.proxies import usable_proxies

    return usable_proxies(environ), ()


class _Writable:
    """The folders that tools may write: what a link in one of them leads to was chosen by anybody."""

    def __init__(
        self, name: str, here: Resolution, permissions: Permissions, settings: Configuration, environ: Mapping[str, str]
    ) -> None:
        self._name = name
        self._own = here, permissions.write
        self._settings = settings
        self._environ = environ
        self._found: list[str] | None = None
        self._named: list[str] | None = None

    def folders(self) -> list[str]:
        """All of them, without links. It reads what every installed tool declares, once."""
        if self._found is None:
            here, write = self._own
            self._found = [*here.paths(write), os.path.realpath(state_folder()), *self._of_others()]
        return self._found

    def named_folders(self) -> list[str]:
        """Those that an entry names by a place of its own, found once: no program of one of them is run.

        `~/*` and `.` are no such entries. Whoever may write all that the home shows, or the folder of a project, may
        write the programs that the user runs from `~/go/bin` or `.venv/bin`, which is told where that is granted.
        """
        if self._named is None:
            here, write = self._own
            named = here.paths(entry for entry in write if not _is_wide(entry))
            self._named = [*named, os.path.realpath(state_folder()), *self._of_others(_is_wide)]
        return self._named

    def _of_others(self, is_left_out: Callable[[str], bool] | None = None) -> Iterator[str]:
        if not self._settings.is_whole:
            raise WholeConfigurationNeeded
        from ferrule import discovery
        from ferrule.errors import ConfigurationMalformed

        for name, claims in discovery.scan().items():
            for tool in claims if name != self._name else ():
                try:
                    declared = granted(tool, self._settings).write
                except ConfigurationMalformed:
                    continue  # it cannot be called
                write = [entry for entry in declared if is_left_out is None or not is_left_out(entry)]
                if write:
                    there = Resolution(self._settings.tool(name), self._environ)
                    yield from there.granted_paths(write, entries_of_admin(name, self._settings)["write"], tuple)


def _is_wide(entry: str) -> bool:
    """Whether an entry of `write` opens whatever is in the home or in the working folder."""
    return entry in (entries.SHOWN, ".")


def refused_entries(tool: InstalledTool, settings: Configuration) -> dict[str, str]:
    """The entries of `read`, `write` and `programs` that are not granted here and now: each with why."""
    here, permissions = Resolution(settings.tool(tool.name), os.environ), granted(tool, settings)
    by_admin = entries_of_admin(tool.name, settings)
    own = _Writable(tool.name, here, permissions, settings, os.environ)
    here.granted_paths(permissions.read, by_admin["read"], own.folders)
    here.granted_paths(permissions.write, by_admin["write"], own.folders)
    here.granted_programs(permissions.programs, own.named_folders, _kept)
    return here.refused


def is_out_of_reach(key: str, entry: str, tool: str, settings: Configuration) -> bool:
    """Whether no tool may read or write what an entry of the list `read` or `write` names here, whatever is granted."""
    from ferrule.trust.resolution.paths import is_in

    protected = [*_hidden_here(settings, os.environ), *(_kept() if key == "write" else ())]
    paths = Resolution(settings.tool(tool), os.environ).paths([entry])
    return bool(paths) and all(any(is_in(path, one) for one in protected) for path in paths)


def _of_host(settings: Configuration, environ: Mapping[str, str], variables: Iterable[str]) -> Iterator[str]:
    """What the host's own code in the child reaches: a relay of recorded tests, the Redis of a wrapper."""
    urls = [environ.get(name, "") for name in variables]
    urls += [*(str(table.get("redis", "")) for table in settings.wrappers().values())]
    for url in dict.fromkeys(filter(None, urls)):
        found = network_of(url if "://" in url else f"http://{url}")
        if found:
            yield found


def _hidden_here(settings: Configuration, environ: Mapping[str, str]) -> list[str]:
    return [*_hidden(settings.path, environ), *_journal(settings)]


def _hidden(config: str, environ: Mapping[str, str]) -> list[str]:
    """What no tool reads or writes, whatever it is granted: keys, the configuration, the state of others."""
    lock = os.path.join(os.path.dirname(config), _LOCK_FILE)
    found = (configuration.credentials_path(environ), config, lock, state_folder(), outer_state_folder())
    return [os.path.realpath(path) for path in found if path]


def _journal(settings: Configuration) -> list[str]:
    """The files of the journal, where the admin has put it somewhere else than into the state folder."""
    table = settings.content.get("journal")
    if not isinstance(table, dict) or "path" not in table:
        return []
    from ferrule.journal.record import journal_settings

    found = journal_settings(settings)
    path = os.path.realpath(found.path)
    return [path, f"{path}.1", f"{path}.2", os.path.realpath(found.key_path)]


def _kept() -> list[str]:
    """What no tool writes, whatever it is granted: code that the host or the client will run."""
    from ferrule.config.client_folders import SYSTEM_FOLDERS, user_folder

    folders = [
        *SYSTEM_FOLDERS,
        user_folder(),
        sources_folder(),
        environments_folder(),
        *outer_data_folders(),
        sys.prefix,
        os.path.dirname(os.path.realpath(sys.executable)),
        *filter(os.path.isabs, sys.path),
    ]
    return list(dict.fromkeys(os.path.realpath(folder) for folder in folders))
