"""What the reader of a page does with a block that is no command line.

A use is lines of a shell. In them, {block} is a file with the text of the block, {judge} the program of judges.py, and
{python} the interpreter of the installation.
"""

from __future__ import annotations

import posixpath
from typing import NamedTuple

CONFIG = "~/.config/ferrule/config.toml"


class Use(NamedTuple):
    """language: of the block. do: lines. is_shown: whether it is what is printed. reason: why it is not run."""

    language: str
    do: tuple[str, ...] = ()
    is_shown: bool = False
    reason: str = ""


def file(path: str, language: str = "python") -> Use:
    """Write it to a file of this name."""
    return Use(language, (f"mkdir -p {posixpath.dirname(path) or '.'}", f"cp {{block}} {path}"))


def more(path: str, language: str = "python") -> Use:
    """Write it at the end of a file."""
    return Use(language, (f"mkdir -p {posixpath.dirname(path) or '.'}", f"cat {{block}} >> {path}"))


def part(path: str, language: str = "toml") -> Use:
    """Find it in a file that a command has written."""
    return Use(language, (f"{{judge}} part {{block}} {path}",))


def program(path: str = "page.py") -> Use:
    """Run it, with what the page had before, by the interpreter of the installation."""
    return Use("python", (*more(path).do, f"{{python}} {path}"))


def config() -> Use:
    """Write it at the end of config.toml, which `ferrule list` and `ferrule doctor` then read without a complaint."""
    return Use("toml", (*more(CONFIG).do, "{judge} config"))


def client(name: str, path: str, option: str = "", language: str = "json") -> Use:
    """Write it into the file of a client, in which `ferrule connect` finds it, and start or ask what it names."""
    connect = f"ferrule connect {name} {option} --print".replace("  ", " ")
    return Use(language, (*file(path).do, connect, "{judge} client {block}"))


def statement(before: str) -> Use:
    """Give it to DuckDB, in a program that has registered the functions. before: makes the tables that it reads."""
    return Use("sql", (f'{{python}} {{query}} "{before}" {{block}}',))


def shown() -> Use:
    """Compare it with what the lines before print."""
    return Use("text", is_shown=True)


def unused(language: str, reason: str) -> Use:
    """Leave it."""
    return Use(language, reason=reason)
