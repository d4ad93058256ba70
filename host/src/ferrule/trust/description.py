"""Permissions in a person's words."""

from __future__ import annotations

from ferrule.trust import entries
from ferrule.trust.declaration import LISTS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.text.json_types import JSONMapping
    from ferrule.trust.declaration import Permissions

_PATHS = {"~": "all of ~, hidden folders too", "~/*": "~ but no hidden folder", ".": "the folder that it is called in"}
_NETWORKS = {
    "public": "the public web",
    "loopback": "programs of this machine (loopback)",
    "private": "the local network (private addresses)",
}


def describe(permissions: Permissions) -> list[str]:
    """What the tool may, one phrase for each kind, such as "reads ~ but no hidden folder" and "no network"."""
    return [*phrases(permissions.as_dict()), *_no_network(permissions)]


def clauses(permissions: Permissions) -> str:
    """The same as what stands behind "it" in a sentence: "reads ~ but no hidden folder; has no network"."""
    return "; ".join([*phrases(permissions.as_dict()), *(f"has {one}" for one in _no_network(permissions))])


def _no_network(permissions: Permissions) -> list[str]:
    if permissions.network:
        return []
    return ["no network of its own" if permissions.tools else "no network"]


def phrases(found: JSONMapping) -> list[str]:
    """The keys of permissions that are there and not empty, as phrases; also what `excess` returns.

    `credentials` are the variables and the keys of the credentials file that it may be told.
    """
    return [_WORDS[key].format(_join(key, found[key])) for key in _KEYS if found.get(key)]


def told(listed: Sequence[Mapping[str, object]]) -> list[str]:
    """The credentials that a tool may be told, each with its variable and its key of the credentials file, as a phrase.

    listed: objects with `environment` and `path`, one of which may be empty; nothing is said of none.
    """
    places = [" or ".join(str(one[key]) for key in ("environment", "path") if one[key]) for one in listed]
    return [f"is told the credential{'s'[: len(places) > 1]} {', '.join(places)}"] if places else []


def _join(key: str, value: Sequence[str] | int) -> str:
    if isinstance(value, int):
        return "1 process" if value == 1 else f"{value} processes"
    named = [_naming(entry) for entry in value if key in entries.INDIRECT and entries.is_indirect(entry)]
    names = [_name(key, entry) for entry in value if key not in entries.INDIRECT or not entries.is_indirect(entry)]
    names += [f"what {' or '.join(named)} names"] if named else []
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _name(key: str, entry: str) -> str:
    if key == "network":
        return _NETWORKS.get(entry, entry.removesuffix(":443"))
    if entry.startswith(entries.CONFIG):
        return f"`{entry.removeprefix(entries.CONFIG)}` beside config.toml"
    if key in ("read", "write"):
        return _PATHS.get(entry, entry)
    if key == "tools" and entry.startswith(entries.GROUP):
        return f"the plugins of the group {entry.removeprefix(entries.GROUP)}"
    return f"`{entry}`" if key in ("programs", "tools") else entry


def _naming(entry: str) -> str:
    kind, _, name = entry.partition(":")
    return f"the setting {name}" if kind == "setting" else name


_KEYS = (*LISTS, "processes", "credentials")
_WORDS = {
    "credentials": "is told {}",
    "network": "asks {}",
    "read": "reads {}",
    "write": "writes {}",
    "programs": "runs {}",
    "environment": "sees the variables {}",
    "state": "shares the state of {}",
    "tools": "has {} run, each by its own permissions",
    "processes": "makes {} of its own at most",
}
