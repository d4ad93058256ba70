"""Keeps what a proxy was told out of what it answers: some show a whole request in the page of an error."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote_from_bytes

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence


def login_header(login: tuple[bytes, bytes]) -> bytes:
    """The value of the header by which a user and a password are told."""
    return b"Basic " + b64encode(b":".join(login))


def forms_of(login: tuple[bytes, bytes] | None) -> list[bytes]:
    """How a user with a password may stand in a text: as in the header, percent-encoded, and plainly."""
    if login is None:
        return []
    token = b64encode(b":".join(login))
    plain = [b":".join(login)] if login[1] else []
    return list(dict.fromkeys([token, token.rstrip(b"="), quote_from_bytes(token, "").encode(), *plain]))


class Concealment:
    """Puts asterisks instead of some bytes, wherever the pieces are cut that they come in.

    The length stays: it has been announced.
    """

    def __init__(self, forms: Sequence[bytes]) -> None:
        self._forms = forms
        self._longest = max(map(len, forms), default=0)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What can be passed on by now: what may be the beginning of such bytes is held back."""
        if not self._forms:
            return data
        text = _without(self._held + data, self._forms)
        cut = len(text) - self._unfinished(text)
        self._held = text[cut:]
        return text[:cut]

    def end(self) -> bytes:
        """The rest."""
        held, self._held = self._held, b""
        return held

    def _unfinished(self, text: bytes) -> int:
        """How much of the end may be the beginning of one of them."""
        for size in range(min(len(text), self._longest - 1), 0, -1):
            if any(form.startswith(text[-size:]) for form in self._forms if len(form) > size):
                return size
        return 0


def conceal(text: bytes, forms: Sequence[bytes]) -> bytes:
    """A whole text without them."""
    return _without(text, forms)


def _without(text: bytes, forms: Sequence[bytes]) -> bytes:
    for form in forms:
        text = text.replace(form, b"*" * len(form))
    return text
