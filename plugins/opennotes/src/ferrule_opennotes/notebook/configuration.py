"""Configuration files, as the CLI writes them and users edit them; and what its own one says.

That says which notebooks are registered, and which views hold in all of them.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_opennotes.notebook.characters import make_storable
from ferrule_opennotes.notebook.paths import make_absolute

if TYPE_CHECKING:
    from ferrule import JSONObject

_FILE = "config.json"  # of the CLI itself


def read(file: str) -> object:
    """What a file of JSON holds, its texts as answers can hold them.

    Raises OSError, ValueError for what is no JSON and no file, and RecursionError for what is nested too deeply.
    """
    with open(file, encoding="utf-8-sig", opener=_open_without_waiting) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise ValueError("it is no regular file")
        return _clean(json.load(stream))


def find_folder(kind: str) -> str:
    """The folder where a CLI keeps its configuration."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.config"), kind)


def list_registered(kinds: Sequence[str]) -> list[str]:
    """The folders that are registered as notebooks, without those that are named twice; they may not exist.

    A relative path, which the CLI stores where it is given one, would be another folder in each working directory; it
    counts for nothing. kinds: whose configuration is asked, in this order.
    """
    found: list[str] = []
    for kind in kinds:
        listed = load(kind).get("notebooks")
        folders = listed if isinstance(listed, list) else [os.path.join(find_folder(kind), "notebooks")]
        expanded = [os.path.expanduser(each) for each in folders if isinstance(each, str)]
        found += [make_absolute(each) for each in expanded if os.path.isabs(each)]
    return list(dict.fromkeys(found))


def load(kind: str) -> JSONObject:
    """The configuration of a CLI; `{}` if there is none, or none that can be read, as the CLI itself takes it."""
    try:
        config = read(os.path.join(find_folder(kind), _FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def _open_without_waiting(path: str, flags: int) -> int:
    # A pipe in the file's place, perhaps another user's in a folder above, must not hang the call.
    return os.open(path, flags | os.O_NONBLOCK)


def _clean(value: object) -> object:
    if isinstance(value, str):
        return make_storable(value)
    if isinstance(value, dict):
        return {make_storable(key): _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value
