"""Requests to one service: in turn with all other processes, bounded in every way, and with its errors in words."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Self
from urllib.parse import urljoin, urlsplit

from ferrule.errors import CredentialMissing, ToolError
from ferrule.http import Client, RequestFailed, UnusableURL
from ferrule.text.plain_text import plain_text
from ferrule.text.redaction import redact
from ferrule_scholar.asking.settings import contact_of, endpoint_of
from ferrule_websearch import CircuitBreaker, RateLimiter, TurnTooLate, format_seconds

if TYPE_CHECKING:
    from types import TracebackType
    from xml.etree.ElementTree import Element

    from ferrule import Context
    from ferrule.http import Response
    from ferrule_scholar.asking.service import Service

MAX_BODY_BYTES = 8 << 20  # a paper with thousands of references
_MAX_REASON_CHARS = 200
_GUESSED_WAIT_SECONDS = 1.0  # after a refusal that does not say how long
_MAX_ATTEMPTS = 2
_MAX_REDIRECTS = 4
_SHAPES = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
SHAPE_ERRORS = _SHAPES
"""What reading a document raises that is not as it was expected."""


class ScholarClient:
    """Asks one service until a deadline; a context manager. Everything that goes wrong is a ToolError without a key.

    What it takes of the context it takes when it is made, so that it may be used in another thread.

    Args:
        deadline: an instant of `time.monotonic()`.
    """

    def __init__(self, service: Service, context: Context, deadline: float) -> None:
        self.service = service
        self.email = contact_of(context)
        self.key = _find_key(service, context)
        self.deadline = deadline
        self.requests = 0
        self._endpoint = endpoint_of(context, service.setting, service.variable, service.endpoint)
        identity = (self._endpoint, self.key)
        self._pace = RateLimiter("scholar", *identity)
        self._breaker = CircuitBreaker("scholar", *identity)
        known = (self.key and service.pace_with_key) or (self.email and service.pace_with_contact)
        self._limits = known or service.pace
        self._client = Client(deadline, headers={"User-Agent": user_agent(self.email)})
        self._is_admitted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get_json(
        self, path: str, params: Mapping[str, str] | None = None, *, headers: Mapping[str, str] | None = None
    ) -> object | None:
        """The document at a path of the service; None for a 404. Raises ToolError."""
        body = self._get(path, params or {}, {"Accept": "application/json", **(headers or {})})
        if body is None:
            return None
        try:
            document: object = json.loads(body)
        except (ValueError, RecursionError):
            raise self._fault("API_ERROR", "sent something else than JSON") from None
        return document

    def get_xml(self, path: str, params: Mapping[str, str] | None = None) -> Element | None:
        """The root of the XML at a path; None for a 404. Raises ToolError."""
        from ferrule_scholar.asking.xml_document import XMLRefused, parse_xml

        body = self._get(path, params or {}, {"Accept": "application/xml, application/atom+xml, text/xml"})
        if body is None:
            return None
        try:
            return parse_xml(body)
        except XMLRefused:
            raise self._fault("API_ERROR", "sent something else than XML, or XML that is not safe to read") from None

    def refusal(self, words: str, *, kind: str = "") -> ToolError:
        """The error of a service that refuses in a document of its own. words: as it has them; no key stays in them."""
        return self._fault("API_ERROR", f"refused the request: {self._clean(words)}", kind=kind)

    def _get(self, path: str, params: Mapping[str, str], headers: Mapping[str, str]) -> bytes | None:
        query = {**params, **({self.service.contact: self.email} if self.service.contact and self.email else {})}
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            self._take_turn()
            self.requests += 1
            status, waiting, body = self._send(path, query, headers)
            if status in (429, 503) and self._may_repeat(waiting, attempt):
                continue
            if 200 <= status < 300:
                self._breaker.record_answer()
                return body
            if status in (404, 410):
                self._breaker.record_answer()
                return None
            raise self._refusal(status, waiting, body)
        raise AssertionError("the last attempt returns or raises")

    def _send(
        self, path: str, params: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[int, float | None, bytes]:
        url, query = self._endpoint + path, params
        try:
            for _ in range(_MAX_REDIRECTS):
                with self._client.open("GET", url, params=query, headers=headers) as response:
                    place = self._next_place(url, response)
                    if not place:
                        return response.status, response.retry_after, self._read(response)
                url, query = place, {}
        except UnusableURL:
            raise self._fault("NETWORK_ERROR", "cannot be asked at the URL that is set for it") from None
        except RequestFailed as failed:
            self._breaker.record_failure()
            raise self._fault("NETWORK_ERROR", f"gave no answer: {failed.reason}", kind="network") from None
        raise self._fault("API_ERROR", "leads from one place to the next")

    def _next_place(self, url: str, response: Response) -> str:
        """Where a redirect leads that may be followed: by https, or as the endpoint itself is asked; "" for none."""
        hosts, location = self.service.hands_on, response.headers.get("location", "")
        if hosts is None or not 300 <= response.status < 400 or not location:
            return ""
        try:
            place, own = urlsplit(urljoin(url, location)), urlsplit(self._endpoint)
            is_known = place.scheme == "https" and place.netloc.lower().removesuffix(":443") in hosts
        except ValueError:
            return ""
        return place.geturl() if is_known or place[:2] == own[:2] else ""

    def _read(self, response: Response) -> bytes:
        body = response.read(MAX_BODY_BYTES)
        if not response.complete and response.status < 300:
            raise self._fault("API_ERROR", "sent more than can be read")
        return body

    def _take_turn(self) -> None:
        """Wait for the turn among all processes. Raises ToolError where it comes too late, or the service rests."""
        if not self._is_admitted:
            rest = self._breaker.admit(max(0.1, self.deadline - time.monotonic()))
            if rest:
                text = f"failed or refused lately, and is asked again in {format_seconds(rest)}"
                raise self._fault("RATE_LIMIT", text, kind="rate_limited", wait=rest)
            self._is_admitted = True
        self._pace.learn(self._limits)
        try:
            time.sleep(self._pace.acquire(self.deadline))
        except TurnTooLate as late:
            text = f"is asked in turns, and the turn of this call would come in {format_seconds(late.seconds)}"
            raise self._fault("RATE_LIMIT", text, kind="rate_limited", wait=late.seconds) from None

    def _may_repeat(self, waiting: float | None, attempt: int) -> bool:
        """Whether it is worth waiting for: all processes wait then."""
        again = time.monotonic() + (_GUESSED_WAIT_SECONDS if waiting is None else waiting)
        if attempt == _MAX_ATTEMPTS or again + _GUESSED_WAIT_SECONDS > self.deadline:
            return False
        self._pace.learn(None, again)
        return True

    def _refusal(self, status: int, waiting: float | None, body: bytes) -> ToolError:
        if status == 429:
            self._breaker.record_rate_limit(waiting)
            return self._fault("RATE_LIMIT", "takes no more requests for now", kind="rate_limited", wait=waiting)
        if status >= 500:
            self._breaker.record_failure()
            return self._fault("API_ERROR", f"answered with HTTP {status}", kind="upstream_unavailable", wait=waiting)
        self._breaker.record_answer()
        reason = self._reason(body)
        if status in (401, 403) and self.key:
            return self._fault("AUTH_INVALID", f"refused the key{reason}", kind="auth_required")
        return self._fault("API_ERROR", f"answered with HTTP {status}{reason}", kind="blocked" if status == 403 else "")

    def _reason(self, body: bytes) -> str:
        """The service's own words, after a colon, without the key and the contact; "" where it says nothing in JSON."""
        try:
            facts = json.loads(body)
        except (ValueError, RecursionError):
            return ""
        words = next((facts[name] for name in ("message", "error", "errMsg") if _is_text(facts, name)), "")
        text = self._clean(words)
        return f": {text}" if text else ""

    def _clean(self, words: str) -> str:
        """A service's own words as an error may have them: on one line, without the key, the contact and controls."""
        secrets = [secret for secret in (self.key, self.email) if secret]
        clean = redact(plain_text(words, html=False).encode(errors="replace"), secrets).decode(errors="replace")
        return clean[:_MAX_REASON_CHARS].rstrip(". ")  # after the redaction, since a part of a key is not found

    def _fault(self, code: str, text: str, *, kind: str = "", wait: float | None = None) -> ToolError:
        return service_error(self.service.label, code, text, kind=kind, wait=wait)


