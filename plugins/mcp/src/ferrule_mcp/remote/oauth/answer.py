"""What an authorization server sends back through the user's browser, and where that is read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import parse_qs, urlsplit

from ferrule import ToolError
from ferrule.text.invisible import without_invisible

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_WORDS_CHARS = 200


class Answer(NamedTuple):
    """The parameters of a redirect, each empty where it is missing."""

    code: str = ""
    state: str = ""
    issuer: str = ""
    error: str = ""
    description: str = ""

    def require_code(self) -> None:
        """Raise ToolError LOGIN_FAILED where the server has refused."""
        if self.error or not self.code:
            raise ToolError(
                "LOGIN_FAILED", f"The authorization server refuses the login: {self._words()}.", hint="Log in again."
            )

    def _words(self) -> str:
        said = " ".join(without_invisible(f"{self.error} {self.description}").split())[:_MAX_WORDS_CHARS].rstrip(".")
        return said or "it has sent no code"


class Redirect(Protocol):
    """A way in which the answer comes back."""

    @property
    def uri(self) -> str:
        """The address to which the authorization server sends the browser."""

    def show(self, url: str) -> None:
        """Have the user open the address at which the login begins."""

    def wait(self, seconds: float) -> Answer:
        """The answer. Raises ToolError TIMEOUT where none comes, and LOGIN_FAILED where it is another login's."""


def read_answer(query: str) -> Answer:
    """The answer in the query of an address."""
    found = parse_qs(query, keep_blank_values=True)
    return Answer(
        _first(found, "code"),
        _first(found, "state"),
        _first(found, "iss"),
        _first(found, "error"),
        _first(found, "error_description"),
    )


def find_state(url: str) -> str:
    """The state in the address at which a login begins."""
    return read_answer(urlsplit(url).query).state


def _first(found: Mapping[str, list[str]], name: str) -> str:
    return found.get(name, [""])[0]
