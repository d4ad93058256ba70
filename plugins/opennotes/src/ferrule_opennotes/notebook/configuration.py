"""Configuration files, as the CLI writes them and people edit them."""

from __future__ import annotations

import json
import os
import stat
from typing import Any

from ferrule_opennotes.notebook.storable import storable


def read(file: str) -> Any:
    """What a file of JSON holds, its texts as answers can hold them.

    Raises OSError, ValueError for what is no JSON and no file, and RecursionError for what is nested too deeply.
    """
    with open(file, encoding="utf-8-sig", opener=_without_waiting) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise ValueError("it is no regular file")
        return _storable(json.load(stream))


def _without_waiting(path: str, flags: int) -> int:
    # A pipe in the file's place, perhaps another user's in a folder above, must not hang the call.
    return os.open(path, flags | os.O_NONBLOCK)


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(key): _storable(each) for key, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list) else value
