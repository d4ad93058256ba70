"""Which files the kernel executes when a program is started: itself, what interprets it, and the dynamic loader."""

from __future__ import annotations

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOADERS = (
    "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
)  # fmt: skip
_MAX_LINE_BYTES = 256
_MAX_INTERPRETERS = 4


def loaders() -> set[tuple[int, int]]:
    """Which files the dynamic loaders of this system are: device and number of each."""
    found = set()
    for path in _LOADERS:
        try:
            facts = os.stat(path)
        except OSError:
            continue
        found.add((facts.st_dev, facts.st_ino))
    return found


def executed(programs: Iterable[str]) -> list[str]:
    """The files, once each. A program that is a script needs its interpreter, and that of a `#!/usr/bin/env` line."""
    found = dict.fromkeys(_LOADERS)
    for program in programs:
        path = program
        for _ in range(_MAX_INTERPRETERS):
            found[path] = None
            words = _first_line(path)
            if not words:
                break
            for word in words[:-1]:
                found[word] = None
            path = words[-1]
    return list(found)


def _first_line(path: str) -> list[str]:
    """The interpreter of a script, after `env` where that finds it; nothing for what is no script."""
    try:
        with open(path, "rb", buffering=0) as file:
            start = file.read(_MAX_LINE_BYTES)
    except OSError:
        return []
    if not start.startswith(b"#!"):
        return []
    words = os.fsdecode(start[2:].partition(b"\n")[0]).split()
    if not words or os.path.basename(words[0]) != "env":
        return words[:1]
    name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    found = _find(name)
    return [words[0], found] if found else words[:1]


def _find(name: str) -> str:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if name and os.access(path, os.X_OK):
            return path
    return ""
