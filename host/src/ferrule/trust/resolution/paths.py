"""A path of a grant without links, and which of its links no tool can have made."""

from __future__ import annotations

import os
import stat

from ferrule.config.client_folders import SYSTEM_FOLDERS, user_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_LINKS = 40  # as the kernel has it


class Walk:
    """path: without links, absolute. folders: where a link was followed, each without links itself."""

    __slots__ = ("folders", "path")

    def __init__(self, path: str, folders: list[str]) -> None:
        self.path = path
        self.folders = folders


def walk(path: str) -> Walk:
    """Follow an absolute path. What is not there, or cannot be looked at, is taken as it is written."""
    real, folders, seen = "/", [], 0
    left = path.split("/")[::-1]
    while left:
        part = left.pop()
        if part in ("", "."):
            continue
        if part == "..":
            real = os.path.dirname(real)
            continue
        here = os.path.join(real, part)
        target = _target(here) if seen < _MAX_LINKS else ""
        if not target:
            real = here
            continue
        seen += 1
        folders.append(real)
        left += target.split("/")[::-1]
        if target.startswith("/"):
            real = "/"
    return Walk(real, folders)


def _target(path: str) -> str:
    """What a link leads to; empty for what is none."""
    try:
        return os.readlink(path) if stat.S_ISLNK(os.lstat(path).st_mode) else ""
    except (OSError, ValueError):
        return ""


def is_in(path: str, folder: str) -> bool:
    """Whether the path is the folder, or below it; both are absolute and without links."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def what_is_refused(path: str, home: str) -> str:
    """Why no tool's declaration opens a path, which is without links, as the end of a sentence; empty where one may."""
    if path == "/":
        return "is all of this machine"
    if is_in(os.path.realpath(home), path):
        return "is the home, hidden folders and keys with it"
    for folder in (os.path.realpath(user_folder()), *filter(os.path.isdir, SYSTEM_FOLDERS)):
        if is_in(folder, path) or is_in(path, folder):
            return "holds the programs that the client runs"
    return ""


def first_inside(folders: Iterable[str], writable: Iterable[str]) -> str:
    """The first of the folders that is in a writable one; empty where none is."""
    known = list(writable)
    return next((one for one in folders if any(is_in(one, folder) for folder in known)), "")
