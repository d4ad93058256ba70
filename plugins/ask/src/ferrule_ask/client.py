"""Asks a model, which may call one tool: in this thread, in a coroutine, or in the background."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from ferrule_ask import plan, settings
from ferrule_ask.loop_thread import Background
from ferrule_ask.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from ferrule_ask.answer import Answer, Plan, Usage
    from ferrule_ask.conversation import Event
    from ferrule_ask.keys import Keys
    from ferrule_ask.limits import Limits
    from ferrule_ask.protocols import Tools

_ENDING = 3.0  # seconds that tools have to end, once nobody waits for the answer


class Asker:
    """Asks questions with the same tools, keys and limits. Thread-safe; works on after a fork and after `close`.

    model, max_tokens, base_url, budgets, prices: as `ferrule_ask.settings` has them; arguments win. budgets: seconds
    for the first request, the tool, the second request. prices: by model, US dollars for a million tokens of input and
    of output.
    tools: names of what the model may call; () for none. None for the default: the first search tool that has its keys.
    keys: `Keys()` by default. limits: none by default. concurrency: questions that run at once; others wait for their
    turn, and their budgets begin with it.
    event: told what happens while it happens, on a thread of the asker, where it must not take long:
    "tool_call" {"tool", "input"}, "tool_result" {"tool", "seconds", "is_error"}, "retry" {"seconds", "code"},
    "warning" {"message"}.
    toolbox: tools of one's own, instead of installed ones.

    Raises ToolUnknown where nothing installed has one of the names, ConfigurationMalformed, and FerruleError where the
    extra is not installed.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        max_tokens: int | None = None,
        tools: Sequence[str] | None = None,
        keys: Keys | None = None,
        limits: Limits | None = None,
        base_url: str | None = None,
        budgets: Sequence[float] | None = None,
        prices: Mapping[str, Sequence[float]] | None = None,
        concurrency: int = 8,
        event: Event | None = None,
        toolbox: Tools | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency has to be a number from 1")
        if isinstance(tools, str):
            raise TypeError("tools has to be a sequence of names")
        _require("httpx", "tenacity")
        given = settings.Given(model, max_tokens, base_url, budgets, prices)
        self._reader = settings.Reader(given)
        self._session = Session(tools, keys, limits, concurrency, event, toolbox)
        self._background: Background | None = None
        self._lock = threading.Lock()
        _ALL.add(self)

    def ask(
        self, context: str | None, prompt: str, *, model: str | None = None, max_tokens: int | None = None
    ) -> Answer:
        """Ask, and wait for the answer. Also where an event loop runs in this thread, as in a notebook.

        An interrupt (Ctrl-C) ends the request and the tool. Raises ConfigurationMalformed, and ToolUnknown where the
        settings name a tool that nothing installed has; never for what model, network and tool do, which the answer
        says. Where it cannot be found out which tools there are, none is offered, and `left_out` says so.
        """
        self._not_from_an_event()
        future = self.start(context, prompt, model=model, max_tokens=max_tokens)
        try:
            return future.result()
        except BaseException:
            self._end(future)
            raise

    async def ask_async(
        self, context: str | None, prompt: str, *, model: str | None = None, max_tokens: int | None = None
    ) -> Answer:
        """The same as a coroutine. Cancelling it ends the request and the tool."""
        return await asyncio.wrap_future(self.start(context, prompt, model=model, max_tokens=max_tokens))

    def start(
        self, context: str | None, prompt: str, *, model: str | None = None, max_tokens: int | None = None
    ) -> Future[Answer]:
        """The same in the background. Cancelling the future ends the request and the tool. Raises at once."""
        one = self._reader.settings(model, max_tokens)
        return self._running().start(lambda: self._session.answer(context, prompt, one))

    def plan(
        self, context: str | None, prompt: str, *, model: str | None = None, max_tokens: int | None = None
    ) -> Plan:
        """What the question would take. Sends nothing; finds out which tools are offered."""
        one = self._reader.settings(model, max_tokens)
        return plan.plan(context, prompt, one, self._tools().offered)

    @property
    def model(self) -> str:
        """The model that is asked where a question names none. Raises ConfigurationMalformed."""
        return self._reader.settings().model

    @property
    def keys(self) -> Keys:
        """The keys that it asks with."""
        return self._session.keys

    @property
    def usage(self) -> Usage:
        """What has been used so far."""
        return self._session.usage

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Name and reason of each tool that was asked for, or would be the default, and is not offered."""
        return tuple(self._tools().left_out)

    def close(self) -> None:
        """End whatever runs: those answers get the code CANCELLED. May be used again."""
        self._not_from_an_event()
        with self._lock:
            background, self._background = self._background, None
            if background is not None:
                self._session.is_closing = True
                background.stop(self._session.disconnect, _ENDING)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _tools(self) -> Tools:
        self._not_from_an_event()
        return self._running().start(self._session.tools).result()

    def _running(self) -> Background:
        with self._lock:
            if self._background is None or not self._background.is_alive:
                self._session.begin()
                self._background = Background("ferrule_ask")
                weakref.finalize(self, self._background.retire, self._session.disconnect)
            return self._background

    def _not_from_an_event(self) -> None:
        if self._background is not None and self._background.is_here:
            raise RuntimeError("an event of an asker cannot wait for the asker; use `start`")

    def _end(self, future: Future[Answer]) -> None:
        """Cancel, and wait until nothing of it runs any more, as far as that takes no longer than a tool's ending."""
        future.cancel()
        background = self._background
        if background is not None and background.is_alive:
            with suppress(NotYet, Exception):
                background.start(self._session.settled).result(_ENDING)

    def _forked(self) -> None:
        self._lock = threading.Lock()  # a thread that is not in this process may have held it
        self._background = None


def _require(*libraries: str) -> None:
    if not all(map(find_spec, libraries)):
        from ferrule.errors import FerruleError

        raise FerruleError("Asking needs the extra ferrule[ask].", hint="Run: python -m pip install 'ferrule[ask]'")


_ALL: weakref.WeakSet[Asker] = weakref.WeakSet()


def _after_fork() -> None:
    for asker in list(_ALL):
        asker._forked()


def _at_exit() -> None:
    for asker in list(_ALL):
        asker.close()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
