"""A server that was tried, put among the tools: with its permissions and credentials, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_mcp.installation.host_commands import accept_permissions, set_credentials
from ferrule_mcp.installation.server import remove_environment, write_server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule_mcp.environment.record import Environment
    from ferrule_mcp.installation.addition import Addition


def place_server(addition: Addition, environment: Environment | None, secrets: Mapping[str, str]) -> None:
    """Write the tools of a server that was not there, and what belongs to them.

    Where that fails or is interrupted, its tools and what was installed for it are removed.

    Args:
        addition: the server.
        environment: what was installed for it.
        secrets: values of its credentials, by their names.

    Raises FerruleError, OSError and TimeoutError.
    """
    written = None
    try:
        written = write_server(addition.record, addition.schemas, addition.definitions, environment)
        accept_permissions(list(addition.schemas))  # a server of this name that was removed may have asked for less
        set_credentials(next(iter(addition.schemas)), secrets)
    except BaseException:
        if written:
            written.remove()
        remove_environment(addition.record)
        raise
