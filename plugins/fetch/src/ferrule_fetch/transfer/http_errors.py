"""What went wrong with a page, as the error that a model reads: what it means, and what to do next."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from ferrule import ToolError

if TYPE_CHECKING:
    from ferrule.http import Response

_MAX_WAIT_SECONDS = 366 * 86_400  # a server that names more means something else

_MEANING = {
    400: "The server does not understand this URL; check it.",
    401: "The page needs a login, which this tool does not have; look for a public page.",
    402: "The page has to be paid for; look for another source.",
    403: "The server does not give this page to this tool, and asking again will not help; look for another source.",
    404: "There is no page at this URL; check it, or look for where the page is now.",
    405: "The server does not let this URL be read as a page.",
    406: "The server has no form of this page that the tool can read.",
    407: "The proxy in between needs a login; tell the administrator.",
    408: "The server did not get the request in time; the same call may work.",
    410: "The page has been taken away for good; look for another source.",
    414: "The URL is too long for the server.",
    429: "The server has had too many requests; wait before the next one to it.",
    451: "The page is withheld for legal reasons; look for another source.",
    501: "The server cannot do this; asking again will not help.",
    503: "The server is overloaded or being repaired; the same call may work later.",
}
_CLIENT = "The server refuses this request."
_SERVER = "The server has a fault of its own; the same call may work later."
_CHALLENGE = "The server lets only browsers with a person in front of them read this page; look for another source."


class StatusError(ToolError):
    """A status of 400 and above: HTTP_ERROR, with `retry_after` where the server says when to come.

    status: the HTTP status. is_challenge: whether only a browser with a person in front of it would get the page.
    """

    def __init__(self, message: str, response: Response, retry_after: int | None = None) -> None:
        super().__init__("HTTP_ERROR", message, retry_after=retry_after)
        self.status = response.status
        self.is_challenge = _is_challenge(response)


def status_error(response: Response) -> StatusError:
    """The error for a status of 400 and above."""
    status = f"HTTP {response.status}: {response.reason}".rstrip(": ").rstrip(".")
    wait = response.retry_after
    if wait is None or wait > _MAX_WAIT_SECONDS:
        return StatusError(f"{status}. {_meaning(response)}", response)
    seconds = ceil(wait)
    return StatusError(f"{status}. {_meaning(response)} It says when: in {seconds:,} seconds.", response, seconds)


def not_text(kind: str, media_type: str = "", size: int | None = None) -> ToolError:
    """The error for an answer that has no text to show: PARSE_ERROR.

    kind: what it is, in words. media_type: what its header says. size: its bytes, where they are known.
    """
    return _unreadable(kind, media_type, size, "which is not text")


def unreadable_document(kind: str, why: str, media_type: str = "", size: int | None = None) -> ToolError:
    """The error for a document of which there is nothing to be had: PARSE_ERROR.

    Args:
        why: a clause.
    """
    return _unreadable(kind, media_type, size, f"but {why}")


def _unreadable(kind: str, media_type: str, size: int | None, why: str) -> ToolError:
    called = f" ({media_type})" if media_type else ""
    long = f", {_in_units(size)}" if size is not None else ""
    return ToolError("PARSE_ERROR", f"Failed to parse HTML: the server sent {kind}{called}{long}, {why}")


def no_words(why: str) -> ToolError:
    """The error for a page that was read and says nothing: PARSE_ERROR. why: in a clause, with what to do."""
    return ToolError("PARSE_ERROR", f"Failed to parse HTML: {why}")


def _meaning(response: Response) -> str:
    if _is_challenge(response):
        return _CHALLENGE
    return _MEANING.get(response.status, _CLIENT if response.status < 500 else _SERVER)


def _is_challenge(response: Response) -> bool:
    return response.headers.get("cf-mitigated") == "challenge"


def _in_units(size: int) -> str:
    """A number of bytes in the unit that suits it.

    >>> _in_units(24_310)
    '24 kB'
    """
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_:
            return f"{size / bytes_:.3g} {unit}"
    return f"{size} bytes"
