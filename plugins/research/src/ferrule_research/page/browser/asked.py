"""A request of a page, as the browser tells of it: whether it is fetched, and which headers go there and come back."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urlsplit

from ferrule_fetch.library import ResourceRequest

if TYPE_CHECKING:
    from ferrule import JSONObject

MAX_SENT_BYTES = 256 << 10

_DOCUMENT = "Document"
_WANTED = (_DOCUMENT, "Script", "XHR", "Fetch")
_DATA = ("XHR", "Fetch")
_PREFLIGHT = "OPTIONS"
_PREFLIGHT_MARK = "access-control-request-method"
_READING, _WRITING = ("GET", "HEAD"), ("POST",)
# What any page may send to any server, without a word of that server.
_SIMPLE_TYPES = ("", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded")

_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[ -~]{0,4000}")
_MAX_HEADERS = 60
# Set by the client, or by nobody.
_OWN_HEADERS = re.compile(
    r"host|user-agent|connection|keep-alive|te|trailer|transfer-encoding|upgrade.*|expect|content-length|date|via|"
    r"accept-encoding|cookie2?|forwarded|x-forwarded-.*|x-real-ip|proxy-.*|sec-.*|dnt"
)
_SHOWN_HEADERS = re.compile(
    r"access-control-.*|content-type|content-language|location|etag|last-modified|retry-after|x-.*"
)

# A page may wait for these, and show nothing where one fails. What they hold has no words.
_PIXEL = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_STAND_INS = {"Stylesheet": ("text/css", b""), "Image": ("image/gif", _PIXEL)}


class Asked(NamedTuple):
    """A request of a page. number, session: by which the browser knows it. kind: as the browser calls it.

    frame: the number of the frame that asks. headers: with names in small letters. content: None for none, or for one
    that the browser does not name.
    """

    number: str
    session: str
    method: str
    url: str
    kind: str
    frame: str
    headers: Mapping[str, str]
    content: bytes | None

    @classmethod
    def of(cls, event: JSONObject, session: str) -> Self:
        """The request of an event. Raises KeyError, TypeError and ValueError where it is none."""
        asked = event["request"]
        headers = {str(name).lower(): str(value) for name, value in asked["headers"].items()}
        entries = asked.get("postDataEntries")
        content = b"".join(b64decode(entry["bytes"]) for entry in entries) if entries else None
        url = str(asked["url"]).partition("#")[0]
        kind, frame = str(event["resourceType"]), str(event.get("frameId", ""))
        return cls(str(event["requestId"]), session, str(asked["method"]), url, kind, frame, headers, content)

    @property
    def is_document(self) -> bool:
        """Whether it is a page of its own: the page itself, or one in a frame."""
        return self.kind == _DOCUMENT

    @property
    def is_wanted(self) -> bool:
        """Whether it is sent: to a server of the web, for what can have words, and by a method that is safe here."""
        is_web = self.url.startswith(("http://", "https://"))
        return is_web and self.kind in _WANTED and (self.method in _READING or self._may_be_sent())

    def _may_be_sent(self) -> bool:
        """Whether a request that is no GET is sent.

        A script may send to its own server, and to one that has agreed: the browser has asked that before it sends
        what no form can. A form, or a script that sends what a form could, writes to servers that nobody has asked.
        """
        if self.kind not in _DATA:
            return False
        if self.method == _PREFLIGHT:
            return self.headers.get(_PREFLIGHT_MARK, "") in (*_READING, *_WRITING)
        if self.method not in _WRITING or self.content is None or len(self.content) > MAX_SENT_BYTES:
            return False
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        return kind not in _SIMPLE_TYPES or self.headers.get("origin") == _origin_of(self.url)

    def request(self) -> ResourceRequest:
        """What is sent."""
        sent = {name: value for name, value in self.headers.items() if _is_sent(name, value)}
        return ResourceRequest(
            self.method, self.url, dict(list(sent.items())[:_MAX_HEADERS]), self.content, self.is_document
        )


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _is_sent(name: str, value: str) -> bool:
    return bool(_NAME.fullmatch(name) and _VALUE.fullmatch(value)) and not _OWN_HEADERS.fullmatch(name)


def headers_for_browser(headers: Mapping[str, str]) -> dict[str, str]:
    """What the browser gets of an answer's headers: by which it judges who may read it, and what scripts read.

    It learns of no cookie, and of nothing that has it ask for more.
    """
    shown = {
        name: value
        for name, value in headers.items()
        if _NAME.fullmatch(name) and _VALUE.fullmatch(value) and _SHOWN_HEADERS.fullmatch(name)
    }
    return dict(list(shown.items())[:_MAX_HEADERS])


def stand_in_for(asked: Asked) -> tuple[dict[str, str], bytes] | None:
    """The headers and the body of what a page gets without a request; None for what is not answered so."""
    if asked.kind not in _STAND_INS or not asked.url.startswith(("http://", "https://")):
        return None
    kind, body = _STAND_INS[asked.kind]
    headers = {"content-type": kind, "access-control-allow-origin": asked.headers.get("origin", "*")}
    return headers | {"access-control-allow-credentials": "true"}, body
