"""What must not stand in a file of exchanges."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.admin.author_interface import likely_secrets
from ferrule.config import CredentialsFile, credentials_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ferrule import Credential

# Shorter ones whose name only sounds secret, such as the author's in GIT_AUTHOR_NAME, may be words of a request.
_MIN_GUESSED_CHARS = 16


class Secrets:
    """Gathers the values of credentials during a test, from every environment in which something is started.

    Credentials that may be shown count, too: who replays a recording has other ones, or none.
    """

    def __init__(self) -> None:
        self._declared: list[Credential] = []
        self._found: dict[str, None] = {}

    def declare(self, credentials: Iterable[Credential]) -> None:
        """Add what a tool declares."""
        self._declared += credentials
        self.look_into({})

    def look_into(self, environ: Mapping[str, str]) -> None:
        """Add what an environment holds, which is that of this process with these variables in addition."""
        whole = {**os.environ, **environ}
        file = CredentialsFile(credentials_path(whole))
        for one in self._declared:
            self.add(*(value.value for value in one.values(whole, file)))
        self.add(*(value for value in likely_secrets(whole) if len(value) >= _MIN_GUESSED_CHARS))

    def add(self, *values: str) -> None:
        """Add values."""
        self._found.update(dict.fromkeys(value for value in values if value))

    def values(self) -> list[str]:
        """All of them so far, with those of this process's environment as it is now."""
        self.look_into({})
        return list(self._found)
