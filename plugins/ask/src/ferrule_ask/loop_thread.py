"""An event loop in a thread of its own, which never keeps the interpreter from ending."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    Work = Callable[[], Coroutine[object, object, "_T"]]

_T = TypeVar("_T")
_CLOSE_SECONDS = 1.0


class LoopThread:
    """A running loop. Belongs to the process that made it: `is_alive` is False in a fork of that."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.SelectorEventLoop()
        self._process = os.getpid()
        self._tasks: set[asyncio.Task[object]] = set()
        self._ending: asyncio.Task[None] | None = None
        self._last: Work[None] | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether it can be used."""
        return self._process == os.getpid() and self._thread.is_alive()

    @property
    def is_here(self) -> bool:
        """Whether the caller is in the loop's own thread."""
        return threading.current_thread() is self._thread

    def start(self, work: Work[_T]) -> Future[_T]:
        """Run something on the loop. Cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(self._tracked(work), self._loop)

    def stop(self, last: Work[None], seconds: float) -> None:
        """Cancel all that runs, then run `last`, and end the loop; wait at most so many seconds for it."""
        if not self.is_alive or self.is_here:
            return
        with suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._begin_end, last)
        self._thread.join(seconds)

    def retire(self, last: Work[None]) -> None:
        """End once nothing runs any more. Waits for nothing."""
        if self.is_alive:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._retire, last)

    def _retire(self, last: Work[None]) -> None:
        self._last = last
        if not self._tasks:
            self._begin_end(last)

    def _begin_end(self, last: Work[None]) -> None:
        if self._ending is None:
            self._ending = self._loop.create_task(self._end(last))

    async def _tracked(self, work: Work[_T]) -> _T:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine of a loop always has one
        self._tasks.add(task)
        try:
            return await work()
        finally:
            self._tasks.discard(task)
            if self._last is not None:
                self._retire(self._last)

    async def _end(self, last: Work[None]) -> None:
        while self._tasks:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.wait(list(self._tasks))
        with suppress(Exception):
            await last()
        await self._end_generators()
        await asyncio.sleep(0)  # the futures of other threads get their results first
        self._loop.stop()

    async def _end_generators(self) -> None:
        """An answer that was read in part, since it is too large, is closed by tasks that the loop has yet to run."""
        own = asyncio.current_task()
        while others := {task for task in asyncio.all_tasks() if task is not own}:
            if not (await asyncio.wait(others, timeout=_CLOSE_SECONDS))[0]:
                return
        await self._loop.shutdown_asyncgens()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()


async def in_thread(work: Callable[[], _T]) -> _T:
    """The result of something that blocks, from a thread that the interpreter does not wait for when it ends.

    asyncio's own threads are waited for then, even where one hangs in a name server's silence.
    """
    future: Future[_T] = Future()
    future.set_running_or_notify_cancel()  # from now on it takes a result, also where that is not awaited any more

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(future)
