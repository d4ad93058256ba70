"""Where the login at a server is kept, and how its tools get the token."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ferrule.cli import note, remove_credential, store_credential

if TYPE_CHECKING:
    from ferrule import JSONObject

HEADERS = {"Authorization": "Bearer {token}"}
"""The `headers` of a server in which the user has logged in."""

_NAME = "token"
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


def describe_credential(name: str, url: str) -> JSONObject:
    """The credential that the tools of a server declare, as tool.json has it. name: of the server, as in its tools."""
    variable = f"FERRULE_MCP_{name.upper().replace('-', '_')}_TOKEN"
    return {"name": _NAME, "environment": variable, "path": find_key(name), "description": f"the login at {url}"}


def find_key(name: str) -> str:
    """The key of the credentials file under which the login at a server is."""
    return f"mcp.{name}.{_NAME}"


def store_login(name: str, token: JSONObject) -> None:
    """Keep a login. Raises FerruleError where the credentials file cannot be written."""
    store_credential(find_key(name), token)


def forget_login(name: str) -> bool:
    """Take a login out of the credentials file; False where there was none. Raises as `store_login`."""
    return remove_credential(find_key(name))


def show_address(url: str) -> None:
    """Say where a login begins, on stderr, and open it in the user's browser if this machine has a screen."""
    note(f"Log in at: {url}")
    if sys.platform == "darwin" or any(os.environ.get(name) for name in _DISPLAYS):
        import webbrowser

        webbrowser.open(url)


class LoginCredentials:
    """The credentials of a server that is being added: its token, which is new."""

    def __init__(self, token: JSONObject) -> None:
        self._value = str(token["access_token"])

    def credential(self, name: str) -> str:
        """The token, whatever the name is."""
        return self._value

    def renew_credential(self, name: str, refused: str) -> str:
        """The same: a login is not renewed before it is kept."""
        return self._value
