"""The list of all files of an environment with their digests, and what has changed since it was written."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

LIST = "files.json"
"""The name of the list, in the folder that it is of."""

_LINK = "link:"


def digest_file(path: Path) -> str:
    """The digest of a file's content, as `sha256=HEX`. Raises OSError."""
    with path.open("rb") as file:
        return f"sha256={hashlib.file_digest(file, 'sha256').hexdigest()}"


def digest_lines(lines: Iterator[str] | list[str]) -> str:
    """The digest of lines of text, as `sha256=HEX`."""
    return f"sha256={hashlib.sha256(chr(10).join(lines).encode(errors='surrogateescape')).hexdigest()}"


def write_list(folder: Path) -> str:
    """Write the list into the folder that it is of, and return the digest of the list. Raises OSError."""
    listed = {name: _identify(folder / name) for name in walk_files(folder)}
    file = folder / LIST
    file.write_bytes(json.dumps(listed, indent=0, sort_keys=True).encode(errors="surrogatepass"))
    return digest_file(file)


def walk_files(folder: Path) -> Iterator[str]:
    """The files and links below a folder, by their paths from it, but for the list itself."""
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        for name in (*names, *links):
            path = (Path(parent) / name).relative_to(folder).as_posix()
            if path != LIST:
                yield path


def find_changes(folder: Path, digest: str, ends: float) -> Iterator[tuple[str, str]]:
    """What differs from the list, as (path, what is so), until `time.monotonic()` is past `ends`.

    An empty path stands for the folder as a whole.
    """
    file = folder / LIST
    try:
        if digest_file(file) != digest:
            yield "", f"its list of files, {LIST}, is not the one that was recorded"
            return
        listed: dict[str, str] = json.loads(file.read_bytes())
    except (OSError, ValueError):
        yield "", f"its list of files, {LIST}, is gone"
        return
    yield from ((name, "was added") for name in walk_files(folder) if name not in listed)
    for number, (name, expected) in enumerate(listed.items()):
        if time.monotonic() > ends:
            yield "", f"{len(listed) - number} of {len(listed)} files were not looked at: the time was over"
            return
        try:
            found = _identify(folder / name)
        except OSError:
            yield name, "is gone"
        else:
            if found != expected:
                yield name, "was changed"


def _identify(path: Path) -> str:
    """The digest of a file, or where a link leads; what is neither has no digest."""
    if path.is_symlink():
        return _LINK + os.readlink(path)
    if not path.is_file():
        path.lstat()
        return "special"
    mode = "x" if path.stat().st_mode & 0o100 else ""
    return digest_file(path) + mode
