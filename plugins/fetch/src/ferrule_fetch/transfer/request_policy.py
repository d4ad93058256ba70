"""How the tool behaves towards servers, as the administrator decided."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urlsplit

from ferrule import Context, ToolError
from ferrule.http import AddressGuard

if TYPE_CHECKING:
    from ferrule.http import URL, Guard

VERSION = "0.1.0"
# "Mozilla" because servers send others a page for telephones of long ago, or none; what it is for, because it is asked.
USER_AGENT = f"Mozilla/5.0 (compatible; ferrule-fetch/{VERSION}; reads single pages for a person's AI agent)"

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_MAX_AGENT_CHARS = 500


class RequestPolicy(NamedTuple):
    """guard: judges every host. user_agent: says who asks. robots: whether robots.txt decides what may be fetched.

    server: the host and port that alone are asked, also where they redirect to others; "" for all.
    """

    guard: Guard
    user_agent: str = USER_AGENT
    robots: bool = False
    server: str = ""

    def require_server(self, url: URL) -> None:
        """Raise ToolError INVALID_URL for a URL of another server."""
        if urlsplit(str(url)).netloc != self.server:
            raise ToolError("INVALID_URL", "Invalid URL: it is not of the server that the page is from.")

    @classmethod
    def from_context(cls, context: Context) -> Self:
        """What the settings ask for. Raises ToolError NETWORK_ERROR where one cannot be understood."""
        return cls(_guard(context), _user_agent(context), _robots(context))


def restrict(policy: RequestPolicy, url: str, page: str) -> RequestPolicy:
    """The policy for a URL that the scripts of a page ask for: nobody has named it but the page.

    Whatever the administrator allows, it leads to public addresses alone. A server that is none by its name, such as
    127.0.0.1:8000, may ask for itself. Names that lead there are no such hosts: a name of the web can do so, too.
    """
    host = urlsplit(page).hostname or ""
    public = AddressGuard()
    try:
        public(host, [])
    except ToolError:
        if (server := urlsplit(page).netloc) == urlsplit(url).netloc:
            return policy._replace(server=server)
    return policy._replace(guard=public)


def _guard(context: Context) -> AddressGuard:
    value = context.setting("allow", "FERRULE_FETCH_ALLOW") or ""
    words = value.split(",") if isinstance(value, str) else value
    unknown: object = value
    if isinstance(words, list) and all(isinstance(word, str) for word in words):
        allowed = {word.strip().lower() for word in words} - {""}
        unknown = ", ".join(sorted(allowed.difference(AddressGuard.NETWORKS)))
        if not unknown:
            return AddressGuard(allowed)
    hint = f"It takes a comma list of {' and '.join(AddressGuard.NETWORKS)}."
    raise _unusable("FERRULE_FETCH_ALLOW", "allow", hint, f"holds {unknown!r}")


def _user_agent(context: Context) -> str:
    value = context.setting("user_agent", "FERRULE_FETCH_USER_AGENT")
    if value is None:
        return USER_AGENT
    if not isinstance(value, str) or not re.fullmatch(rf"[!-~][ -~]{{0,{_MAX_AGENT_CHARS - 1}}}", value.strip()):
        hint = f"It takes up to {_MAX_AGENT_CHARS} letters of ASCII."
        raise _unusable("FERRULE_FETCH_USER_AGENT", "user_agent", hint)
    return value.strip()


def _robots(context: Context) -> bool:
    value = context.setting("robots", "FERRULE_FETCH_ROBOTS")
    word = str("false" if value is None else value).lower()
    if word not in _TRUE + _FALSE:
        raise _unusable("FERRULE_FETCH_ROBOTS", "robots", "It takes true or false.")
    return word in _TRUE


def _unusable(variable: str, setting: str, hint: str, why: str = "cannot be understood") -> ToolError:
    message = f"Failed to fetch URL: {variable}, or {setting!r} in the tool's table of config.toml, {why}."
    return ToolError("NETWORK_ERROR", message, hint=hint)
