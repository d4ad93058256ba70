"""The answer for one tool, kept until a file behind it changes, in a private file that no tool can read or write.

A call that finds it parses no config.toml, reads no record and judges no schema. It holds what an accepted tool is
given, its schema, and of config.toml what its process may see; never a value of the environment, and nothing that looks
like a secret. `ferrule.trust.door.inputs` lists the files behind it, of which each has its stamp here. The policies
that were worked out of it are kept in the same file, see `kept_policy`, and so count no longer than it does.
"""

from __future__ import annotations

import os
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
    from collections.abc import Mapping, Sequence

    from ferrule.confinement.policy import Policy
    from ferrule.text.json_types import JSONObject

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
    from ferrule.trust.door import kept_policy

    entry = kept_policy.make_entry(facts, policy, environ)
    head = _head(name)
    kept = _read(name, head) if entry else None
    if entry is None or kept is None or _drop_policies(kept["facts"]) != _drop_policies(facts):
        return
    policies = kept_policy.add(kept["facts"].get(kept_policy.POLICIES, ()), entry)
    _write(_path(name, head), {**kept, "facts": {**kept["facts"], kept_policy.POLICIES: policies}})


def _drop_policies(facts: JSONObject) -> JSONObject:
    return {key: value for key, value in facts.items() if key != "policies"}


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
