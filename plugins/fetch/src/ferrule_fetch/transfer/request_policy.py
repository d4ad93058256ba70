"""How the tool behaves towards servers, as the administrator decided."""

from __future__ import annotations

import re
from typing import NamedTuple

from ferrule import Context, ToolError

VERSION = "0.1.0"
# "Mozilla" because servers send others a page for telephones of long ago, or none; what it is for, because it is asked.
USER_AGENT = f"Mozilla/5.0 (compatible; ferrule-fetch/{VERSION}; reads single pages for a person's AI agent)"

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_LONGEST = 500  # characters


class Manners(NamedTuple):
    """user_agent: what says who asks. robots: whether robots.txt decides what may be fetched."""

    user_agent: str = USER_AGENT
    robots: bool = False

    @classmethod
    def of(cls, context: Context) -> Manners:
        """What the settings ask for. Raises ToolError NETWORK_ERROR where one cannot be understood."""
        return cls(_user_agent(context), _robots(context))


def _user_agent(context: Context) -> str:
    value = context.setting("user_agent", "FERRULE_FETCH_USER_AGENT")
    if value is None:
        return USER_AGENT
    if not isinstance(value, str) or not re.fullmatch(rf"[!-~][ -~]{{0,{_LONGEST - 1}}}", value.strip()):
        raise _unusable("FERRULE_FETCH_USER_AGENT", "user_agent", f"It takes up to {_LONGEST} letters of ASCII.")
    return value.strip()


def _robots(context: Context) -> bool:
    value = context.setting("robots", "FERRULE_FETCH_ROBOTS")
    word = str("false" if value is None else value).lower()
    if word not in _TRUE + _FALSE:
        raise _unusable("FERRULE_FETCH_ROBOTS", "robots", "It takes true or false.")
    return word in _TRUE


def _unusable(variable: str, setting: str, hint: str) -> ToolError:
    return ToolError(
        "NETWORK_ERROR",
        f"Failed to fetch URL: {variable}, or {setting!r} in the tool's table of config.toml, cannot be understood.",
        hint=hint,
    )
