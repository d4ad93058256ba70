"""The permissions of a server: those it begins with, and those that its start or a call turned out to want."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from ferrule.text.redaction import redact_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.record import ServerRecord

_KINDS = {"read": "read", "write": "write", "run": "programs", "connect": "network", "network": "network"}
_WORDS = {
    "read": "read",
    "write": "write",
    "programs": "run",
    "network": "connect to",
    "environment": "see the variable",
}
_LISTS = ("network", "read", "write", "programs", "environment")
_PROCESSES = 64
_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/opt")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - its name: nothing is written there
_MEMORY_LIMITS = "/sys/fs/cgroup"  # where libraries look for how much memory they may use; some crash without it


class Right(NamedTuple):
    """One permission: a key of `permissions`, and an entry of it."""

    key: str
    entry: str

    def words(self) -> str:
        """What it lets a server do, as in `read /srv/notes`."""
        return f"{_WORDS[self.key]} {self.entry}"

    def option(self) -> str:
        """The option of `ferrule mcp add` that grants it."""
        return f"--allow {shlex.quote(self.text())}"

    def text(self) -> str:
        """As an option or an argument has it: `read=/srv/notes`."""
        return f"{self.key}={self.entry}"


def base_permissions(record: ServerRecord, readable: Iterable[str] = ()) -> JSONObject:
    """What each server may: run its own program, read its environment and use its home. No network, no other file.

    readable: more that its program needs, such as the interpreter that a virtual environment stands on.
    """
    if record["transport"] == "http":
        from ferrule_mcp.remote.guard import find_network

        return {"network": list(find_network(record["url"])), "write": [record["home"]]}
    program = record["command"][0]
    programs = list(dict.fromkeys([program, os.path.realpath(program)]))
    reads = [record["environment"], *readable, *_find_venv(program), *_outside_of_system(programs), _MEMORY_LIMITS]
    writes = [record["home"], *([record["folder"]] if record["folder"] else [])]
    return {
        "network": [],
        "read": list(dict.fromkeys(filter(None, [*reads, *record["roots"]]))),
        "write": writes,
        "programs": programs,
        "processes": _PROCESSES,
    }


def add_rights(permissions: JSONObject, rights: Iterable[Right]) -> JSONObject:
    """The same permissions with more entries."""
    found = {key: list(value) if isinstance(value, list) else value for key, value in permissions.items()}
    for right in rights:
        entries = found.setdefault(right.key, [])
        if right.entry not in entries:
            entries.append(right.entry)
    return found


def list_rights(permissions: JSONObject) -> list[Right]:
    """All entries of permissions."""
    return [Right(key, entry) for key in _LISTS for entry in permissions.get(key, ())]


def find_wanted(trace: JSONObject, environment: str = "", secrets: Collection[str] = ()) -> list[Right]:
    """What a traced call was refused, and the network that it looked for; each right once.

    Args:
        trace: the document of `ferrule run --trace --confined --json`.
        environment: the folder with what was installed for the server. No tool may write there, so it is not offered.
        secrets: of the server. What names one is left out, since a record that every tool can read would keep it; so is
            what has characters that no permission can have.
    """
    refused = [_widen(one["kind"], one["what"]) for one in trace.get("denied", ()) if one["kind"] in _KINDS]
    asked = [Right("network", entry) for entry in trace.get("permissions", {}).get("network", ())]
    own = f"{environment}/" if environment else "\0"
    return [
        one
        for one in dict.fromkeys([*refused, *asked])
        if (one.key != "write" or not f"{one.entry}/".startswith(own))
        and one.entry.isprintable()
        and redact_value(one.entry, secrets) == one.entry
    ]


def _widen(kind: str, what: str) -> Right:
    """The right for what was refused. A file of shared memory has another name at each start, so its folder counts."""
    return Right(_KINDS[kind], _SHARED_MEMORY if what.startswith(f"{_SHARED_MEMORY}/") else what)


def parse_right(text: str) -> Right:
    """A right from `KIND=ENTRY`. Raises ValueError for another kind."""
    key, _, entry = text.partition("=")
    if key not in _LISTS or not entry:
        raise ValueError(f"{text!r} is no permission: write KIND=ENTRY, with a KIND of {', '.join(_LISTS)}.")
    return Right(key, entry)


def find_changes(before: Mapping[str, object], now: JSONObject) -> tuple[list[Right], list[Right]]:
    """The rights that came, and those that went."""
    old, new = list_rights(dict(before)), list_rights(now)
    return [one for one in new if one not in old], [one for one in old if one not in new]


def _find_venv(program: str) -> list[str]:
    """The virtual environment of an interpreter that the admin has named, whose packages it cannot start without."""
    folder = os.path.dirname(os.path.dirname(program))
    return [folder] if os.path.isfile(os.path.join(folder, "pyvenv.cfg")) else []


def _outside_of_system(programs: Sequence[str]) -> list[str]:
    """The folders of an interpreter that is not the system's, such as one that a user has installed."""
    real = programs[-1]
    if real.startswith(tuple(f"{folder}/" for folder in _SYSTEM)):
        return []
    folder = os.path.dirname(real)
    return [os.path.dirname(folder) if os.path.basename(folder) == "bin" else folder]
