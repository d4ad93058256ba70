"""The finished policies of one tool, kept with the answer for it, so that an unchanged call resolves nothing.

A policy is worked out of that answer, which counts until a file behind it changes; of the environment; and of what is
on the disk. So one is kept only where little of the latter counts: for a tool that has no path and no program, but for
the folders of the state folder that are its own. It counts for one set of names in the environment, and for the same
values of those variables that decide. The values of the rest are taken from the environment of each call: none is kept,
nor anything that looks like a secret.

The kernel, the working folder and the folder for temporary files are no part of it: they are asked for in each call.
"""

from __future__ import annotations

import os
import stat

from ferrule.config.own_folders import state_folder
from ferrule.confinement.policy import Policy

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ferrule.text.json_types import JSONMapping, JSONObject

POLICIES = "policies"
_MOST = 8  # of one tool: a terminal, an editor and an agent have environments of their own

_OF_DISK = ("read", "write", "programs")  # lists of what links, folders and PATH decide
_WRAPPERS = ("FERRULE_WRAPPERS", "FERRULE_WRAPPERS_DEFAULT")  # whose Redis is part of a policy
_REDIS = "FERRULE_REDIS"
_WAYS_OUT = (
    *("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "http_proxy", "https_proxy"),
    "FERRULE_HTTP_RELAY",
)
_VARIABLE = "variable:"
_OWN_FOLDERS = 3  # that every tool has, see `storage.state.make_folders_of_tool`


def find(facts: JSONMapping, environ: Mapping[str, str]) -> Policy | None:
    """The policy that was kept with these facts for this environment; None where none is.

    Raises PermissionsHeld where this system cannot hold the tool and the admin refuses that.
    """
    kept = facts.get(POLICIES)
    if not kept or not _may_be_kept(facts, environ):
        return None
    names, decided = _describe(facts, environ)
    found = next((one for one in kept if (one["names"], one["decided"]) == (names, decided)), None)
    if found is None or not _has_folders(found):
        return None
    policy = Policy(**found["policy"], environment={name: environ[name] for name in found["environment"]})
    if found["is_required"]:
        from ferrule.trust.enforcement import require_enforced

        require_enforced(policy.tool, policy)
    return policy


def make_entry(facts: JSONMapping, policy: Policy, environ: Mapping[str, str]) -> JSONObject | None:
    """What is to be kept of a policy that was found by these facts; None where it is none to be kept."""
    permissions = facts["grant"]["permissions"]
    if not _may_be_kept(facts, environ) or policy.environment is None or _holds_secret(_list_deciding(facts), environ):
        return None
    state = os.path.realpath(state_folder())
    is_whole = len(policy.write) == _OWN_FOLDERS + len(permissions["state"])
    if policy.proxies or policy.relays or policy.refused or not (is_whole and _are_in(policy.write, state)):
        return None
    names, decided = _describe(facts, environ)
    slots = {slot: getattr(policy, slot) for slot in policy.__slots__ if slot != "environment"}
    return {
        "names": names,
        "decided": decided,
        "state": state,
        "environment": list(policy.environment),
        "is_required": facts["content"].get("permissions", {}).get("unenforced") == "refuse",
        "policy": {slot: list(value) if isinstance(value, tuple) else value for slot, value in slots.items()},
    }


def add(kept: Sequence[JSONObject], entry: JSONObject) -> list[JSONObject]:
    """The policies that are kept with this one: the latest first, and not too many."""
    others = [one for one in kept if (one["names"], one["decided"]) != (entry["names"], entry["decided"])]
    return [entry, *others][:_MOST]


def _may_be_kept(facts: JSONMapping, environ: Mapping[str, str]) -> bool:
    permissions = facts["grant"]["permissions"]
    if _REDIS in environ or any(permissions[key] for key in _OF_DISK):
        return False
    return not permissions["network"] or not any(name in environ for name in _WAYS_OUT)


def _describe(facts: JSONMapping, environ: Mapping[str, str]) -> tuple[list[str], str]:
    """The names in the environment, and the digest of the values that decide; empty where none is set."""
    values = [environ.get(name) for name in _list_deciding(facts)]
    if not any(value is not None for value in values):
        return sorted(environ), ""
    from ferrule.text.sha256 import sha256_hex

    return sorted(environ), sha256_hex(ascii(values).encode())


def _list_deciding(facts: JSONMapping) -> list[str]:
    network = facts["grant"]["permissions"]["network"]
    named = [entry.removeprefix(_VARIABLE) for entry in network if entry.startswith(_VARIABLE)]
    return [*_WRAPPERS, *named]


def _holds_secret(names: Iterable[str], environ: Mapping[str, str]) -> bool:
    """Whether one of these variables may hold a secret. The digest of a short one could be guessed."""
    from ferrule.trust.entries import may_be_secret

    return any(name in environ and (may_be_secret(name) or "@" in environ[name]) for name in names)


def _has_folders(kept: JSONObject) -> bool:
    """Whether the tool's own folders are there, none of them a link, below the same state folder as before."""
    return os.path.realpath(state_folder()) == kept["state"] and all(map(_is_folder, kept["policy"]["write"]))


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _are_in(paths: Iterable[str], folder: str) -> bool:
    return all(path.startswith(f"{folder}/") for path in paths)
