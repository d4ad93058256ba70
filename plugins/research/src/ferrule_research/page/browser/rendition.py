"""A page as its scripts have written it."""

from __future__ import annotations

import os
import time
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.page.browser.connection import BrowserEnded, BrowserLate, Connection
from ferrule_research.page.browser.program import run_browser
from ferrule_research.page.browser.requests import Requests

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_fetch.library import Page
    from ferrule_research.page.browser.program import Browser

MAX_SECONDS = 15.0
MAX_CHARS = 8 << 20
_QUIET_SECONDS = 0.5  # without a new request, after which a page is taken for written
_SHARE = 0.5  # of the time that is left
_READING_SECONDS = 6.0  # behind the deadline, and no more than this share of the time that was left:
_READING_SHARE = 0.25
_PATIENCE_SECONDS = 0.5  # with scripts that do not end, until they are ended
_READINGS = 4  # of a page that goes to another one meanwhile
_WRITING_SECONDS = 2.5  # in which the HTML of a page is written, or the beginning of it

_READER = "reading.js"
# Ways out that no request is made for. They fail without this, too.
_WITHOUT = """\
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "WebSocket", "Worker",
  "SharedWorker", "EventSource"]) delete globalThis[name];"""


class NotRendered(Exception):
    """A page could not be had from the browser: why, as the end of a sentence that begins with "the browser"."""


class _CommandRefused(BrowserEnded):
    """The browser cannot do this, such as in a page that it has just left."""


class Rendition(NamedTuple):
    """A page that scripts have written. url: where it is from: a script may lead to another page.

    is_whole: False where it has more than `MAX_CHARS`.
    """

    url: str
    html: str
    is_whole: bool


def render(page: Page, program: str, context: Context) -> Rendition:
    """A page after its scripts have run, in a browser of its own.

    Args:
        page: the page as it was fetched; it is not asked for again.
        program: the path of the browser.
        context: of the call, a part of whose time this takes.

    Raises:
        NotRendered.
    """
    left = context.remaining()
    deadline = time.monotonic() + min(MAX_SECONDS, left * _SHARE)
    limit = deadline + min(_READING_SECONDS, left * _READING_SHARE)
    woken, wake = os.pipe()
    try:
        with run_browser(program, woken, limit) as browser:
            requests = Requests(browser.connection, page, context, deadline, wake)
            try:
                return _Visit(browser.connection, requests).read(page.url, deadline, limit)
            except BrowserEnded as error:
                raise NotRendered(_explain(error, browser)) from None
            finally:
                requests.close()
    except OSError as error:
        raise NotRendered(f"could not be started: {error.strerror or error}") from None
    finally:
        os.close(woken)
        os.close(wake)


def _explain(error: BrowserEnded, browser: Browser) -> str:
    """Why there is no page."""
    if isinstance(error, BrowserLate):
        return "could not be started in time" if not browser.connection.has_heard else "did not answer in time"
    return "could not read the page" if isinstance(error, _CommandRefused) else browser.explain_end()


