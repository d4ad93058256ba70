"""ferrule.lock, as the admin writes and checks it: every installed tool held against it, and taken into it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule import discovery
from ferrule.errors import FerruleError, LockUnusable
from ferrule.installed import inventory
from ferrule.installed.inventory import DISABLED, HELD, OK, Entry
from ferrule.plugin import declared_credentials
from ferrule.plugin.hooks.credentials import Credential
from ferrule.trust.lock import comparison, lock_file
from ferrule.trust.lock.examination import observe

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject
    from ferrule.trust.lock.examination import Observation
    from ferrule.trust.lock.lock_file import LockedCode, LockedTool

SAME, NEW, DIFFERS, GONE, UNUSABLE, ACCEPTED = "same", "new", "differs", "gone", "unusable", "accepted"
ALL = "*"


class LockStatus(NamedTuple):
    """One tool and the lock.

    state: `same`, `new` (not in the lock), `differs`, `gone` (not installed), `unusable` (it cannot be locked as it
    is), or `accepted` just now. differences: lines for people, with nothing hidden in them. reason: why it is unusable.
    locked: the tool as it is installed, or was where it is gone; None where it cannot be taken.
    """

    name: str
    state: str
    differences: Sequence[str] = ()
    reason: str | None = None
    locked: LockedTool | None = None

    def as_dict(self) -> JSONObject:
        """The status as JSON."""
        return {
            "tool": self.name,
            "state": self.state,
            "differences": list(self.differences),
            "reason": self.reason,
        }


def read_if_there(path: str) -> dict[str, LockedTool] | None:
    """The lock; None if there is no such file. Raises LockUnusable for one that cannot be read."""
    return lock_file.read(path) if os.path.lexists(path) else None


def read_code_if_there(path: str) -> dict[str, LockedCode]:
    """What the lock has of ferrule's own process; nothing if there is none. Raises LockUnusable."""
    return lock_file.read_code(path) if os.path.lexists(path) else {}


def statuses(
    known: Mapping[str, LockedTool], settings: Configuration, names: Collection[str] = (), *, load: bool
) -> Iterator[LockStatus]:
    """Each tool that is installed or in the lock, by name; those that are named, where names are given.

    Args:
        load: load every plugin, which tells its credentials; else only those whose schema is not in a file.
    """
    claims = discovery.scan()
    for name in sorted(names or {*claims, *known}):
        if name not in claims:
            yield LockStatus(name, GONE, locked=known.get(name))
        elif len(claims[name]) > 1:
            yield LockStatus(name, UNUSABLE, reason=discovery.clash(name, claims[name]).message)
        else:
            yield _status(claims[name][0], known.get(name), settings, load=load)


def _status(tool: InstalledTool, known: LockedTool | None, settings: Configuration, *, load: bool) -> LockStatus:
    try:
        observation = _observe(tool, settings, load=load)
    except FerruleError as error:
        return LockStatus(tool.name, UNUSABLE, reason=error.message)
    found = comparison.lines(known, observation)
    state = NEW if known is None else DIFFERS if found else SAME
    if observation.problems:
        problems = [f"files: {problem}" for problem in observation.problems]
        reason = "Its files are not as its installation left them; install it anew."
        return LockStatus(tool.name, state, found if known else problems, reason)
    return LockStatus(tool.name, state, found if known else (), locked=observation.locked)


def _observe(tool: InstalledTool, settings: Configuration, *, load: bool) -> Observation:
    """What is installed, with what the plugin itself says where it is loaded. Raises the error of a broken one."""
    observation = observe(tool)
    declared = declared_credentials.find_declared(tool)
    if declared is not None:
        observation.locked["credentials"] = list(map(_places, declared))
    if not load and not observation.is_computed:
        return observation
    entry = inventory.examine(Entry(tool.name, [tool]), settings.unlocked(), load=True)
    if entry.state in (DISABLED, HELD) and not observation.is_computed:
        return observation
    if entry.state != OK or entry.schema is None:
        raise entry.error or LockUnusable(f"{tool.name} is {entry.state}.")
    if observation.is_computed:
        observation.locked["schema"] = entry.schema
    if load:
        observation.locked["credentials"] = [_places(Credential(**one)) for one in entry.credentials]
    return observation


def _places(credential: Credential) -> dict[str, str]:
    return {"name": credential.name, "environment": credential.environment, "path": credential.path}


def accept(
    known: Mapping[str, LockedTool], found: Sequence[LockStatus], names: Collection[str]
) -> tuple[dict[str, LockedTool], list[LockStatus]]:
    """The lock with these tools as they are installed, and what has become of each tool. `*` is all of them."""
    tools = dict(known)
    told = []
    for status in found:
        is_asked = status.name in names or ALL in names
        if not is_asked or status.state == SAME or status.locked is None:
            told.append(status)
            continue
        if status.state == GONE:
            tools.pop(status.name, None)
        else:
            tools[status.name] = status.locked
        told.append(status._replace(state=ACCEPTED))
    return tools, told


def differences(tool: InstalledTool, settings: Configuration) -> Sequence[str]:
    """What differs of one tool, in lines for people; nothing where the lock cannot be read, which its error says."""
    try:
        known = lock_file.read(settings.lock_path)
    except LockUnusable:
        return ()
    return _status(tool, known.get(tool.name), settings, load=False).differences
