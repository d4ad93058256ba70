"""Changes the credentials file: atomically, for its owner alone, and by one process at a time."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import CredentialsMalformed, FerruleError
from ferrule.storage import locked, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.text.json_types import JSONMapping, JSONObject

_LOCK_SECONDS = 2.0


def store(path: str, key: str, value: str | JSONObject) -> None:
    """Set one dotted key and keep all else that the file holds; the file is replaced at once, with mode 0600.

    value: a text, or a token of OAuth. Raises CredentialsMalformed where the file that is there cannot be read, so that
    nothing in it is lost, or where a part of the key is taken by something that is no object; FerruleError where
    another process has locked it.
    """

    _change(path, lambda content: _put(content, key, value, path))


def exchange(path: str, key: str, before: JSONMapping, after: JSONMapping) -> bool:
    """Replace a token by another one; False where it is not there any more, and nothing is changed.

    Raises what `store` raises.
    """

    def change(content: dict[str, object]) -> bool:
        found: object = content
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found == before and _put(content, key, dict(after), path)

    return _change(path, change)


def remove(path: str, key: str) -> bool:
    """Take one dotted key out, and the objects that it leaves empty; False where it was not there.

    All else is kept, and the file replaced, as by `store`. Raises what `store` raises.
    """
    return os.path.lexists(path) and _change(path, lambda content: _take_out(content, key.split(".")))


def _change(path: str, change: Callable[[dict[str, object]], bool]) -> bool:
    """Read, change and write the file, while no other process does the same; nothing is written for a False."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with ExitStack() as stack:
        _lock(folder, stack)
        file = CredentialsFile(path)
        if file.problem:
            raise CredentialsMalformed(file.problem, hint="Fix or move the file first; it was left as it is.")
        is_changed = change(file.content)
        if is_changed:
            text = json.dumps(file.content, ensure_ascii=False, indent=2) + "\n"
            replace_file(path, text.encode(), is_synced=True)
    return is_changed


def _lock(folder: str, stack: ExitStack) -> None:
    # The folder itself is locked: the file is replaced, so a lock on it would be one on the old file.
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    stack.callback(os.close, descriptor)
    try:
        stack.enter_context(locked(descriptor, _LOCK_SECONDS))
    except TimeoutError:
        raise FerruleError(
            f"Another process has locked {folder}, so nothing was changed.",
            hint=f"Try again. Where this stays so, `fuser {folder}` names the process that has to end.",
        ) from None
    except OSError:
        pass  # a network file system may have no locks; the file is still replaced as a whole


def _put(content: dict[str, object], key: str, value: str | JSONObject, path: str) -> bool:
    *folders, last = key.split(".")
    place = content
    for folder in folders:
        inner = place.setdefault(folder, {})
        if not isinstance(inner, dict):
            raise CredentialsMalformed(f"In {path}, {folder!r} is not an object, so {key!r} cannot be set.")
        place = inner
    place[last] = value
    return True


def _take_out(place: dict[str, object], keys: list[str]) -> bool:
    key, *rest = keys
    if not rest:
        return place.pop(key, None) is not None
    inner = place.get(key)
    if not isinstance(inner, dict) or not _take_out(inner, rest):
        return False
    if not inner:
        del place[key]
    return True
