"""Paths that a caller gives, held to what lies inside a notebook."""

from __future__ import annotations

import os

from ferrule_opennotes import errors


def normalize(path: str) -> str:
    """The path as notes carry it: relative, "/" between its parts, without `.` and empty parts.

    Raises PATH_TRAVERSAL for what is absolute, has `..` or `~`, or could mean another place on another system.
    """
    parts = path.split("/")
    has_drive = path[1:2] == ":" and path[0].isalpha() and path[2:3] != " "  # `Q: when?.md` is a note
    has_home = path.startswith("~") and not (len(parts) == 1 and path.endswith(".md"))
    if "\\" in path or path.startswith("/") or ".." in parts or has_drive or has_home:
        raise errors.path_traversal(path)
    return "/".join(part for part in parts if part not in ("", "."))


def make_absolute(path: str) -> str:
    """The absolute path; a relative one as it is, and so leading nowhere, where the working directory is gone."""
    try:
        return os.path.abspath(path)
    except OSError:
        return os.path.normpath(path)


def list_entries(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds; nothing where it cannot be listed."""
    try:
        return list(os.scandir(folder))
    except OSError:
        return []


def leads_out(absolute: str, root: str) -> bool:
    """Whether a file, once its symbolic links are followed, lies outside of the folder `root`."""
    real, base = os.path.realpath(absolute), os.path.realpath(root)
    return real != base and not real.startswith(os.path.join(base, ""))
