"""How a user gets the credentials of a provider and where they are put: the texts of a missing one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule.config import credentials_path, home
from ferrule.errors import ToolError

if TYPE_CHECKING:
    from ferrule import Credential, JSONObject

STEPS = "setup"  # in the details of an error for a general search: what to do, without the sentences around it
_FILE = "~/.config/ikigai/credentials.json"  # where it is by default

_NEEDED = "Web search requires API key configuration."


def _other_file() -> str:
    """A sentence about the file that is read, "" where it is the one that the text names."""
    path = credentials_path()
    is_default = path == os.path.join(home(), _FILE.removeprefix("~/"))
    return "" if is_default else f"\n\nOn this machine, the file that is read is {path}."


class Step(NamedTuple):
    """How a user gets one credential. label: of the link to its page. example: what stands for its value."""

    label: str
    example: str


class Setup(NamedTuple):
    """What a user has to do before the first search.

    tool: its name. needs: what is missing, as in "an API key". offer: a sentence about what is free. steps: one for
    each credential, in their order.
    """

    tool: str
    needs: str
    offer: str
    steps: Sequence[Step]

    def message(self, credentials: Sequence[Credential]) -> str:
        """The error message, of several lines."""
        return f"{_NEEDED}\n\n{self.offer}\n{self._steps(credentials)}"

    def general_error(self, credentials: Sequence[Credential], error: ToolError) -> ToolError:
        """The error as a search over all providers tells it: without the offer, which is the provider's own to make."""
        is_usual = error.message == self.message(credentials)  # and not about what is there and cannot be sent
        details = {STEPS: self._steps(credentials)} if is_usual else None
        message = error.message.replace(f"{self.offer}\n", "")
        return ToolError(error.code, message, hint=error.hint, details=details, event=error.event)

    def _steps(self, credentials: Sequence[Credential]) -> str:
        """Where each credential comes from, and where all of them go; a line each."""
        places = " and ".join(f"'{credential.path}'" for credential in credentials)
        return f"{self._links(credentials)}Add to: {_FILE} as {places}{_other_file()}"

    def event(self, credentials: Sequence[Credential]) -> JSONObject:
        """The event `config_required`."""
        import json

        data: JSONObject = {"tool": self.tool}
        if len(credentials) == 1:
            data |= {"credential": credentials[0].name, "signup_url": credentials[0].url}
        else:
            data["credentials"] = [credential.name for credential in credentials]
        return {
            "kind": "config_required",
            "content": (
                f"⚠ Configuration Required\n\nWeb search needs {self.needs}. {self.offer}\n\n{self._links(credentials)}"
                f"Add to: {_FILE}\n\nExample:\n{self._example(credentials)}{_other_file()}"
            ),
            "data_json": json.dumps(data),
        }

    def _links(self, credentials: Sequence[Credential]) -> str:
        pairs = zip(self.steps, credentials, strict=True)
        return "".join(f"{step.label}: {credential.url}\n" for step, credential in pairs)

    def _example(self, credentials: Sequence[Credential]) -> str:
        import json

        document: JSONObject = {}
        for step, credential in zip(self.steps, credentials, strict=True):
            *groups, name = credential.path.split(".")
            table = document
            for group in groups:
                table = table.setdefault(group, {})
            table[name] = step.example
        return json.dumps(document, indent=2)
