"""One request to a provider at a time: in its turn, bounded in every way, and again when the answer says so."""

from __future__ import annotations

import json
import time
from math import ceil
from typing import TYPE_CHECKING, Self

from ferrule.errors import ToolError
from ferrule.http import Client, RequestFailed, UnusableURL
from ferrule_websearch.endpoint import endpoint_of, unusable_endpoint
from ferrule_websearch.errors import ProviderRefusal, format_seconds, redact_text, refusal_error
from ferrule_websearch.pace.rate_limit_headers import Window, limits_of
from ferrule_websearch.pace.rate_limiter import RateLimiter, TurnTooLate
from ferrule_websearch.pace.request_budget import RequestBudget
from ferrule_websearch.pagination import Reply
from ferrule_websearch.provider import API_ERROR, RATE_LIMIT, Provider, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from ferrule import Context
    from ferrule.http import Response as HTTPResponse
    from ferrule.text.json_types import JSONMapping
    from ferrule_websearch.pagination import Page

MAX_BODY_BYTES = 4 << 20  # twenty results take a hundredth of it
_FIRST_WAIT_SECONDS = 0.1  # at the least, after the first refusal; it doubles with each further one
_MAX_GUESSES = 3  # requests that are repeated after a time that the provider did not tell
_RESERVE_SECONDS = 1.0  # that a request itself may take; a turn later than that before the deadline is no use


class ProviderClient:
    """Asks a provider for pages until the call's deadline; a context manager.

    Args:
        keys: the values of the provider's credentials by name.
        parameters: what each request has besides its page's, and instead of what the provider says for all requests.
        budget: counts the requests; whoever asks for pages heeds it. Everything that goes wrong is a ToolError without
            a key.
    """

    def __init__(
        self,
        provider: Provider,
        keys: Mapping[str, str],
        context: Context,
        parameters: Mapping[str, object] | None = None,
        budget: RequestBudget | None = None,
    ) -> None:
        self._budget = budget or RequestBudget()
        self._provider = provider
        self._context = context
        self._secrets = [keys[one.name] for one in provider.credentials if one.secret]
        self._endpoint = endpoint_of(provider, context)
        self._request = provider.request(keys)
        self._params = {**self._request.params, **(parameters or {})}
        self._rate_limiter = RateLimiter(provider.turns_at(self._endpoint), *self._secrets)
        self._secrets += _list_tokens(self._request.headers)
        if provider.pace:
            self._rate_limiter.learn([provider.pace])
        headers = {"Accept": "application/json", **self._request.headers}
        self._client = Client(context.deadline, headers=headers)
        self._latest = context.deadline - min(_RESERVE_SECONDS, context.remaining() / 4)

    def ask(self, page: Page) -> Reply:
        """The results of a page. Raises ToolError: NETWORK_ERROR, API_ERROR, AUTH_INVALID or RATE_LIMIT."""
        attempt = 0
        while True:
            response = self._send({**page.params, **self._params})
            if response.is_success:
                return self._read(response)
            if response.status in self._provider.empty_statuses and response.document is not None:
                return Reply([], has_more=False)
            error = refusal_error(self._provider, response, self._secrets, guesses=self._budget.guesses)
            self._wait(error, attempt)
            self._budget.refund(is_guess=error.quota.is_guess)
            attempt += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def _send(self, params: Mapping[str, object]) -> Response:
        """Send one request, in turn."""
        sent = self._take_turn()
        self._budget.record()
        try:
            with self._open(params) as received:
                document = _document(received, self._provider.document_in)
                response = Response(received.status, received.headers, document)
        except UnusableURL:
            raise unusable_endpoint(self._provider) from None
        except RequestFailed as failed:
            text, hint = f"{self._provider.name} gave no answer: {failed.reason}.", self._provider.no_answer_hint
            raise ToolError("NETWORK_ERROR", text, hint=hint or None) from None
        self._learn(response, sent)
        return response

    def _open(self, params: Mapping[str, object]) -> HTTPResponse:
        if self._provider.method == "GET":
            texts = {name: str(value) for name, value in params.items()}
            return self._client.open("GET", self._endpoint, params=texts)
        headers = {"Content-Type": "application/json"}
        return self._client.open("POST", self._endpoint, headers=headers, content=json.dumps(params).encode())

    def _take_turn(self) -> float:
        """Wait for the turn; the instant at which it came."""
        try:
            time.sleep(self._rate_limiter.acquire(self._latest))
        except TurnTooLate as late:
            raise _turn_too_late(self._provider, late) from None
        return time.monotonic()

    def _learn(self, response: Response, sent: float) -> None:
        windows = response.windows
        used_up = [sent + one.reset for one in windows if one.is_short and one.is_exhausted and one.reset]
        has_limits = any(window.limit is not None for window in windows)
        self._rate_limiter.learn(limits_of(windows) if has_limits else None, max(used_up, default=0.0))

    def _wait(self, error: ProviderRefusal, attempt: int) -> None:
        """Have all calls of the key wait for as long as the answer says; raises the error where that is no use."""
        if error.wait is None:
            raise error
        # An answer that says "at once" again and again must not make a loop of it.
        again = time.monotonic() + max(error.wait, _FIRST_WAIT_SECONDS * 2**attempt)
        if again > self._latest or (error.quota.is_guess and self._budget.guesses >= _MAX_GUESSES):
            raise error
        self._rate_limiter.learn(limits_of([Window(*error.quota.pace)]) if error.quota.pace else None, again)

    def _read(self, response: Response) -> Reply:
        if response.document is None:
            text, hint = f"{self._provider.name} sent something else than a JSON object.", self._provider.hints
            raise ToolError(API_ERROR, text, hint=hint.get(response.status))
        try:
            reply = self._provider.read(response.document)
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            # As its cause, FERRULE_DEBUG shows where the shape was another one.
            raise ToolError(API_ERROR, f"{self._provider.name} sent JSON of an unexpected shape.") from error
        return reply._replace(incomplete=redact_text(reply.incomplete, self._secrets)) if reply.incomplete else reply


def _list_tokens(headers: Mapping[str, str]) -> list[str]:
    """What stands behind the scheme in `Authorization`: a token that was made out of keys is as secret as they are."""
    values = (value for name, value in headers.items() if name.lower() == "authorization")
    return [token for value in values if (token := value.partition(" ")[2].strip())]


def _document(response: HTTPResponse, read_text: Callable[[str], JSONMapping | None]) -> JSONMapping | None:
    """The JSON object in a body, or what `read_text` makes of another one; None if there is none.

    A refusal counts even where its body does not come.
    """
    if 300 <= response.status < 400:
        return None
    try:
        body = response.read(MAX_BODY_BYTES)
    except RequestFailed:
        if response.status < 300:
            raise
        return None
    if not response.complete:
        return None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return read_text(body.decode(errors="replace").strip())
    return document if isinstance(document, dict) else None


def _turn_too_late(provider: Provider, late: TurnTooLate) -> ToolError:
    pace = " and ".join(f"{limit} in {format_seconds(seconds)}" for limit, seconds in late.limits) or "none for a while"
    return ToolError(
        RATE_LIMIT,
        f"Rate limit exceeded. The calls of this machine take turns, since {provider.name} allows {pace}; "
        f"the turn of this one would come in {format_seconds(late.seconds)}, too late for it.",
        retry_after=ceil(late.seconds),
    )
