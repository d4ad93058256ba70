"""What an installed tool declares, read once in a process: no test changes what the environment of the tests has."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import Credential


@cache
def declared_credentials(tool: str) -> tuple[Credential, ...]:
    """What its `credentials` hook lists. Looking through all that is installed for it takes some milliseconds."""
    from ferrule_dev.testing import Tool

    return tuple(Tool(tool).credentials)