def service_error(label: str, code: str, text: str, *, kind: str = "", wait: float | None = None) -> ToolError:
    """The error of one service: `LABEL TEXT.`

    Args:
        label: the service as people call it.
        kind: `upstream_unavailable` by default.
        wait: seconds, where they are known.
    """
    named = kind or "upstream_unavailable"
    details: dict[str, object] = {
        "kind": named,
        "retryable": named in ("rate_limited", "network", "upstream_unavailable"),
        "provider": label,
    }
    if wait is not None:
        details["retryAfterSeconds"] = ceil(wait)
    return ToolError(code, f"{label} {text}.", details=details, retry_after=None if wait is None else ceil(wait))


def shape_error(label: str) -> ToolError:
    """The error of a service whose document is not as its documentation says."""
    return service_error(label, "API_ERROR", "sent a document of an unexpected shape")


def user_agent(email: str) -> str:
    """Who asks, and how to reach them."""
    return f"ferrule-scholar (mailto:{email})" if email else "ferrule-scholar"


def objects(value: object) -> list[Mapping[str, object]]:
    """The objects of a list of JSON; what is something else is left out, and what is no list is empty."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def mapping(value: object) -> Mapping[str, object]:
    """An object of JSON; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """Text of JSON on one line; "" for anything else."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def texts(value: object) -> Sequence[str]:
    """The texts of a list of JSON."""
    return [text(one) for one in value if text(one)] if isinstance(value, list) else []


def whole(value: object) -> int | None:
    """A whole number of JSON, or one that is written as text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10 else None


def _is_text(facts: object, name: str) -> bool:
    return isinstance(facts, dict) and isinstance(facts.get(name), str)


def _find_key(service: Service, context: Context) -> str:
    """The key, where one is set; "" where the service is asked without."""
    if not service.credential:
        return ""
    try:
        return context.credential(service.credential)
    except CredentialMissing as error:
        if (error.details or {}).get("problem"):  # it is set, and cannot be sent
            raise
        return ""
    except KeyError:  # of a scholar whose key this tool does not declare
        return ""
