"""A provider's refusal as the error that a model reads: the right code, the provider's own reason, and never a key."""

from __future__ import annotations

from http import HTTPStatus
from math import ceil, inf
from typing import TYPE_CHECKING

from ferrule.errors import ToolError
from ferrule.http.retry_after import retry_after
from ferrule.text.plain_text import plain_text
from ferrule.text.redaction import redact
from ferrule_websearch.provider import API_ERROR, AUTH_INVALID, RATE_LIMIT, Answer, Fault, Provider, Quota

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST, _LONGEST_NAME = 300, 60  # characters of a provider's reason, and of its code for it
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


class Refused(ToolError):
    """A provider refused. quota: what it said about the plan, where that was the reason."""

    quota = Quota()

    @property
    def wait(self) -> float | None:
        """Seconds after which the same request may be taken; None where waiting is no use."""
        return None if self.quota.is_spent else self.quota.wait


def refused(provider: Provider, answer: Answer, secrets: Iterable[str]) -> Refused:
    """The error for an answer that is none."""
    fault, quota = _read(provider, answer)
    code = next((code for name, code in provider.codes.items() if name in fault.names), None)
    code = code or provider.statuses.get(answer.status, API_ERROR)
    reason = _reason(answer, fault, secrets)
    if code == RATE_LIMIT:
        return _rate_limit(provider, quota, reason if fault.text else "")
    if code == AUTH_INVALID:
        return Refused(
            code, f"{provider.name} refused the credentials: {_sentence(reason)}", hint=provider.setup or None
        )
    return Refused(
        code,
        f"{provider.name} answered with HTTP {answer.status}: {_sentence(reason)}",
        details={"status": answer.status},
        retry_after=_told(answer),
    )


def _told(answer: Answer) -> int | None:
    """The seconds after which a server that is overloaded wants to be asked again."""
    seconds = retry_after(answer.headers) if answer.status >= 500 else None
    return None if seconds is None or not seconds < inf else ceil(seconds)


def _read(provider: Provider, answer: Answer) -> tuple[Fault, Quota]:
    fault = Fault()
    try:
        fault = provider.fault(answer.document or {})
        quota = provider.quota(answer, fault)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
        return fault, Quota()  # an error of an unexpected shape; its status says enough
    is_a_time = quota.wait is not None and quota.wait < inf  # a number of 400 digits is not
    return fault, quota if is_a_time else quota._replace(wait=None)


def in_words(seconds: float) -> str:
    """A time in its two largest units.

    >>> in_words(1_419_704)
    '16 days 10 hours'
    """
    left, words = ceil(seconds), []
    for unit, length in _UNITS:
        number, left = divmod(left, length)
        if number:
            words.append(f"{number} {unit}{'' if number == 1 else 's'}")
    return " ".join(words[:2]) or "0 seconds"


def _rate_limit(provider: Provider, quota: Quota, reason: str) -> Refused:
    is_short = quota.is_spent is False or (quota.is_spent is None and quota.wait is not None)
    sentences = ["Rate limit exceeded." if is_short else provider.quota_spent]
    if reason:
        sentences.append(f"{provider.name} says: {_sentence(reason)}")
    if quota.wait is not None:
        sentences.append(f"{'Ask again' if is_short else 'It resets'} in {in_words(quota.wait)}.")
    error = Refused(RATE_LIMIT, " ".join(sentences), retry_after=None if quota.wait is None else ceil(quota.wait))
    error.quota = quota
    return error


def _reason(answer: Answer, fault: Fault, secrets: Iterable[str]) -> str:
    if 300 <= answer.status < 400:
        return "it leads elsewhere, which is not followed, because a key goes to no other place"
    text = _without(secrets, plain_text(fault.text, html=False))[:_LONGEST] or _phrase(answer.status)
    name = next((name for name in fault.names if name and len(name) < _LONGEST_NAME), "")
    return f"{text.rstrip('. ')} ({_without(secrets, plain_text(name, html=False))})" if name else text


def _without(secrets: Iterable[str], text: str) -> str:
    return redact(text.encode(errors="replace"), secrets).decode(errors="replace")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "no reason is given"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
