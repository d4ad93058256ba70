"""What a server says instead of a message, as a code and a sentence that says what to do next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule.http import parse_retry_after, parse_unsigned
from ferrule.text.redaction import redact
from ferrule_ask.models import json_text
from ferrule_ask.models.dialogue import MessageUnreadable, ServerError

if TYPE_CHECKING:
    from ferrule_ask.models.dialogue import Response
    from ferrule_ask.models.provider import Provider

_MAX_SERVER_TEXT_CHARS = 300
_MAX_WAIT_SECONDS = 86_400  # that a server names and the user is told; more is a clock that goes wrong
_REPEATABLE = frozenset({408, 409, 429})
_CODES = {
    400: "INVALID_REQUEST",
    401: "AUTH_INVALID",
    402: "BILLING",
    403: "FORBIDDEN",
    408: "TIMEOUT",
    413: "REQUEST_TOO_LARGE",
    422: "INVALID_REQUEST",
    429: "RATE_LIMIT",
    503: "OVERLOADED",
    504: "TIMEOUT",
    529: "OVERLOADED",
}
_NEXT = {
    "BILLING": "Look at the account's credit and spend limits.",
    "CONTEXT_WINDOW": "Shorten the context.",
    "FORBIDDEN": "Look at what the key is allowed to do.",
    "INVALID_REQUEST": "Ask with another model, or other settings.",
    "MODEL_NOT_FOUND": "Name another model.",
    "OVERLOADED": "Ask again later.",
    "RATE_LIMIT": "Ask again later, or fewer questions at once.",
    "REQUEST_TOO_LARGE": "Shorten the context.",
    "TIMEOUT": "Ask again.",
}


@dataclass(eq=False)
class CallFailed(Exception):
    """A call of the model has failed. `code` and `sentence` are those of an Answer.

    status: of the response; None where there was none, or not a whole one. may_repeat: whether the same request may
    succeed later. retry_after: seconds that the server names. was_sent: False where the request cannot have reached the
    server. is_paced: whether the pace of all requests says when the next try is.
    """

    code: str
    sentence: str
    _: KW_ONLY
    status: int | None = None
    request_id: str | None = None
    may_repeat: bool = False
    retry_after: float | None = None
    was_sent: bool = True
    is_paced: bool = False

    @property
    def is_busy(self) -> bool:
        """Whether the server has too much to do, and patience helps."""
        return self.code in ("RATE_LIMIT", "OVERLOADED")


def too_late(seconds: float, earlier: CallFailed | None = None) -> CallFailed:
    """The time of a step was over. earlier: why the try before the last failed."""
    before = f" Before that: {earlier.sentence}" if earlier else ""
    sentence = f"The model had not answered within {seconds:g} seconds. Ask again, or for less.{before}"
    return CallFailed("TIMEOUT", sentence, request_id=earlier.request_id if earlier else None)


def no_turn(seconds: float, per_minute: float | None) -> CallFailed:
    """The turn of a request comes too late for it. seconds: until then. per_minute: the requests that are taken."""
    pace = f"{per_minute:.0f} requests a minute" if per_minute else "no request for now"
    wait = f"in {math.ceil(seconds)} seconds" if seconds <= _MAX_WAIT_SECONDS else "later"
    sentence = f"The model's server takes {pace}, and the turn of this one would come too late. Ask again {wait}."
    return CallFailed("RATE_LIMIT", sentence, was_sent=False)


def refusal(response: Response, secret: str, provider: Provider) -> CallFailed:
    """What a response with another status than 200 means."""
    error = _error(response, secret, provider)
    code = error.code or _CODES.get(response.status, "API_ERROR")
    after = error.retry_after or _retry_after(response.headers)
    named = f"{response.status} ({error.kind})" if error.kind else str(response.status)
    told = f": {error.message.rstrip('.')}." if error.message else "."
    return CallFailed(
        code,
        f"The model's server answered HTTP {named}{told} {_next(code, response, after, provider)}",
        status=response.status,
        request_id=error.request_id,
        may_repeat=_may_repeat(response, code),
        retry_after=after,
    )


def unreadable(response: Response, what: str, secret: str, provider: Provider) -> CallFailed:
    """A response with the status 200 that is no message. The server may have charged for it."""
    error = _error(response, secret, provider)
    reason = f" ({error.message.rstrip('.')})" if error.message else ""
    sentence = f"What the model's server sent {what}{reason}. {_other_api(provider)}"
    return CallFailed("API_ERROR", sentence, request_id=error.request_id)


def _other_api(provider: Provider) -> str:
    return f"Look at {provider.base_url_variable}: is it that of {provider.api}?"


def _next(code: str, response: Response, after: float | None, provider: Provider) -> str:
    if after and after <= _MAX_WAIT_SECONDS and code in ("RATE_LIMIT", "OVERLOADED", "API_ERROR"):
        return f"Ask again in {math.ceil(after)} seconds."
    if 300 <= response.status < 400:
        host = urlsplit(response.headers.get("location", "")).hostname
        there = f" to {_harmless(host, '')}" if host else ""
        return f"It redirects{there}, where no key is sent to. Correct {provider.base_url_variable}."
    if code == "API_ERROR" and response.status < 500 and response.status not in _REPEATABLE:
        return _other_api(provider)
    if code == "AUTH_INVALID" and provider.key is not None:
        return f"Set another {provider.key.environment}."
    return _NEXT.get(code, "Ask again later.")


def _may_repeat(response: Response, code: str) -> bool:
    told = response.headers.get("x-should-retry", "").strip().lower()
    if told in ("true", "false"):
        return told == "true"
    return code != "BILLING" and (response.status in _REPEATABLE or response.status >= 500)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    milliseconds = parse_unsigned(headers.get("retry-after-ms", ""))
    return parse_retry_after(headers) if milliseconds is None else milliseconds / 1000


def _error(response: Response, secret: str, provider: Provider) -> ServerError:
    """What a body says, in words that can be shown."""
    try:
        document = json_text.decode(response.body)
    except MessageUnreadable:
        document = None
    error = provider.error(response, document if isinstance(document, dict) else {})
    return error._replace(kind=_harmless(error.kind, secret), message=_harmless(error.message, secret))


def _harmless(text: str, secret: str) -> str:
    """One line of what can be printed, without the key, and not too long."""
    clean = redact(text.encode("utf-8", "replace"), [secret]).decode()
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in clean).split())
    return line if len(line) <= _MAX_SERVER_TEXT_CHARS else f"{line[: _MAX_SERVER_TEXT_CHARS - 1]}…"
