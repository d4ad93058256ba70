"""What a page in the browser asks for, and the answers: fetched by the client and the guard of `web_fetch`."""

from __future__ import annotations

import os
import time
from base64 import b64encode
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from ferrule import ToolError
from ferrule_fetch.library import Page, exchange
from ferrule_research.page.browser.asked import Asked, headers_for_browser, stand_in_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule import Context, JSONObject
    from ferrule_research.page.browser.connection import Connection

MAX_REQUESTS = 200
MAX_POSTS = 30
MAX_BYTES = 8 << 20  # of one answer
MAX_ALL_BYTES = 64 << 20  # of all of them
_SECONDS = 8.0  # for one answer
_THREADS = 6
_OK, _STAY, _FIRST_ERROR = 200, 204, 400
_MAX_STATUS = 599  # that a browser takes


class _Answer(NamedTuple):
    """status: 0 for none. is_new: whether it was waited for."""

    asked: Asked
    status: int = 0
    headers: Mapping[str, str] = {}
    body: bytes = b""
    is_new: bool = False


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
        self._seen: set[tuple[str, str]] = set()
        self._count = self._posts = self._bytes = 0
        self.waiting = 0
        """How many answers have not come, of those that are waited for."""
        self.frame = ""
        """The number of the frame that is the page."""
        self.documents: set[str] = set()
        """The URLs of pages that were given to the browser."""

    def take(self, event: JSONObject, session: str) -> bool:
        """Take a request that the browser has paused. Whether something new is fetched for it."""
        asked = Asked.of(event, session)
        if self._count == 0 and asked.is_document:
            self._count = 1
            self._fulfil(_Answer(asked, _OK, {"content-type": self._page.content_type or "text/html"}, self._page.body))
        elif (stand_in := stand_in_for(asked)) is not None:
            self._fulfil(_Answer(asked, _OK, *stand_in))
        elif not self._is_wanted(asked):
            self._refuse(asked, "BlockedByClient")
        else:
            return self._begin(asked)
        return False

    def _is_wanted(self, asked: Asked) -> bool:
        is_within = self._count < MAX_REQUESTS and self._bytes < MAX_ALL_BYTES
        return is_within and asked.is_wanted and (asked.method != "POST" or self._posts < MAX_POSTS)

    def _begin(self, asked: Asked) -> bool:
        is_new = (asked.method, asked.url) not in self._seen  # what is asked for again and again is no end of a page
        self._seen.add((asked.method, asked.url))
        self._count += 1
        self._posts += asked.method == "POST"
        self.waiting += is_new
        self._pool.submit(self._fetch, asked, is_new)
        return is_new

    def _fetch(self, asked: Asked, is_new: bool) -> None:
        answer = _Answer(asked, is_new=is_new)
        until = min(self._deadline, time.monotonic() + _SECONDS)
        try:
            found = exchange(
                asked.request(), self._context, asked_by=self._page.url, deadline=until, max_bytes=MAX_BYTES
            )
            if found.is_whole:
                status, headers = min(found.status, _MAX_STATUS), headers_for_browser(found.headers)
                answer = _Answer(asked, status, headers, found.body, is_new)
        except (ToolError, ValueError):
            pass  # the browser gets no answer
        finally:
            self._done.append(answer)
            os.write(self._wake, b"\0")

    def give_answers(self) -> None:
        """Give the browser the answers that have come."""
        while self._done:
            answer = self._done.popleft()
            self.waiting -= answer.is_new
            self._bytes += len(answer.body)
            if answer.status and not (answer.status >= _FIRST_ERROR and self._is_page(answer.asked)):
                self._fulfil(answer)
            else:
                self._refuse(answer.asked, "AccessDenied")

    def _fulfil(self, answer: _Answer) -> None:
        if answer.asked.is_document:
            self.documents.add(answer.asked.url)
        self._connection.send(
            "Fetch.fulfillRequest",
            answer.asked.session,
            requestId=answer.asked.number,
            responseCode=answer.status,
            responseHeaders=[{"name": name, "value": value} for name, value in answer.headers.items()],
            body=b64encode(answer.body).decode(),
        )

    def _is_page(self, asked: Asked) -> bool:
        return asked.is_document and asked.frame == self.frame

    def _refuse(self, asked: Asked, reason: str) -> None:
        """Give no answer. Where a script leads away from the page, it stays, and no error takes its place."""
        if self._is_page(asked):
            self._fulfil(_Answer(asked, _STAY))
        else:
            self._connection.send("Fetch.failRequest", asked.session, requestId=asked.number, errorReason=reason)

    def close(self) -> None:
        """Start no further request, and wait for those that run, which end by the deadline."""
        self._pool.shutdown(cancel_futures=True)
