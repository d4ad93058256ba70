"""Why a request failed, in a few words that can be shown to anybody.

RequestFailed           there is no answer, or not a whole one
├── UnusableURL         the URL cannot be sent
├── BodyUnreadable      the body is not what its headers say
└── BodyCutOff          the connection or the time ended before the body did
"""

from __future__ import annotations


class RequestFailed(Exception):
    """There is no answer, or not a whole one. `reason` says why in a few words: "Connection refused"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnusableURL(RequestFailed):
    """The URL cannot be sent: it is malformed, or neither http nor https."""


class BodyUnreadable(RequestFailed):
    """The body is encoded in a way that was not asked for, or not in the way its headers say."""


class BodyCutOff(RequestFailed):
    """The connection ended before the body did, or the time did, where `is_late`.

    received: what had come, without its content encoding.
    """

    def __init__(self, reason: str, received: bytes, *, is_late: bool = False) -> None:
        super().__init__(reason)
        self.received = received
        self.is_late = is_late
