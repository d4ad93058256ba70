"""The answer of a login that a user copies from the browser of another machine."""

from __future__ import annotations

import hmac
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule import ToolError
from ferrule_mcp.remote.oauth.answer import Answer, find_state, read_answer

if TYPE_CHECKING:
    from collections.abc import Callable

_DEFAULT_PORT = 0
_MAX_CHARS = 8_192


class PastedRedirect:
    """Nobody listens at its address: the browser shows an error, and the user copies the address from it.

    Args:
        show_address: shows the user where the login begins.
        read_line: reads what the user pastes.
        port: of the address; 0 for a free one.
    """

    def __init__(
        self, show_address: Callable[[str], None], read_line: Callable[[], str], port: int = _DEFAULT_PORT
    ) -> None:
        self._show_address = show_address
        self._read_line = read_line
        self._port = port or _find_port()
        self._state = ""

    @property
    def uri(self) -> str:
        """See `Redirect`."""
        return f"http://127.0.0.1:{self._port}/callback"

    def show(self, url: str) -> None:
        """See `Redirect`."""
        self._state = find_state(url)
        self._show_address(url)

    def wait(self, seconds: float) -> Answer:
        """See `Redirect`. The user has as long as it takes. A code alone is taken for that of this login."""
        pasted = self._read_line().strip()[:_MAX_CHARS]
        if not pasted:
            raise ToolError("LOGIN_FAILED", "Nothing was pasted.", hint="Log in again.")
        answer = _read_pasted(pasted)
        if answer is None:
            return Answer(code=pasted, state=self._state)
        if not hmac.compare_digest(answer.state.encode(), self._state.encode()):
            raise ToolError(
                "LOGIN_FAILED",
                "The address that was pasted belongs to another login.",
                hint="Open the address that is shown now, and paste the one to which the browser is led from there.",
            )
        return answer


def _read_pasted(text: str) -> Answer | None:
    """The answer in an address, or in its query; None where the text is neither."""
    query = urlsplit(text).query if text.startswith(("http://", "https://")) else text
    answer = read_answer(query.lstrip("?"))
    return answer if answer.code or answer.error else None


def _find_port() -> int:
    """A port that is free now, so that the code is sent to no server."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
