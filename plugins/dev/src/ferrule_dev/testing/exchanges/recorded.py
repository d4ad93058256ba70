"""One request and its answer, as they stand in a file: readable, and without any credential."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, NamedTuple, Required, TypedDict
from urllib.parse import parse_qsl

from ferrule.admin.author_interface import may_be_secret
from ferrule.text import redaction, strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MASK = redaction.REDACTED.decode()
_SHORT_MASK = "****"
# What an agent of HTTP adds by itself, or what differs from run to run.
UNRECORDED = frozenset(
    (
        *("accept-encoding", "connection", "content-length", "host", "keep-alive", "proxy-connection", "te"),
        *("traceparent", "transfer-encoding", "upgrade", "user-agent"),
    )
)
_UNRECORDED_OF_ANSWERS = frozenset(
    ("connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding")
)
_SECRET_HEADERS = frozenset(("authorization", "cookie", "proxy-authorization"))
_SECRET_FIELDS = frozenset(  # in small letters, whatever joins their words
    (
        *("accesstoken", "apikey", "authtoken", "clientsecret", "idtoken", "key"),
        *("password", "refreshtoken", "secret", "sessiontoken", "sig", "signature", "token"),
    )
)
# Shorter ones, such as x-ratelimit-remaining-tokens has them, are none, and the tool may need to read them.
_MIN_SECRET_HEADER_CHARS = 16
_MAX_DECODED_BYTES = 16 << 20
_COOKIE = re.compile(r"(?<==)[^;]*")
_BOUNDARY = re.compile(r'boundary="?([^";,\s]+)')


class Body(TypedDict, total=False):
    """A body in one of its spellings; none of the keys if there is no body."""

    json: Any
    text: str
    base64: str


class RecordedRequest(Body, total=False):
    """What was asked. headers: names in small letters."""

    method: Required[str]
    url: Required[str]
    headers: Required[dict[str, str]]


class RecordedAnswer(Body, total=False):
    """What came back. headers: pairs of name and value, in their order."""

    status: Required[int]
    reason: Required[str]
    headers: Required[list[list[str]]]


class RecordedExchange(TypedDict):
    """A request and its answer."""

    request: RecordedRequest
    answer: RecordedAnswer


class Writer(NamedTuple):
    """Writes requests and answers down, without the secrets and without what a name says is secret."""

    secrets: Sequence[str]

    def request(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> RecordedRequest:
        """The request as it is recorded.

        Args:
            headers: names in small letters.
        """
        kept = {name: value for name, value in headers.items() if not _is_unrecorded(name)}
        if boundary := _BOUNDARY.search(kept.get("content-type", "")):
            body = body.replace(boundary[1].encode(), b"boundary")
            kept["content-type"] = kept["content-type"].replace(boundary[1], "boundary")
        shown = {name: MASK if _is_secret(name) else self._text(value) for name, value in sorted(kept.items())}
        body = _decode(body, kept.get("content-encoding", ""))
        # Many clients send JSON without saying so.
        kind = kept.get("content-type", "json" if body[:1] in (b"{", b"[") else "")
        written = self._body(body, kind)
        return {"method": method, "url": self._url(url), "headers": shown, **written}

    def answer(self, status: int, reason: str, headers: Iterable[tuple[str, str]], body: bytes) -> RecordedAnswer:
        """The answer as it is recorded.

        Args:
            body: without its content encoding.
        """
        pairs = [[name, value] for name, value in headers if name.lower() not in _UNRECORDED_OF_ANSWERS]
        kind = "".join(value for name, value in pairs if name.lower() == "content-type")
        shown = [[name, self._header_of_answer(name.lower(), value)] for name, value in pairs]
        return {"status": status, "reason": reason, "headers": shown, **self._body(body, kind)}

    def _header_of_answer(self, name: str, value: str) -> str:
        if name == "set-cookie":
            return _COOKIE.sub(MASK, value, count=1)
        if name == "location":
            return self._url(value)
        is_secret = may_be_secret(name) and not name.endswith("-authenticate")
        return MASK if is_secret and len(value) >= _MIN_SECRET_HEADER_CHARS else self._text(value)

    def _url(self, url: str) -> str:
        base, mark, query = url.partition("?")
        return self._text(base + mark + "&".join(map(self._field, query.split("&"))))

    def _field(self, field: str) -> str:
        name, equals, _ = field.partition("=")
        return f"{name}={MASK}" if equals and _is_secret_field(name) else field

    def _text(self, text: str) -> str:
        return redaction.redact(text.encode(), self.secrets).decode(errors="replace")

    def _body(self, body: bytes, content_type: str) -> Body:
        if not body:
            return {}
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return {"base64": b64encode(redaction.redact(body, self.secrets)).decode()}
        if "json" in content_type:
            try:
                return {"json": redaction.redact_value(_without_secret_fields(strict_json.loads(text)), self.secrets)}
            except strict_json.MalformedJSON:
                pass
        if "x-www-form-urlencoded" in content_type:
            text = "&".join(map(self._field, text.split("&")))
        return {"text": self._text(text)}


def as_it_came(status: int, reason: str, headers: Iterable[tuple[str, str]], body: bytes) -> RecordedAnswer:
    """An answer for the tool itself, with everything that is secret.

    Args:
        body: without its content encoding.
    """
    pairs = [[name, value] for name, value in headers if name.lower() not in _UNRECORDED_OF_ANSWERS]
    return {"status": status, "reason": reason, "headers": pairs, "base64": b64encode(body).decode()}


def body_of(recorded: Body) -> bytes:
    """The bytes of a recorded body."""
    if "json" in recorded:
        return strict_json.dumps(recorded["json"])
    return b64decode(recorded["base64"]) if "base64" in recorded else recorded.get("text", "").encode()


def comparable(request: RecordedRequest, headers: frozenset[str], parameters: frozenset[str]) -> str:
    """What two requests have in common that count as the same, as text that a person can read, a thing a line.

    headers, parameters: names of headers and of parameters of the query that do not count. The order of parameters
    does not count, either.
    """
    base, _, query = request["url"].partition("?")
    fields = sorted(parse_qsl(query, keep_blank_values=True))
    lines = [f"{request['method']} {base}"]
    lines += [f"  ? {name} = {value}" for name, value in fields if name not in parameters]
    lines += [f"  {name}: {value}" for name, value in sorted(request["headers"].items()) if name not in headers]
    text = "\n".join([*lines, *_lines_of_body(request)])
    return text.replace(_SHORT_MASK, MASK) + "\n"


def _lines_of_body(recorded: Body) -> list[str]:
    if "json" not in recorded:
        whole = recorded.get("text") or recorded.get("base64") or ""
        return [f"  {line}" for line in whole.split("\n")] if whole else []
    import json

    shown = json.dumps(recorded["json"], indent=2, sort_keys=True, ensure_ascii=False)
    return [f"  {line}" for line in shown.split("\n")]


def _is_unrecorded(header: str) -> bool:
    return header in UNRECORDED or header.startswith("x-stainless-")


def _is_secret(header: str) -> bool:
    return header in _SECRET_HEADERS or may_be_secret(header)


def _is_secret_field(name: str) -> bool:
    return name.lower().replace("_", "").replace("-", "") in _SECRET_FIELDS


def _decode(body: bytes, content_encoding: str) -> bytes:
    """The body that a client has compressed, in which a key could not be found; itself where that is not known."""
    if not content_encoding:
        return body
    from ferrule.http import BodyUnreadable, decoder

    try:
        return decoder(content_encoding).feed(body, _MAX_DECODED_BYTES)
    except BodyUnreadable:
        return body


def _without_secret_fields(value: object) -> object:
    if isinstance(value, dict):
        return {
            name: MASK if _is_secret_field(name) and isinstance(one, str) else _without_secret_fields(one)
            for name, one in value.items()
        }
    return [_without_secret_fields(one) for one in value] if isinstance(value, list) else value
