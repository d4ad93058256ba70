"""The headers with which a server is asked: texts in which the names of credentials stand in braces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

import anyio
import httpx2

from ferrule import ToolError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from ferrule_mcp.remote.watched_transport import Watch

_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")
_UNAUTHORIZED = 401


class Credentials(Protocol):
    """Where the values of credentials come from: the `Context` of a call is one."""

    def credential(self, name: str) -> str:
        """The value. Raises ToolError AUTH_MISSING where it is not set."""

    def renew_credential(self, name: str, refused: str) -> str:
        """The value that counts after a server has refused one: another one, where it can be renewed."""


class Headers:
    """The headers of one server.

    Args:
        templates: by their names, such as `{"Authorization": "Bearer {token}"}`.
        credentials: where the values come from.
    """

    def __init__(self, templates: Mapping[str, str], credentials: Credentials | None) -> None:
        self._templates = templates
        self._credentials = credentials
        self._values: dict[str, str] = {}

    @property
    def are_secret(self) -> bool:
        """Whether a credential stands in one of them."""
        return any(map(_PLACEHOLDER.search, self._templates.values()))

    def fill(self) -> dict[str, str]:
        """The headers with their values. Raises ToolError AUTH_MISSING where one is not set."""
        return {name: self.fill_text(text) for name, text in self._templates.items()}

    def fill_text(self, text: str) -> str:
        """A text with the values of the credentials that it names, such as the address of the server."""
        return _PLACEHOLDER.sub(self._value, text)

    def renew(self) -> bool:
        """Renew the values after the server has refused them; whether one is another one now. Raises ToolError."""
        before = dict(self._values)
        if self._credentials is not None:
            for name, value in before.items():
                self._values[name] = self._credentials.renew_credential(name, value)
        return self._values != before

    def _value(self, found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in self._values:
            if self._credentials is None:
                raise ToolError("AUTH_MISSING", f"The server needs the credential {name}, which is not set.")
            self._values[name] = self._credentials.credential(name)
        return self._values[name]


class HeaderAuth(httpx2.Auth):
    """Sends the headers, and once more after an answer 401, where they have been renewed.

    A server that is asked by several requests at once may refuse each of them; the credential is renewed for the first.
    """

    def __init__(self, headers: Headers, watch: Watch) -> None:
        self._headers = headers
        self._watch = watch
        self._lock = anyio.Lock()

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """See httpx2."""
        sent = self._headers.fill()
        request.headers.update(sent)
        response = yield request
        if response.status_code == _UNAUTHORIZED and self._headers.are_secret and await self._renew(sent):
            request.headers.update(self._headers.fill())
            yield request

    async def _renew(self, refused: dict[str, str]) -> bool:
        async with self._lock:
            if self._headers.fill() != refused:
                return True
            try:
                return await anyio.to_thread.run_sync(self._headers.renew)
            except ToolError as error:
                self._watch.refusal = error
                return False
