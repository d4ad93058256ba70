"""Asks a model, which may call tools: in this thread, in a coroutine, or in the background.

`ask` and `ask_async` do so with clients that are made here, one for each choice of tools.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from ferrule_ask import conversation, settings
from ferrule_ask.kept_answers import lifetime
from ferrule_ask.loop_thread import LoopThread
from ferrule_ask.models.registry import DEFAULT
from ferrule_ask.session import Session

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.answer import Answer, Plan, Usage
    from ferrule_ask.batches.batches import Batches
    from ferrule_ask.conversation import Event
    from ferrule_ask.cost.limits import Limits
    from ferrule_ask.keys import Keys
    from ferrule_ask.pace.clock import Clock
    from ferrule_ask.tools.protocols import Tools

OnToolError = Literal["answer", "null", "raise"]

_END_SECONDS = 3.0  # in which tools have to end once the answer is not wanted any more


class Client(AbstractContextManager["Client"]):
    """Asks questions with the same tools, keys and limits. Thread-safe; works on after a fork and after `close`.

    Args:
        model, max_tokens, base_url, budgets, prices: as `ferrule_ask.settings` has them; arguments win.
        budgets: seconds for the first request, the tool, the second request.
        prices: by model, US dollars for a million tokens of input and of output.
        tools: names of what the model may call; () for none. None for the default: web_search, where it is installed
            and a search provider has its keys, else the first of web_search_* that has its keys.
        keys: `Keys()` by default.
        limits: none by default.
        concurrency: questions that run at once; others wait for their turn, and their budgets begin with it. Where
            there are batches, it does not count.
        event: called with what happens when it happens, on a thread of the client, where it must not take long:
            "tool_call" {"tool", "input"}, "tool_result" {"tool", "seconds", "is_error"} (and "code", "error" of a
            failure), "retry" {"seconds", "code"}, "wait" {"seconds"} for a turn, "warning" {"message"}.
        toolbox: tools of one's own, instead of installed ones.
        patience: seconds that a question may wait for its turns, where the provider takes no more requests for now,
            in addition to its budgets; math.inf for many questions. None by default: all waits have to fit into these.
        on_tool_error: where a tool fails, "answer" has the model answer from what it knows, as the default; with "null"
            and "raise" there is no answer, and the code TOOL_FAILED.
        requests_per_minute, tokens_per_minute: limits besides those that the provider tells.
        system: what the model is told beside the question; today's date is told in any case.
        tool_tokens: the most of a tool's result that the model gets, about; results of searches are short as they are.
        max_calls: of tools, in one question.
        usual_max_calls: where neither this nor the settings say it.
        remember: how long a good answer is kept on the disk, for equal questions of this and later programs: seconds,
            or a text such as "30d", "12h" or "90m".
        stream: have the provider send answers in pieces, and call `event` with "text" {"text", "reply"} for each.
            reply: the number of the model's reply, from 1; after "retry" it begins anew.
        batches: by which all requests are sent; each question has to be expected there.
        clock: for tests.

    Raises:
        ToolUnknown where nothing installed has one of the names, and ConfigurationMalformed.
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
        patience: float | None = None,
        on_tool_error: OnToolError | None = None,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        system: str | None = None,
        tool_tokens: int | None = None,
        max_calls: int | None = None,
        usual_max_calls: int = settings.MAX_CALLS,
        remember: float | str | None = None,
        stream: bool = False,
        batches: Batches | None = None,
        clock: Clock | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency has to be a number from 1")
        if isinstance(tools, str):
            raise TypeError("tools has to be a sequence of names")
        own = patience, on_tool_error, requests_per_minute, tokens_per_minute, system, tool_tokens
        calls = max_calls, usual_max_calls, stream
        self._reader = settings.Reader(
            settings.AskOverrides(model, max_tokens, base_url, budgets, prices, *own, *calls)
        )
        kept = None if remember is None else lifetime(remember)
        self._session = Session(tools, keys, limits, concurrency, event, toolbox, kept, clock, batches)
        self._thread: LoopThread | None = None
        self._lock = threading.Lock()
        _ALL.add(self)

    def ask(
        self,
        context: str | None,
        prompt: str,
        *,
        model: str | None = None,
        max_tokens: int | None = None,
        patience: float | None = None,
        schema: JSONMapping | None = None,
    ) -> Answer:
        """Ask, and wait for the answer. Also where an event loop runs in this thread, as in a notebook.

        An interrupt (Ctrl-C) ends the request and the tool.

        Args:
            schema: a JSON schema, which `Answer.value` fits then.

        Raises:
            ConfigurationMalformed, and ToolUnknown where the settings name a tool that nothing installed has; never for
            what model, network and tool do, which the answer says. Where it cannot be found out which tools there are,
            none is offered, and `left_out` says so.
        """
        self._refuse_inside_event()
        future = self.start(context, prompt, model=model, max_tokens=max_tokens, patience=patience, schema=schema)
        try:
            return future.result()
        except BaseException:
            self._end(future)
            raise

    async def ask_async(
        self,
        context: str | None,
        prompt: str,
        *,
        model: str | None = None,
        max_tokens: int | None = None,
        patience: float | None = None,
        schema: JSONMapping | None = None,
    ) -> Answer:
        """The same as a coroutine. Cancelling it ends the request and the tool."""
        options = AskOptions(model=model, max_tokens=max_tokens, patience=patience, schema=schema)
        return await asyncio.wrap_future(self.start(context, prompt, **options))

    def start(
        self,
        context: str | None,
        prompt: str,
        *,
        model: str | None = None,
        max_tokens: int | None = None,
        patience: float | None = None,
        schema: JSONMapping | None = None,
    ) -> Future[Answer]:
        """The same in the background. Cancelling the future ends the request and the tool. Raises at once."""
        one = self._reader.settings(model, max_tokens, patience, schema)
        return self._running().start(lambda: self._session.answer(context, prompt, one))

    def plan(
        self,
        context: str | None,
        prompt: str,
        *,
        model: str | None = None,
        max_tokens: int | None = None,
        schema: JSONMapping | None = None,
    ) -> Plan:
        """What the question would take. Sends nothing; finds out which tools are offered."""
        one = self._reader.settings(model, max_tokens, None, schema)
        offers = self._session.offers(self._tools(), one)
        return conversation.plan(context, prompt, one, offers, self._session.experience, self._session.price(one))

    @property
    def model(self) -> str:
        """The model that is asked where a question names none, as `--model` takes it. Raises ConfigurationMalformed."""
        one = self._reader.settings()
        is_plain = one.provider.name == DEFAULT and "/" not in one.model
        return one.model if is_plain else f"{one.provider.name}/{one.model}"

    def key_variable(self, model: str | None = None) -> str:
        """The variable of the key that a model is asked with; empty for none. Raises ConfigurationMalformed."""
        key = self._reader.settings(model).provider.key
        return key.environment if key is not None else ""

    @property
    def on_tool_error(self) -> str:
        """What is done where a tool fails. Raises ConfigurationMalformed."""
        return self._reader.settings().on_tool_error

    @property
    def batches(self) -> Batches | None:
        """By which its requests are sent; None where each is sent alone."""
        return self._session.batches

    def require_batches(self, model: str | None = None) -> None:
        """Raise BatchesUnavailable where a model's provider has no batches, and ConfigurationMalformed."""
        from ferrule_ask.batches.route import require_api

        require_api(self._reader.settings(model).provider)

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
        """End all that runs: those answers get the code CANCELLED. May be used again."""
        self._refuse_inside_event()
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._session.is_closing = True
                thread.stop(self._session.disconnect, _END_SECONDS)

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tools(self) -> Tools:
        self._refuse_inside_event()
        return self._running().start(self._session.tools).result()

    def _running(self) -> LoopThread:
        with self._lock:
            if self._thread is None or not self._thread.is_alive:
                self._session.begin()
                self._thread = LoopThread("ferrule_ask")
                weakref.finalize(self, self._thread.retire, self._session.disconnect)
            return self._thread

    def _refuse_inside_event(self) -> None:
        if self._thread is not None and self._thread.is_here:
            raise RuntimeError("an event of a client cannot wait for the client; use `start`")

    def _end(self, future: Future[Answer]) -> None:
        """Cancel, and wait until nothing of it runs any more, as far as that takes no longer than a tool's ending."""
        future.cancel()
        thread = self._thread
        if thread is not None and thread.is_alive:
            with suppress(NotYet, Exception):
                thread.start(self._session.wait_for_cancelled).result(_END_SECONDS)

    def _forked(self) -> None:
        self._lock = threading.Lock()  # a thread that is not in this process may have held it
        self._thread = None