class _Visit:
    """One page in the browser, from its first request to its HTML."""

    def __init__(self, connection: Connection, requests: Requests) -> None:
        self._connection, self._requests = connection, requests
        self._answers: dict[int, JSONObject] = {}
        self._session = self._url = ""
        self._has_begun = self._has_loaded = False

    def read(self, url: str, deadline: float, limit: float) -> Rendition:
        """Open the page, wait until it is written or until the deadline, and read it until the limit.

        Raises BrowserEnded where that cannot be done.
        """
        self._url = url
        frame = str(self._call(deadline, "Target.createTarget", url="about:blank")["targetId"])
        attached = self._call(deadline, "Target.attachToTarget", targetId=frame, flatten=True)
        session = str(attached["sessionId"])
        self._requests.frame = frame
        self._connection.send("Browser.setDownloadBehavior", behavior="deny")
        self._connection.send("Page.addScriptToEvaluateOnNewDocument", session, source=_WITHOUT)
        self._connection.send("Fetch.enable", session, patterns=[{"urlPattern": "*"}])
        self._call(deadline, "Page.enable", session)  # the last one: what follows may overtake what is not answered
        self._session = session
        self._connection.send("Page.navigate", session, url=url)
        self._wait(deadline)
        for _ in range(_READINGS - 1):
            try:
                return self._read_shown(limit)
            except _CommandRefused:  # the page is going elsewhere
                self._wait(min(limit, time.monotonic() + _QUIET_SECONDS))
        return self._read_shown(limit)

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

    def _read_shown(self, deadline: float) -> Rendition:
        """Read the page in a world of its own, in which the page's scripts have changed nothing."""
        self._connection.send("Page.setWebLifecycleState", self._session, state="frozen")  # no more timers
        world = self._call_patiently("Page.createIsolatedWorld", deadline, frameId=self._requests.frame)
        source = files(__package__).joinpath(_READER).read_text()
        found = self._call_patiently(
            "Runtime.evaluate",
            deadline,
            _WRITING_SECONDS + _PATIENCE_SECONDS,
            expression=f"({source})({MAX_CHARS}, {_WRITING_SECONDS * 1_000})",
            contextId=world["executionContextId"],
            returnByValue=True,
        )
        result = found.get("result")
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], str):
            raise _CommandRefused
        return Rendition(self._url, value[1], value[0] is True)

    def _take(self, message: JSONObject | None) -> bool:
        """Take what the browser says. Whether the page goes on: it has loaded, or asks for something new.

        Raises BrowserEnded where it says what no browser says.
        """
        self._requests.give_answers()
        if message is None:
            return False
        try:
            if "id" in message:
                self._answers[message["id"]] = message
                return False
            return self._take_event(str(message.get("method")), message["params"], str(message.get("sessionId", "")))
        except (LookupError, TypeError, ValueError, AttributeError):
            raise BrowserEnded from None

    def _take_event(self, name: str, event: JSONObject, session: str) -> bool:
        if name == "Fetch.requestPaused":
            return self._requests.take(event, session)
        if name == "Page.javascriptDialogOpening":  # until it is answered, nothing goes on
            self._connection.send("Page.handleJavaScriptDialog", session, accept=event["type"] == "beforeunload")
        elif name == "Page.frameNavigated" and "parentId" not in event["frame"]:
            self._has_begun, self._has_loaded = True, False
            self._note_address(str(event["frame"]["url"]))
        elif self._has_begun and not self._has_loaded and self._is_loaded_by(name, event):
            self._has_loaded = True
            return True
        return False

    def _is_loaded_by(self, name: str, event: JSONObject) -> bool:
        """Whether an event says that the page has loaded. It ends without that where a script leads nowhere first."""
        is_end = name == "Page.frameStoppedLoading" and event["frameId"] == self._requests.frame
        return is_end or name == "Page.loadEventFired"

    def _note_address(self, url: str) -> None:
        """Note where the page is from: only what was fetched counts, and not what scripts say of it."""
        if url in self._requests.documents and url != self._url.partition("#")[0]:
            self._url = url

    def _call_patiently(
        self, method: str, deadline: float, patience: float = _PATIENCE_SECONDS, **parameters: object
    ) -> JSONObject:
        """Do what `_call` does for a command that waits for the page's scripts, and end those that do not end.

        Args:
            method: the command.
            deadline: an instant of `time.monotonic()`.
            patience: in seconds, after which scripts are ended, and again, as others may have begun.
            parameters: of the command.

        Raises:
            BrowserEnded.
        """
        number = self._connection.send(method, self._session, **parameters)
        while not self._await(number, min(deadline, time.monotonic() + patience)):
            if time.monotonic() >= deadline:
                break
            self._connection.send("Runtime.terminateExecution", self._session)
        return self._result(number, deadline)

    def _await(self, number: int, deadline: float) -> bool:
        """Wait for the answer to a command. Whether it came until an instant."""
        while number not in self._answers and time.monotonic() < deadline:
            self._take(self._connection.receive(deadline))
        return number in self._answers

    def _result(self, number: int, deadline: float) -> JSONObject:
        """The result of a command. Raises BrowserEnded where it does not come, or is an error."""
        if not self._await(number, deadline):
            raise BrowserLate
        result = self._answers.pop(number).get("result")
        if not isinstance(result, dict):
            raise _CommandRefused
        return result

    def _call(self, deadline: float, method: str, session: str = "", **parameters: object) -> JSONObject:
        """Send a command and wait for its result. Raises BrowserEnded where it does not come, or is an error."""
        return self._result(self._connection.send(method, session, **parameters), deadline)
