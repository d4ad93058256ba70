"""The answer for one tool, kept until a file behind it changes, in a private file that no tool can read or write.

A call that finds it parses no config.toml, reads no record and judges no schema. It holds what an accepted tool is
given, its schema, and of config.toml what its process may see; never a value of the environment, and nothing that looks
like a secret. `ferrule.trust.door.inputs` lists the files behind it, of which each has its stamp here.

The finished policies that were worked out of it are kept in the same file, so that an unchanged call resolves nothing,
and count no longer than it does. They come of the environment and of what is on the disk, too. So one is kept only
where little of the latter counts: for a tool that has no path and no program, but for the folders of the state folder
that are its own. It counts for one set of names in the environment, and for the same values of those variables that
decide. The values of the rest are taken from the environment of each call: none is kept, nor anything that looks like a
secret. The kernel, the working folder and the folder for temporary files are no part of it: they are asked for in each
call.
"""

from __future__ import annotations

import os
import stat
import sys
import time

from ferrule._version import __version__
from ferrule.config import configuration
from ferrule.config.own_folders import state_folder
from ferrule.storage import private_files, stamps
from ferrule.text import strict_json
from ferrule.text.names import record_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ferrule.confinement.policy import Policy
    from ferrule.text.json_types import JSONMapping, JSONObject

FOLDER = "admissions"
_FORM = 2
_MAX_BYTES = 1 << 18
_KEPT_SECONDS = 30 * 86400
_MOST_FILES = 1024
_MAX_KEY = (1 << 61) - 1  # a prime


def read(name: str) -> JSONObject | None:
    """The facts that were kept of a tool; None where there are none, or where anything behind them has changed."""
    kept = _read(name, _head(name))
    return kept["facts"] if kept else None


def _read(name: str, head: Sequence[str]) -> JSONObject | None:
    try:
        data = private_files.read_file(_path(name, head), _MAX_BYTES)
        kept = strict_json.loads(data) if data else None
    except (OSError, ValueError):
        return None
    if not isinstance(kept, dict) or kept.get("head") != head:
        return None
    lines, facts = kept.get("stamps"), kept.get("facts")
    if not isinstance(facts, dict) or not (isinstance(lines, list) and lines and all(map(_is_text, lines))):
        return None
    return kept if stamps.hold(lines) else None


def keep(name: str, facts: JSONObject, stamped: Sequence[str]) -> bool:
    """Keep the facts of a tool, which were found when the files had these stamps; whether that was possible."""
    head = _head(name)
    if not stamps.are_settled(stamped) or not all(map(os.path.isabs, head[_FIRST_PATH:])):
        return False
    path = _path(name, head)
    is_kept = _write(path, {"head": head, "stamps": list(stamped), "facts": facts})
    if is_kept:
        _remove_old(os.path.dirname(path))
    return is_kept


def keep_policy(name: str, facts: JSONObject, policy: Policy, environ: Mapping[str, str]) -> None:
    """Keep a policy with the facts by which it was found, where both may be kept and these still count."""
    entry = make_policy_entry(facts, policy, environ)
    head = _head(name)
    kept = _read(name, head) if entry else None
    if entry is None or kept is None or _drop_policies(kept["facts"]) != _drop_policies(facts):
        return
    policies = _add_policy(kept["facts"].get(POLICIES, ()), entry)
    _write(_path(name, head), {**kept, "facts": {**kept["facts"], POLICIES: policies}})


def _drop_policies(facts: JSONObject) -> JSONObject:
    return {key: value for key, value in facts.items() if key != POLICIES}


def _write(path: str, kept: JSONObject) -> bool:
    try:
        data = strict_json.dumps(kept)
        if len(data) <= _MAX_BYTES:
            private_files.make_folder(os.path.dirname(path))
            private_files.replace_file(path, data)
    except (OSError, ValueError):
        return False
    return len(data) <= _MAX_BYTES


def _remove_old(folder: str) -> None:
    """Remove the answers of hosts, environments and tools that are gone: the old ones, and the oldest of too many.

    It is done where an answer is found anew, and so by no call that finds one. A good one that goes is found anew, too.
    """
    limit = time.time() - _KEPT_SECONDS
    found = []
    for one in private_files.files_in(folder):
        try:
            found.append((one.stat(follow_symlinks=False).st_mtime, one.path))
        except OSError:
            continue  # another process has removed it
    found.sort(reverse=True)
    for number, (modified, path) in enumerate(found):
        if number >= _MOST_FILES or modified < limit:
            private_files.remove_file(path)


_FIRST_PATH = 5


def _head(name: str) -> list[str]:
    """What the facts hold for beside files: the tool, host, interpreter and user, then paths, those of modules last."""
    paths = (sys.prefix, configuration.default_path(), state_folder(), *sys.path)
    return [name, f"{_FORM} {__version__}", sys.version, sys.platform, str(os.geteuid()), *paths]


def _path(name: str, head: Sequence[str]) -> str:
    """A file for each tool and installation. Where two have one number, neither takes the other's for its own."""
    number = int.from_bytes("\0".join(head).encode(errors="surrogateescape"), "little") % _MAX_KEY
    return os.path.join(state_folder(), FOLDER, f"{record_name(name)}-{number:016x}.json")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


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


def find_policy(facts: JSONMapping, environ: Mapping[str, str]) -> Policy | None:
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
    from ferrule.confinement.policy import Policy  # which a call with a wrong argument needs not

    policy = Policy(**found["policy"], environment={name: environ[name] for name in found["environment"]})
    if found["is_required"]:
        from ferrule.trust.enforcement import require_enforced

        require_enforced(policy.tool, policy)
    return policy


def make_policy_entry(facts: JSONMapping, policy: Policy, environ: Mapping[str, str]) -> JSONObject | None:
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


def _add_policy(kept: Sequence[JSONObject], entry: JSONObject) -> list[JSONObject]:
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
