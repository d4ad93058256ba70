"""The files of the user that a diagnosis of a distribution may read: those that commands of it have shown it.

A diagnosis runs unasked, whenever `ferrule doctor` does, so it gets nothing of the user's. A command is started by the
user, with all rights, and knows which files it has written. What it shows is kept in the state folder, for the
distribution that has both.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule import discovery
from ferrule.admin.entry_point import EntryPoint, entry_points
from ferrule.config.own_folders import state_folder
from ferrule.errors import FerruleError
from ferrule.storage import private_files
from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_BYTES = 1 << 20
_handed_over: dict[str, str] | None = None


def show_files(diagnosis: str, files: Mapping[str, str | None]) -> None:
    """Let a diagnosis read these files from now on, in `ferrule doctor`; for a command of the same distribution.

    files: absolute paths, each with a word that the diagnosis gets beside it; None takes the file back. Raises
    FerruleError for a diagnosis that is not installed or that several distributions claim. Where the state folder
    cannot be written, nothing is kept.
    """
    one = entry_points(discovery.DIAGNOSES)[0].get(diagnosis)
    if one is None or one.rivals:
        raise FerruleError(f"No one distribution has a diagnosis {diagnosis!r}.")
    known: dict[str, str | None] = {**recorded(one), **{os.path.abspath(path): word for path, word in files.items()}}
    kept = {path: word for path, word in known.items() if word is not None and os.path.lexists(path)}
    path = _path(one)
    try:
        private_files.make_folder(os.path.dirname(path))
        private_files.replace_file(path, strict_json.dumps(kept) + b"\n")
    except OSError:
        return


def shown_files() -> dict[str, str] | None:
    """In a diagnosis: the files that it may read, each with its word. None where the function is called otherwise."""
    return None if _handed_over is None else dict(_handed_over)


def recorded(one: EntryPoint) -> dict[str, str]:
    """What was shown to a diagnosis."""
    try:
        data = private_files.read_file(_path(one), _MAX_BYTES)
        found = strict_json.loads_object(data) if data else {}
    except (OSError, ValueError):
        return {}
    return {path: word for path, word in found.items() if isinstance(word, str) and os.path.isabs(path)}


def hand_over(files: Mapping[str, str]) -> None:
    """Have `shown_files` give these: in the process that makes the diagnosis."""
    global _handed_over
    _handed_over = dict(files)


def _path(one: EntryPoint) -> str:
    key = sha256_hex(f"{one.distribution}\0{one.name}".encode(errors="surrogatepass"))
    return os.path.join(state_folder(), "diagnoses", f"{key[:32]}.json")
