"""A provider's refusal as the error that a model reads: the right code, the provider's own reason, and never a key."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, inf

from ferrule.errors import ToolError
from ferrule.http import parse_retry_after
from ferrule.text.plain_text import plain_text
from ferrule.text.redaction import redact
from ferrule_websearch.provider import API_ERROR, AUTH_INVALID, RATE_LIMIT, Fault, Provider, Quota, Response

_MAX_REASON_CHARS, _MAX_NAME_CHARS = 300, 60  # of a provider's reason, and of its code for it
QUOTA_SPENT = "quota_spent"  # in the details of an error: no call can wait for the next period
_NO_TIME = "It is not told for how long. Wait a minute, then ask again."
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


class ProviderRefusal(ToolError):
    """A provider refused. quota: what it said about the plan, where that was the reason."""

    quota = Quota()

    @property
    def wait(self) -> float | None:
        """Seconds after which the same request may be taken; None where waiting is no use."""
        return None if self.quota.is_spent else self.quota.wait


def refusal_error(
    provider: Provider, response: Response, secrets: Iterable[str], *, guesses: int = 0
) -> ProviderRefusal:
    """The error for a refusal.

    Args:
        secrets: what no text of it may hold.
        guesses: how often the same question was asked again already after a time that the provider did not tell. Each
            such time is twice the one before it.
    """
    fault, quota = _read(provider, response)
    if quota.is_guess and quota.wait is not None:
        quota = quota._replace(wait=quota.wait * 2**guesses)
    code = next((code for name, code in provider.codes.items() if name in fault.names), None)
    code = code or provider.statuses.get(response.status, API_ERROR)
    reason = _reason(provider, response, fault, secrets)
    todo = provider.hints.get(response.status)
    if code == RATE_LIMIT:
        reason = reason if fault.text else ""
        return _rate_limit(provider, quota, reason, todo, guesses=guesses if quota.is_guess else 0)
    if code == AUTH_INVALID:
        hint = provider.setup.message(provider.credentials) if provider.setup else todo
        return ProviderRefusal(code, f"{provider.name} refused the credentials: {_sentence(reason)}", hint=hint)
    return ProviderRefusal(
        code,
        f"{provider.name} answered with HTTP {response.status}: {_sentence(reason)}",
        hint=todo,
        details={"status": response.status},
        retry_after=_overload_wait(response),
    )


def _overload_wait(response: Response) -> int | None:
    """The seconds after which a server that is overloaded wants to be asked again."""
    seconds = parse_retry_after(response.headers) if response.status >= 500 else None
    return None if seconds is None or not seconds < inf else ceil(seconds)


def _read(provider: Provider, response: Response) -> tuple[Fault, Quota]:
    fault = Fault()
    try:
        fault = provider.fault(response.document or {})
        quota = provider.quota(response, fault)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
        return fault, Quota()  # an error of an unexpected shape; its status says enough
    is_a_time = quota.wait is not None and quota.wait < inf  # a number of 400 digits is not
    return fault, quota if is_a_time else quota._replace(wait=None)


def format_seconds(seconds: float) -> str:
    """A time in its two largest units.

    >>> format_seconds(1_419_704)
    '16 days 10 hours'
    """
    left, words = ceil(seconds), []
    for unit, length in _UNITS:
        number, left = divmod(left, length)
        if number:
            words.append(f"{number} {unit}{'' if number == 1 else 's'}")
    return " ".join(words[:2]) or "0 seconds"


def _rate_limit(
    provider: Provider, quota: Quota, reason: str, hint: str | None, *, guesses: int = 0
) -> ProviderRefusal:
    """The error for a limit.

    Args:
        quota: what the refusal says of it.
        reason: the provider's own words.
        hint: what the user can do, where the provider knows.
        guesses: see `refusal_error`.
    """
    is_short = quota.is_spent is False or (quota.is_spent is None and quota.wait is not None)
    sentences = [provider.describe_spent(quota) if quota.is_spent else "Rate limit exceeded."]
    if reason:
        sentences.append(f"{provider.name} says: {_sentence(reason)}")
    if guesses:
        sentences.append(f"It refused {guesses + 1} requests in a row, and did not say when it takes one.")
    if quota.wait is not None:
        sentences.append(f"{'Ask again' if is_short else 'It resets'} in {format_seconds(quota.wait)}.")
    hint = hint or (None if quota.is_spent or quota.wait is not None else _NO_TIME)
    retry_after = None if quota.wait is None else ceil(quota.wait)
    details = {QUOTA_SPENT: True} if quota.is_spent else None
    error = ProviderRefusal(RATE_LIMIT, " ".join(sentences), hint=hint, details=details, retry_after=retry_after)
    error.quota = quota
    return error


def _reason(provider: Provider, response: Response, fault: Fault, secrets: Iterable[str]) -> str:
    if 300 <= response.status < 400:
        why = ", because a key goes to no other place" if provider.credentials else ""
        return f"it leads elsewhere, which is not followed{why}"
    text = redact_text(plain_text(fault.text, html=False), secrets)[:_MAX_REASON_CHARS] or _phrase(response.status)
    name = next((name for name in fault.names if name and len(name) < _MAX_NAME_CHARS), "")
    return f"{text.rstrip('. ')} ({redact_text(plain_text(name, html=False), secrets)})" if name else text


def redact_text(text: str, secrets: Iterable[str]) -> str:
    """A text of a server without secrets, in whatever spelling. To be cut afterwards: a part of one is not found."""
    return redact(text.encode(errors="replace"), secrets).decode(errors="replace")


def _phrase(status: int) -> str:
    try:
        from http import HTTPStatus  # whose table takes half a start of the interpreter

        return HTTPStatus(status).phrase
    except ValueError:
        return "no reason is given"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
