"""Changes config.toml: one key of one table, atomically, with every comment and every line that it is not about."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ferrule.errors import ConfigurationMalformed, FerruleError
from ferrule.storage import locked, make_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tomlkit import TOMLDocument

_LOCK_SECONDS = 2.0


def change_table(path: str, names: Sequence[str], changes: Mapping[str, object | None]) -> bool:
    """Set keys of a table such as `[tools.weather.permissions]`, or take them out; whether the file is another now.

    names: of the table and those around it; tables that are missing are made, and those that are left empty are taken
    out. changes: the new values by key, None for one to take out. A link is followed. Raises ConfigurationMalformed
    where the file is no TOML or has something else in the table's place, FerruleError where it cannot be written.
    """
    path = os.path.realpath(path)
    try:
        make_folder(os.path.dirname(path))
        return _locked(path, lambda: _change(path, names, changes))
    except OSError as error:
        raise FerruleError(f"{path} cannot be written: {error.strerror}.") from None


def _locked(path: str, change: Callable[[], bool]) -> bool:
    # The folder itself is locked: the file is replaced, so a lock on it would be one on the old file.
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        with locked(folder, _LOCK_SECONDS):
            return change()
    except TimeoutError:
        raise FerruleError(f"Another process has locked {os.path.dirname(path)}.", hint="Try again.") from None
    finally:
        os.close(folder)


def _change(path: str, names: Sequence[str], changes: Mapping[str, object | None]) -> bool:
    document, mode, before = _read(path)
    table = _table(document, names, path, is_made=any(value is not None for value in changes.values()))
    if table is None:
        return False
    for key, value in changes.items():
        if value is not None:
            table[key] = value
        elif key in table:
            del table[key]
    _take_out_if_empty(document, names)
    text = document.as_string()
    if text == before:
        return False
    replace_file(path, text.encode(), mode=mode, is_synced=True)
    return True


def _read(path: str) -> tuple[TOMLDocument, int, str]:
    """The document, the mode of its file, and its text; an empty one if there is no file."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        with open(path, encoding="utf-8", newline="") as file:
            text, mode = file.read(), os.fstat(file.fileno()).st_mode & 0o777
    except FileNotFoundError:
        return tomlkit.document(), 0o600, ""
    except UnicodeDecodeError:
        raise ConfigurationMalformed(f"{path} is not TOML: it is not UTF-8.") from None
    try:
        return tomlkit.parse(text), mode, text
    except TOMLKitError as error:
        raise ConfigurationMalformed(f"{path} is not TOML: {error}.", hint="Fix it; it was left as it is.") from None


def _table(document: TOMLDocument, names: Sequence[str], path: str, *, is_made: bool) -> Any:
    """The table; None where it is not there and not to be made."""
    import tomlkit
    from tomlkit.items import InlineTable

    place: Any = document
    for depth, name in enumerate(names):
        if name not in place:
            if not is_made:
                return None
            is_inline = isinstance(place, InlineTable)  # which holds none but such
            is_super = depth < len(names) - 1
            place[name] = tomlkit.inline_table() if is_inline else tomlkit.table(is_super_table=is_super)
        place = place[name]
        if not hasattr(place, "items"):
            where = ".".join(names[: depth + 1])
            raise ConfigurationMalformed(f"In {path}, {where} is no table.", hint="Fix it; it was left as it is.")
    return place


def _take_out_if_empty(document: TOMLDocument, names: Sequence[str]) -> None:
    """Take out the table where nothing is left in it, and those around it where nothing is left in them either."""
    places: list[Any] = [document]
    for name in names:
        places.append(places[-1][name])
    for place, name in reversed(list(zip(places, names, strict=False))):
        if len(place[name]):
            return
        del place[name]
