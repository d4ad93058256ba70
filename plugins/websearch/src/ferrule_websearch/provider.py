"""What a search provider says about itself; the rest is the same for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from ferrule.http import parse_retry_after
from ferrule_websearch.pace.rate_limit_headers import Window, windows

if TYPE_CHECKING:
    from ferrule import Credential
    from ferrule.text.json_types import JSONMapping
    from ferrule_websearch.pagination import Plan, Query, Reply
    from ferrule_websearch.setup import Setup

AUTH_INVALID, RATE_LIMIT, API_ERROR = "AUTH_INVALID", "RATE_LIMIT", "API_ERROR"


class Request(NamedTuple):
    """What every request of a call has besides its page's parameters. It holds the keys."""

    params: Mapping[str, object] = {}
    headers: Mapping[str, str] = {}


class Response(NamedTuple):
    """What a provider answered. headers: letter case does not matter. document: None where it is no JSON object.

    What a provider says in plain text is a document if `Provider.document_in` makes one of it.
    """

    status: int
    headers: Mapping[str, str]
    document: JSONMapping | None

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
    that the plan allows, where the body tells what the headers do not. limit: the requests of the quota that is spent,
    None where that is not told. is_guess: the answer said nothing of `wait`, so few requests are tried by it.
    """

    is_spent: bool | None = None
    wait: float | None = None
    pace: tuple[int, float] | None = None
    limit: int | None = None
    is_guess: bool = False

    @classmethod
    def of_spent_plan(cls, response: Response) -> Self:
        """The quota of a day or a month is used up, until the headers say."""
        long = [window for window in response.windows if not window.is_short]
        resets = _resets(_exhausted(long)) or _resets(long)
        limit = max((window.limit for window in _exhausted(long) if window.limit), default=None)
        return cls(True, max(resets, default=parse_retry_after(response.headers)), limit=limit)

    @classmethod
    def of_short_limit(cls, response: Response, default: float | None = None) -> Self:
        """Too many requests came at once; the headers say for how long none is taken, else `default` does."""
        short = [window for window in response.windows if window.is_short]
        wait = parse_retry_after(response.headers)
        if wait is None:
            wait = max(_resets(_exhausted(short)), default=min(_resets(short), default=None))
        is_guess = wait is None and default is not None
        wait = default if wait is None else wait
        return cls(None if wait is None else False, wait, is_guess=is_guess)


class Provider:
    """One search API: subclass it, and hand an instance to `search`.

    name: as people call it. endpoint: the URL before the query string, which the environment variable
    `endpoint_variable` replaces, or the key `endpoint_setting` of the tool's table, if it has a name; "" where users
    have to name a server of their own. method: GET, or POST, which sends the parameters as a JSON object. credentials:
    as the tool's hook returns them. setup: how to get them, which is told where one is missing or refused; without it
    the host's own words are used. extra_snippets: parameters by which more text of each page is asked for, where the
    admin wants that. quota_spent: the error where the quota is used up. codes: error codes for the provider's own names
    of faults, the first that fits; else `statuses` decide by the status, and what is in neither is API_ERROR. hints:
    what the user can do about an answer with a status that is no use. no_answer_hint: the same where none comes. pace:
    requests and seconds that the provider allows, where its reference says so and its answers do not. empty_statuses:
    of documents that say that nothing was found.
    """

    name: str
    endpoint: str = ""
    endpoint_variable: str
    endpoint_setting: str = ""
    method: str = "GET"
    credentials: ClassVar[Sequence[Credential]] = ()
    setup: Setup | None = None
    quota_spent: str = "Rate limit exceeded. The search quota is used up."
    extra_snippets: ClassVar[Mapping[str, object]] = {}
    codes: ClassVar[Mapping[str, str]] = {}
    statuses: ClassVar[Mapping[int, str]] = {401: AUTH_INVALID, 403: AUTH_INVALID, 429: RATE_LIMIT}
    hints: ClassVar[Mapping[int, str]] = {}
    no_answer_hint: str = ""
    pace: tuple[int, float] | None = None
    empty_statuses: tuple[int, ...] = ()

    def endpoint_at(self, place: str) -> str:
        """The URL to ask, before the query string, where a user has named a place of their own."""
        return place

    def turns_at(self, place: str) -> str:
        """The place whose calls take turns, where several places of a provider share the limits of one key."""
        return place

    def document_in(self, text: str) -> JSONMapping | None:
        """The document that a text means which is no JSON, such as `{"error": text}`; None where it means none."""
        return None

    def request(self, keys: Mapping[str, str]) -> Request:
        """Where the keys go. keys: the values of the credentials by name."""
        return Request()

    def plan(self, query: Query) -> Plan:
        """The pages to ask for."""
        raise NotImplementedError

    def read(self, document: JSONMapping) -> Reply:
        """The results of an answer. Raises LookupError, TypeError or AttributeError for a document of another shape."""
        raise NotImplementedError

    def fault(self, document: JSONMapping) -> Fault:
        """Why the provider refused, from the JSON object of an error; `{}` where there was none."""
        text = error_object(document).get("message") or document.get("error")
        return Fault((), text if isinstance(text, str) else "")

    def describe_spent(self, quota: Quota) -> str:
        """The error where the quota is used up."""
        return self.quota_spent

    def quota(self, response: Response, fault: Fault) -> Quota:
        """What a refusal with RATE_LIMIT says about the plan: here by X-RateLimit-* and Retry-After."""
        is_spent = any(window.is_exhausted and not window.is_short for window in response.windows)
        return Quota.of_spent_plan(response) if is_spent else Quota.of_short_limit(response)


def error_object(document: JSONMapping) -> JSONMapping:
    """The object `error` of a document, empty if there is none."""
    error = document.get("error")
    return error if isinstance(error, dict) else {}


def _exhausted(windows: Iterable[Window]) -> list[Window]:
    return [window for window in windows if window.is_exhausted]


def _resets(windows: Iterable[Window]) -> list[float]:
    return [window.reset for window in windows if window.reset is not None]
