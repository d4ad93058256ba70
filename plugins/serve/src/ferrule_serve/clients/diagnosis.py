"""What is wrong with the entries of clients that start ferrule, for `ferrule doctor`.

A file of a client may hold the keys of other servers, so doctor shows this code those alone in which `ferrule connect`
has written or found an entry.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from pathlib import Path

from ferrule import discovery
from ferrule.cli import Diagnosis, shown_files
from ferrule.errors import FerruleError
from ferrule_serve.clients.connection import Connected, find_connections, find_connections_in


def examine() -> Iterator[Diagnosis]:
    """Look at the files of clients that were connected; outside of doctor, at those of every client, of the user and of
    the project in the working folder. Changes nothing.
    """
    installed = discovery.scan()
    shown = shown_files()
    for one in find_connections(Path.cwd()) if shown is None else find_connections_in(shown):
        if isinstance(one, FerruleError):
            yield Diagnosis("client-unreadable", "warning", one.message.split(" cannot")[0], one.message, one.hint)
        else:
            yield from _examine(one, installed)


def _examine(one: Connected, installed: Container[str]) -> Iterator[Diagnosis]:
    fix = f"Run: ferrule connect {one.client.name}" + ("" if one.name == "ferrule" else f" --name {one.name}")
    place = f"{one.client.title} ({one.path})"
    program = one.command[0]
    if os.path.isabs(program) and not os.access(program, os.X_OK):
        yield Diagnosis("client-broken", "error", place, f"Its entry {one.name} starts {program}, which is gone.", fix)
    elif not os.path.isabs(program):
        message = f"Its entry {one.name} starts {program} by the client's PATH, which is seldom that of a shell."
        yield Diagnosis("client-by-path", "warning", place, message, fix)
    for tool in _tools(one.command):
        if tool not in installed:
            message = f"Its entry {one.name} asks for the tool {tool}, which is not installed."
            yield Diagnosis("client-tool-missing", "error", place, message, f"{fix}, with the tools that are wanted.")


def _tools(words: list[str]) -> list[str]:
    """The tools that the command line of a server names."""
    named = words[words.index("serve") + 1 :]
    options = next((number for number, word in enumerate(named) if word.startswith("-")), len(named))
    return named[:options]
