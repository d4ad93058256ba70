"""A page as its scripts have written it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ferrule_research.page.browser.connection import BrowserEnded, Connection
from ferrule_research.page.browser.program import run_browser
from ferrule_research.page.browser.requests import Requests

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_fetch.library import Page

MAX_SECONDS = 15.0
MAX_CHARS = 8 << 20
_QUIET_SECONDS = 0.5  # without a request, after which a page is taken for written
_SHARE = 0.5  # of the time that is left

# Scripts have done what they were there for; linked data is read for the citation.
_READ = f"""\
document.querySelectorAll("script:not([type='application/ld+json']),noscript").forEach((each) => each.remove());
document.documentElement.outerHTML.slice(0, {MAX_CHARS})"""
# Ways out that no request is made for. They fail without this, too.
_WITHOUT = """\
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "WebSocket", "Worker",
  "SharedWorker", "EventSource"]) delete globalThis[name];"""


def render(page: Page, program: str, context: Context) -> str | None:
    """The HTML of a page after its scripts have run, in a browser of its own; None where that cannot be had.

    Args:
        page: the page as it was fetched; it is not asked for again.
        program: the path of the browser.
        context: of the call, a part of whose time this takes.
    """
    deadline = time.monotonic() + min(MAX_SECONDS, context.remaining() * _SHARE)
    woken, wake = os.pipe()
    try:
        with run_browser(program, woken) as connection:
            requests = Requests(connection, page, context, deadline, wake)
            try:
                return _Visit(connection, requests).read(page.url, deadline)
            finally:
                requests.close()
    except (BrowserEnded, OSError):
        return None
    finally:
        os.close(woken)
        os.close(wake)


class _Visit:
    """One page in the browser, from its first request to its HTML."""

    def __init__(self, connection: Connection, requests: Requests) -> None:
        self._connection, self._requests = connection, requests
        self._answers: dict[int, JSONObject] = {}
        self._has_loaded = False

    def read(self, url: str, deadline: float) -> str | None:
        """Open the page, wait until it is written, and read it."""
        target = self._call(deadline, "Target.createTarget", url="about:blank")["targetId"]
        session = str(self._call(deadline, "Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        self._connection.send("Browser.setDownloadBehavior", behavior="deny")
        self._connection.send("Page.enable", session)
        self._connection.send("Network.enable", session)
        self._connection.send("Network.setBypassServiceWorker", session, bypass=True)
        self._connection.send("Page.addScriptToEvaluateOnNewDocument", session, source=_WITHOUT)
        self._call(deadline, "Fetch.enable", session, patterns=[{"urlPattern": "*"}])
        self._connection.send("Page.navigate", session, url=url)
        self._wait(deadline)
        found = self._call(deadline + 1, "Runtime.evaluate", session, expression=_READ, returnByValue=True)
        result = found.get("result")
        value = result.get("value") if isinstance(result, dict) else None
        return value if isinstance(value, str) else None

    def _wait(self, deadline: float) -> None:
        """Until the page has loaded and asks for nothing, for a short while, or the time is over."""
        quiet_since = time.monotonic()
        while (now := time.monotonic()) < deadline:
            is_quiet = self._has_loaded and not self._requests.waiting
            if is_quiet and now - quiet_since >= _QUIET_SECONDS:
                return
            message = self._connection.receive(min(deadline, quiet_since + _QUIET_SECONDS) if is_quiet else deadline)
            if self._take(message) or not is_quiet:
                quiet_since = time.monotonic()

    def _take(self, message: JSONObject | None) -> bool:
        """Take what the browser says. Whether it is about a request, or that the page has loaded."""
        self._requests.give_answers()
        if message is None:
            return False
        if "id" in message:
            self._answers[message["id"]] = message
        elif message.get("method") == "Fetch.requestPaused":
            self._requests.take(message["params"], message.get("sessionId", ""))
            return True
        elif message.get("method") == "Page.loadEventFired":
            self._has_loaded = True
            return True
        return False

    def _call(self, deadline: float, method: str, session: str = "", **parameters: object) -> JSONObject:
        """Send a command and wait for its result. Raises BrowserEnded where it does not come, or is an error."""
        number = self._connection.send(method, session, **parameters)
        while number not in self._answers:
            if time.monotonic() >= deadline:
                raise BrowserEnded
            self._take(self._connection.receive(deadline))
        result = self._answers.pop(number).get("result")
        if not isinstance(result, dict):
            raise BrowserEnded
        return result
