"""The answer for one tool, kept until a file behind it changes, in a private file that no tool can read or write.

A call that finds it parses no config.toml, reads no record and judges no schema. It holds what an accepted tool is
given, its schema, and of config.toml what its process may see; never a value of the environment, and nothing that looks
like a secret. `ferrule.trust.door.inputs` lists the files behind it, of which each has its stamp here.
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
    from collections.abc import Sequence

    from ferrule.text.json_types import JSONObject

FOLDER = "admissions"
_FORM = 1
_MAX_BYTES = 1 << 18
_KEPT_SECONDS = 30 * 86400
_MAX_KEY = (1 << 61) - 1  # a prime


def read(name: str) -> JSONObject | None:
    """The facts that were kept of a tool; None where there are none, or where anything behind them has changed."""
    head = _head(name)
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
    return facts if stamps.hold(lines) else None


def keep(name: str, facts: JSONObject, stamped: Sequence[str]) -> bool:
    """Keep the facts of a tool, which were found when the files had these stamps; whether that was possible."""
    head = _head(name)
    if not stamps.are_settled(stamped) or not all(map(os.path.isabs, head[_FIRST_PATH:])):
        return False
    path = _path(name, head)
    try:
        private_files.make_folder(os.path.dirname(path))
        data = strict_json.dumps({"head": head, "stamps": list(stamped), "facts": facts})
        if len(data) <= _MAX_BYTES:
            private_files.replace_file(path, data)
            _remove_old(os.path.dirname(path))
    except (OSError, ValueError):
        return False
    return len(data) <= _MAX_BYTES


def _remove_old(folder: str) -> None:
    """Remove the answers of hosts, environments and tools that are gone; one that is still good is found anew."""
    limit = time.time() - _KEPT_SECONDS
    for one in private_files.files_in(folder):
        try:
            if one.stat(follow_symlinks=False).st_mtime < limit:
                os.unlink(one.path)
        except OSError:
            continue  # another process has removed it


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
