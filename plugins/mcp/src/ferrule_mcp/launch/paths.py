"""Paths and programs of a command line, made absolute: a server is started elsewhere than it was added."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from ferrule_mcp.launch.plan import LaunchRefused

_HERE = (".", "..")


def absolute_file(word: str, folder: Path, what: str, *, must_exist: bool = True) -> Path:
    """A path as one from the root, without following links: a venv's Python is one.

    Args:
        word: the path, perhaps with `~`.
        folder: what a relative path is relative to.
        what: the kind of thing, for the message.
        must_exist: whether a missing one is refused.

    Raises:
        LaunchRefused: there is nothing at the path.
    """
    path = Path(os.path.abspath(folder / os.path.expanduser(word)))
    if must_exist and not path.exists():
        raise LaunchRefused(f"There is no {what} {path}.", hint="Correct the path.")
    return path


def absolute_words(words: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The arguments of a server; those that are paths from the folder are written from the root."""
    return tuple(_absolute_word(word, folder) for word in words)


def find_program(word: str, folder: Path) -> str:
    """The absolute path of a program that stands as a path or is on PATH. Raises LaunchRefused."""
    if "/" in word or word.startswith("~"):
        path = absolute_file(word, folder, "program")
        if not path.is_file() or not os.access(path, os.X_OK):
            raise LaunchRefused(f"{path} is no executable file.", hint=f"Run `chmod +x {path}`, or name a program.")
        return str(path)
    found = shutil.which(word)
    if found is None:
        raise LaunchRefused(f"The program {word} is not on PATH.", hint=f"Install it, or write the path of {word}.")
    return os.path.abspath(found)


def _absolute_word(word: str, folder: Path) -> str:
    name, equals, value = word.partition("=")
    if equals and name.startswith("--") and _is_relative(value):
        return f"{name}={absolute_file(value, folder, 'file', must_exist=False)}"
    if _is_relative(word) or _names_file(word, folder):
        return str(absolute_file(word, folder, "file", must_exist=False))
    return word


def _is_relative(word: str) -> bool:
    return word in _HERE or word.startswith(("./", "../"))


def _names_file(word: str, folder: Path) -> bool:
    """Whether a word that looks like a path is one of something that is there."""
    if word.startswith(("-", "/", "@")) or "://" in word or not ("/" in word or "." in word):
        return False
    try:
        return (folder / word).exists()
    except (OSError, ValueError):
        return False
