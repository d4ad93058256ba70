"""What a page in the browser asks for, and the answers: fetched by the client and the guard of `web_fetch`."""

from __future__ import annotations

import os
from base64 import b64encode
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from ferrule import ToolError
from ferrule_fetch.library import FetchOptions, Page, StatusError, fetch

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_research.page.browser.connection import Connection

MAX_REQUESTS = 200
MAX_BYTES = 8 << 20  # of one answer
_THREADS = 4
_WANTED = ("Document", "Script", "XHR", "Fetch")
_OPTIONS = FetchOptions("*/*", lambda _: MAX_BYTES, lambda _: True, may_be_partial=False)


class _Answer(NamedTuple):
    session: str
    request: str
    status: int
    type: str
    body: bytes


class Requests:
    """Answers the requests of one page.

    Args:
        wake: a descriptor that gets a byte when an answer has come.
        page: what the first request for its URL gets, without asking again.
        deadline: of `time.monotonic()`.
    """

    def __init__(self, connection: Connection, page: Page, context: Context, deadline: float, wake: int) -> None:
        self._connection, self._page, self._context = connection, page, context
        self._deadline, self._wake = deadline, wake
        self._pool = ThreadPoolExecutor(_THREADS, "request of a page")
        self._done: deque[_Answer] = deque()
        self._count = 0
        self.waiting = 0

    def take(self, event: JSONObject, session: str) -> None:
        """Take a request that the browser has paused."""
        number, asked = str(event["requestId"]), event["request"]
        url = str(asked["url"]).partition("#")[0]
        if self._count == 0 and event["resourceType"] == "Document":
            self._count = 1
            self._fulfil(_Answer(session, number, 200, self._page.content_type or "text/html", self._page.body))
        elif not self._is_wanted(url, str(asked["method"]), str(event["resourceType"])):
            self._connection.send("Fetch.failRequest", session, requestId=number, errorReason="BlockedByClient")
        else:
            self._count += 1
            self.waiting += 1
            self._pool.submit(self._fetch, session, number, url)

    def _is_wanted(self, url: str, method: str, kind: str) -> bool:
        is_web = url.startswith(("http://", "https://"))
        return is_web and method == "GET" and kind in _WANTED and self._count < MAX_REQUESTS

    def _fetch(self, session: str, number: str, url: str) -> None:
        answer = _Answer(session, number, 0, "", b"")
        asked_by = self._page.url
        try:
            page = fetch(
                url, self._context, deadline=self._deadline, options=_OPTIONS, is_page=False, asked_by=asked_by
            )
            answer = _Answer(session, number, 200, page.content_type, page.body)
        except StatusError as error:
            answer = answer._replace(status=error.status)
        except (ToolError, ValueError):
            pass  # the browser gets no answer
        finally:
            self._done.append(answer)
            os.write(self._wake, b"\0")

    def give_answers(self) -> None:
        """Give the browser the answers that have come."""
        while self._done:
            self.waiting -= 1
            self._fulfil(self._done.popleft())

    def _fulfil(self, answer: _Answer) -> None:
        if not answer.status:
            self._connection.send(
                "Fetch.failRequest", answer.session, requestId=answer.request, errorReason="AccessDenied"
            )
            return
        headers = [{"name": "Content-Type", "value": answer.type}] if answer.type else []
        self._connection.send(
            "Fetch.fulfillRequest",
            answer.session,
            requestId=answer.request,
            responseCode=answer.status,
            responseHeaders=headers,
            body=b64encode(answer.body).decode(),
        )

    def close(self) -> None:
        """Start no further request, and wait for those that run, which end by the deadline."""
        self._pool.shutdown(cancel_futures=True)
