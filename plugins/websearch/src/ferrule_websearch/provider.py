"""What a search provider says about itself; the rest is the same for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ferrule.http.retry_after import retry_after
from ferrule_websearch.rate_limit_headers import Window, windows

if TYPE_CHECKING:
    from ferrule.tool.credentials import Credential
    from ferrule_websearch.pagination import Plan, Query, Reply

AUTH_INVALID, RATE_LIMIT, API_ERROR = "AUTH_INVALID", "RATE_LIMIT", "API_ERROR"

Json = Mapping[str, Any]


class Request(NamedTuple):
    """What every request of a call has beside its page's parameters. It holds the keys."""

    params: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}


class Answer(NamedTuple):
    """What a provider answered. headers: letter case does not matter. document: None where it is no JSON object."""

    status: int
    headers: Mapping[str, str]
    document: Json | None

    @property
    def is_success(self) -> bool:
        """Whether it is no refusal; some providers refuse with status 200."""
        return 200 <= self.status < 300 and not (self.document and self.document.get("error"))

    @property
    def windows(self) -> list[Window]:
        """The limits of the plan, as the headers tell them."""
        return windows(self.headers)


class Fault(NamedTuple):
    """Why a provider refused, in its own words. names: its codes for it. text: its sentence. Both may be empty."""

    names: tuple[str, ...] = ()
    text: str = ""


class Quota(NamedTuple):
    """What a refused request says about the plan.

    is_spent: the quota of a day or a month is used up, and no call can wait for the next one; None where that is not
    told. wait: seconds after which a request may be taken, None where that is not told. pace: requests and seconds
    that the plan allows, where the body tells what the headers do not.
    """

    is_spent: bool | None = None
    wait: float | None = None
    pace: tuple[int, float] | None = None

    @classmethod
    def spent(cls, answer: Answer) -> Self:
        """The quota of a day or a month is used up, until the headers say."""
        long = [window for window in answer.windows if not window.is_short]
        resets = _resets(_exhausted(long)) or _resets(long)
        return cls(True, max(resets, default=retry_after(answer.headers)))

    @classmethod
    def passing(cls, answer: Answer, default: float | None = None) -> Self:
        """Too many requests came at once; the headers say for how long none is taken, else `default` does."""
        short = [window for window in answer.windows if window.is_short]
        wait = retry_after(answer.headers)
        if wait is None:
            wait = max(_resets(_exhausted(short)), default=min(_resets(short), default=default))
        return cls(None if wait is None else False, wait)


class Provider:
    """One search API: subclass it, and hand an instance to `search`.

    name: as people call it. endpoint: the URL before the query string, which the environment variable
    `endpoint_variable` replaces. credentials: as the tool's hook returns them. setup: the error where a credential is
    missing, in front of which the provider's reason stands where it refused one; `setup_event` is the event that goes
    with a missing one. Without them the host's own words are used. quota_spent: the error where the quota is used up.
    codes: error codes for the provider's own names of faults, the first that fits; else the status decides.
    """

    name: str
    endpoint: str
    endpoint_variable: str
    credentials: Sequence[Credential] = ()
    setup: str = ""
    setup_event: Mapping[str, object] | None = None
    quota_spent: str = "Rate limit exceeded. The search quota is used up."
    codes: Mapping[str, str] = {}
    statuses: Mapping[int, str] = {401: AUTH_INVALID, 403: AUTH_INVALID, 429: RATE_LIMIT}

    def request(self, keys: Mapping[str, str]) -> Request:
        """Where the keys go. keys: the values of the credentials by name."""
        return Request()

    def plan(self, query: Query) -> Plan:
        """The pages to ask for."""
        raise NotImplementedError

    def read(self, document: Json) -> Reply:
        """The results of an answer. Raises LookupError, TypeError or AttributeError for a document of another shape."""
        raise NotImplementedError

    def fault(self, document: Json) -> Fault:
        """Why the provider refused, from the JSON object of an error; `{}` where there was none."""
        error = document.get("error")
        text = error if isinstance(error, str) else error.get("message") if isinstance(error, dict) else None
        return Fault((), text if isinstance(text, str) else "")

    def quota(self, answer: Answer, fault: Fault) -> Quota:
        """What a refusal with RATE_LIMIT says about the plan: here by X-RateLimit-* and Retry-After."""
        is_spent = any(window.is_exhausted and not window.is_short for window in answer.windows)
        return Quota.spent(answer) if is_spent else Quota.passing(answer)


def _exhausted(windows: Iterable[Window]) -> list[Window]:
    return [window for window in windows if window.is_exhausted]


def _resets(windows: Iterable[Window]) -> list[float]:
    return [window.reset for window in windows if window.reset is not None]
