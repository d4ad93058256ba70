"""One process at a time changes a server: it is added, renewed, granted something or removed."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferrule.config.own_folders import environments_folder
from ferrule.errors import InputError
from ferrule.installed import SourceTools
from ferrule.storage import locked
from ferrule_mcp.record import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS = 1.0


@contextmanager
def hold_server(name: str) -> Iterator[None]:
    """Hold the name of a server while the block runs.

    Raises InputError where another process does, and for what is no name.
    """
    SourceTools(SOURCE, name)
    folder = environments_folder(SOURCE)
    os.makedirs(folder, exist_ok=True)
    try:
        with locked(os.path.join(folder, f".{name}.lock"), _SECONDS):
            yield
    except TimeoutError:
        raise InputError(
            f"Another process is changing the MCP server {name}.", hint="Wait until it has ended, and try again."
        ) from None
