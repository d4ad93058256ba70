"""Whether the credentials that tools declare are set, and where each comes from. Never shows a value."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import CredentialsMalformed
from ferrule.tool.credentials import Credential, default_path, look_up

if TYPE_CHECKING:
    from ferrule.admin.inventory import Entry

SET, MISSING, UNUSABLE = "set", "missing", "unusable"


class CredentialStatus:
    """One credential of one tool.

    state: `set`, `missing` or `unusable`. source: where its value was found, None where it was not. problem: why it
    cannot be used, None where it can.
    """

    def __init__(self, tool: str, credential: Credential, file: CredentialsFile) -> None:
        self.tool = tool
        self.credential = credential
        self.name = credential.name
        self.url = credential.url
        self.file = file.path
        self.source: str | None = None
        self.problem: str | None = None
        try:
            found = look_up(credential, os.environ, file)
        except CredentialsMalformed as error:
            self.problem = error.message
        else:
            self.source = found.source if found else None
            self.problem = None if found else file.problem

    @property
    def state(self) -> str:
        """`set`, `missing` or `unusable`."""
        if self.source:
            return SET
        return UNUSABLE if self.problem else MISSING

    def where(self) -> str:
        """Where it was found, else where it is looked for, in that order."""
        sought = f"${self.credential.environment}, or {self.credential.path} in the credentials file"
        return self.problem or self.source or sought

    def as_dict(self) -> dict[str, Any]:
        """The status as JSON; `keys` are those of the credentials file, in the order of looking."""
        return {
            "tool": self.tool,
            "name": self.name,
            "description": self.credential.description,
            "environment": self.credential.environment,
            "file": self.file,
            "keys": [self.credential.path, self.credential.environment],
            "url": self.url,
            "state": self.state,
            "source": self.source,
            "problem": self.problem,
        }


def statuses(entry: Entry, file: CredentialsFile | None = None) -> list[CredentialStatus]:
    """The status of each credential that a loaded tool declares, in the tool's order."""
    if not entry.credentials:
        return []
    file = CredentialsFile(default_path()) if file is None else file
    return [CredentialStatus(entry.name, Credential(**facts), file) for facts in entry.credentials]
