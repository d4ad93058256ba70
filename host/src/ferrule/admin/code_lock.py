"""What runs in ferrule's own process, held against ferrule.lock: what the admin has accepted of it, and what is new.

No call is refused for it. What Python starts has run before any call is looked at, so a lock can only tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ferrule.admin.packages import distribution_files, parent_code
from ferrule.admin.tool_lock import ACCEPTED, ALL, DIFFERS, GONE, NEW, SAME, LockStatus
from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from ferrule.trust.lock.lock_file import LockedCode

    Observed = Mapping[str, tuple[LockedCode, str]]

_FIELDS = ("id", "distribution", "digest")
_MAX_BYTES = 1 << 26


def observe() -> Observed:
    """All that runs there and is not known as harmless, by the file's name; each with sentences about it."""
    found: dict[str, tuple[LockedCode, str]] = {}
    installed = distribution_files.installed()
    sites = list(dict.fromkeys(one.site for one in installed))
    for one in parent_code.of_installed(installed):
        if not one.known:
            locked: LockedCode = {"id": one.id, "distribution": one.distribution, "digest": _digest(one.file, sites)}
            found.setdefault(one.file, (locked, one.message))
    return found


def statuses(known: Mapping[str, LockedCode], found: Observed, names: Collection[str] = ()) -> list[LockStatus]:
    """Each by its file, as `tool_lock.statuses` has tools. found: as `observe` gives it. names: of files; all where
    none is named.
    """
    told = []
    for name in sorted(names or {*found, *known}):
        if name not in found:
            told.append(LockStatus(name, GONE))
            continue
        (locked, message), before = found[name], known.get(name)
        changed = [
            f"{field}: {before.get(field)} -> {locked.get(field)}"
            for field in _FIELDS
            if before is not None and before.get(field) != locked.get(field)
        ]
        told.append(LockStatus(name, NEW if before is None else DIFFERS if changed else SAME, changed, message))
    return told


def accept(
    known: Mapping[str, LockedCode], found: Observed, statuses: Sequence[LockStatus], names: Collection[str]
) -> tuple[dict[str, LockedCode], list[LockStatus]]:
    """What the lock has with these as they are, and what has become of each. `*` is all of them."""
    code, told = dict(known), []
    for status in statuses:
        if status.state == SAME or (status.name not in names and ALL not in names):
            told.append(status)
            continue
        code.pop(status.name, None)
        if status.name in found:
            code[status.name] = found[status.name][0]
        told.append(status._replace(state=ACCEPTED))
    return code, told


def _digest(name: str, sites: Sequence[str]) -> str:
    """Of what the first of these folders has there; empty for what is no file, such as the name of an entry point."""
    for site in sites:
        try:
            with open(distribution_files.path_of(name, site), "rb") as file:
                return f"sha256:{sha256_hex(file.read(_MAX_BYTES))}"
        except OSError:
            continue
    return ""