class AskOptions(TypedDict, total=False):
    """What one question may have of its own; None is the client's setting."""

    model: str | None
    max_tokens: int | None
    patience: float | None
    schema: JSONMapping | None


def ask(
    context: str | None, prompt: str, *, tools: Sequence[str] | None = None, **options: Unpack[AskOptions]
) -> Answer:
    """Ask, and wait for the answer, as `Client.ask` does.

    Args:
        options: model, max_tokens, patience.
        tools: names of what the model may call; () for none. None for the default: web_search, where it is installed
            and a search provider has its keys, else the first of web_search_* that has its keys.
    """
    return _client(tools).ask(context, prompt, **options)


async def ask_async(
    context: str | None, prompt: str, *, tools: Sequence[str] | None = None, **options: Unpack[AskOptions]
) -> Answer:
    """The same as a coroutine."""
    return await _client(tools).ask_async(context, prompt, **options)


def _client(tools: Sequence[str] | None) -> Client:
    names = None if tools is None else tuple(tools)
    with _lock:
        if names not in _of_tools:
            _of_tools[names] = Client(tools=tools)
        return _of_tools[names]


_ALL: weakref.WeakSet[Client] = weakref.WeakSet()
_of_tools: dict[tuple[str, ...] | None, Client] = {}
_lock = threading.Lock()


def _after_fork() -> None:
    for client in list(_ALL):
        client._forked()


def _at_exit() -> None:
    for client in list(_ALL):
        client.close()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
