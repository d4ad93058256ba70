"""The relay that the environment names: a server on this machine that gets every request instead of its host.

Recorded tests have one, which writes requests and answers down, or gives recorded answers without any network. It is
reached as a proxy is, but gets https requests in plain text, so it has to be an address of this machine.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from ferrule.errors import ToolError

RELAY_VARIABLE = "FERRULE_HTTP_RELAY"
_ADDRESS = re.compile(r"http://(127\.0\.0\.1):([1-9][0-9]{0,4})/?")


class Relay(NamedTuple):
    """Where the relay listens."""

    host: str
    port: int


def relay() -> Relay | None:
    """The relay of this process, None if there is none.

    Raises ToolError NETWORK_ERROR where the variable names anything but `http://127.0.0.1:PORT`.
    """
    named = os.environ.get(RELAY_VARIABLE, "").strip()
    if not named:
        return None
    match = _ADDRESS.fullmatch(named)
    if not match or int(match[2]) > 0xFFFF:
        raise ToolError(
            "NETWORK_ERROR",
            f"The environment variable {RELAY_VARIABLE} does not name an address of this machine.",
            hint=f"Write it as http://127.0.0.1:PORT, or unset {RELAY_VARIABLE}.",
        )
    return Relay(match[1], int(match[2]))
