"""Why a relay does not pass a request on, as the status that its client gets."""

from __future__ import annotations

BAD_REQUEST, FORBIDDEN, NOT_ALLOWED, BAD_GATEWAY = 400, 403, 405, 502


class Refusal(Exception):
    """status: of HTTP. args: a sentence about it, in which there is nothing of the proxy but its variable's name."""

    def __init__(self, status: int, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.reason = reason or text
