"""The place of a server that is new: held while it is added, and filled with all that belongs to it, or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ferrule.config.own_folders import environments_folder
from ferrule.errors import InputError
from ferrule.installed import SourceTools
from ferrule_mcp.installation.host_commands import accept_permissions, set_credentials
from ferrule_mcp.installation.server import hold_server, remove_environment, remove_environments, write_server
from ferrule_mcp.record import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrule_mcp.environment.record import Environment
    from ferrule_mcp.installation.addition import Addition


class ServerThere(InputError):
    """There is a server of this name."""

    def __init__(self, name: str) -> None:
        hint = f"`ferrule mcp refresh {name}` renews it; `ferrule mcp remove {name}` removes it."
        super().__init__(f"There is an MCP server {name!r} already.", hint=hint)


@contextmanager
def hold_place(name: str) -> Iterator[None]:
    """Hold the place of a new server, without what a process that was killed has left there.

    Raises ServerThere, and what `hold_server` raises.
    """
    with hold_server(name):
        tools = SourceTools(SOURCE, name)
        if os.path.lexists(_find_mark(name)):
            tools.remove()
            forget_addition(name)
        if tools.version:
            raise ServerThere(name)
        remove_environments(name)
        yield


def forget_addition(name: str) -> None:
    """Remove the mark of an addition that has not ended."""
    with suppress(FileNotFoundError):
        os.remove(_find_mark(name))


def place_server(addition: Addition, environment: Environment | None, secrets: Mapping[str, str]) -> None:
    """Write the tools of a server that was not there, and what belongs to them.

    Where that fails or is interrupted, its tools and what was installed for it are removed. A mark is there meanwhile,
    by which the next addition finds the tools of a process that was killed before all was written.

    Args:
        addition: the server.
        environment: what was installed for it.
        secrets: values of its credentials, by their names.

    Raises FerruleError, OSError and TimeoutError.
    """
    name = addition.record["name"]
    written = None
    try:
        open(_find_mark(name), "wb").close()
        written = write_server(addition.record, addition.schemas, addition.definitions, environment)
        accept_permissions(list(addition.schemas))  # a server of this name that was removed may have asked for less
        set_credentials(next(iter(addition.schemas)), secrets)
    except BaseException:
        if written:
            written.remove()
        remove_environment(addition.record)
        raise
    finally:
        forget_addition(name)


def _find_mark(name: str) -> str:
    return os.path.join(environments_folder(SOURCE), f".{name}.unfinished")
