"""Requests of many questions that go in batches: what all questions wait for is sent together.

    batches = Batches(path)                  # of the record
    client = Client(batches=batches)
    batches.expect(len(questions))
    futures = [client.start(context, prompt) for context, prompt in questions]

Questions that call tools go in rounds: once each question that is left waits for a reply, those replies are one batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrule.errors import FerruleError
from ferrule.text.sha256 import sha256_hex
from ferrule_ask.batches import persistence
from ferrule_ask.batches.record import Record
from ferrule_ask.batches.replies import make_failure, read_reply
from ferrule_ask.models.batch_api import BatchRequest
from ferrule_ask.models.dialogue import MessageUnreadable
from ferrule_ask.request.errors import CallFailed

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule_ask.batches.record import Batch
    from ferrule_ask.batches.route import Route
    from ferrule_ask.models.batch_api import BatchResult, BatchState
    from ferrule_ask.models.dialogue import Reply

_SENT_AGAIN = (
    "It is not known whether a batch of {:,} requests arrived. It is not in the provider's list, so it is sent again."
)
_SEVERAL = "The batches {} are one that arrived more than once. The answers of {} are taken; cancel the others."
_FOUND = "Batch {} had arrived, and is not sent again."
_MAYBE_FOUND = "Batch {} may be the one that was sent: its answers will say so. Until then nothing is sent again."
_NO_RESULT = "No result of batch {}, which may be the one that was sent, can be read. Run the same command again."
_CLOCKS_SECONDS = 300.0  # by which the provider's clock may be behind
_NAME_CHARS = 48


@dataclass(slots=True)
class _Wish:
    """A request. waiters: the questions that wait for its result; those with the same request share it.

    is_sent: whether the provider may have it.
    """

    body: bytes
    route: Route
    future: asyncio.Future[BatchResult]
    waiters: int = 0
    is_sent: bool = False


class Batches:
    """The batches of one work, on the loop of one client.

    Args:
        path: of the record; None for none, as a plan has it.
        report: takes a sentence about each batch that is sent, gone on with, or has ended.

    Raises:
        FerruleError where the record cannot be read.
    """

    def __init__(self, path: Path | None, report: Callable[[str], None]) -> None:
        try:
            self.record = Record(path)
        except OSError as error:
            raise FerruleError(f"{path} cannot be read: {error.strerror}.") from None
        self._report = report
        self._left = self._held = self._asking = 0  # questions: not ended; of them, those that wait
        self._new: dict[str, _Wish] = {}
        self._waiting: dict[str, _Wish] = {}
        self._done: dict[str, BatchResult] = {}  # of batches that have ended, for questions that come later
        self._tasks: set[asyncio.Task[None]] = set()
        self._followed: set[str] = set()
        self._foreign: set[tuple[str, str | None]] = set()  # label and id that do not belong together

    @property
    def day(self) -> str:
        """The date that the model gets: of the day on which the work began, so that its requests stay the same."""
        return self.record.day

    def expect(self, number: int) -> None:
        """So many questions will be asked; nothing is sent before all of them wait."""
        self._left += number

    def end_one(self, *, may_send: bool = True) -> None:
        """A question has its answer, or is cancelled. may_send: what the others wait for, if they all do now."""
        self._left -= 1
        if may_send:
            self._send_if_all_wait()

    @contextmanager
    def waiting_for_room(self) -> Iterator[None]:
        """While the block runs, a question waits for room within the limits, which others have to give."""
        self._held += 1
        asyncio.get_running_loop().call_soon(self._send_if_all_wait)  # most find room at once, and do not wait
        try:
            yield
        finally:
            self._held -= 1

    async def send(self, body: bytes, route: Route, lost: Callable[[], None] = lambda: None) -> Reply:
        """The reply to a request, once its batch has ended. Raises CallFailed: `was_sent` if it may be charged.

        Args:
            lost: is called where the question is cancelled, and its request may be charged all the same.
        """
        # No other work has its run, so no batch of another one has a request of this name.
        name = sha256_hex(self.record.run.encode() + route.url.encode() + b"\0" + body)[:_NAME_CHARS]
        if name in self._done:
            return read_reply(self._done[name], route)
        wish = self._new.get(name) or self._waiting.get(name)
        if wish is None:
            wish = _Wish(body, route, asyncio.get_running_loop().create_future())
            batch = next((one for one in self.record.batches if name in one.names), None)
            if batch is None:
                self._new[name] = wish
            else:
                wish.is_sent, self._waiting[name] = True, wish
                self._follow(batch, route)
        wish.waiters += 1
        self._asking += 1
        self._send_if_all_wait()
        try:
            result = await asyncio.shield(wish.future)
        except asyncio.CancelledError:
            if self._leave(name, wish):
                lost()
            raise
        return read_reply(result, route)

    def _leave(self, name: str, wish: _Wish) -> bool:
        """A question is cancelled: its request is not sent any more where no other one has it.

        Returns whether the request may be charged, and no other question is left that accounts for it.
        """
        if wish.future.done():
            failure = wish.future.exception()
            return not isinstance(failure, CallFailed) or failure.was_sent is not False
        wish.waiters -= 1
        self._asking -= 1
        if not wish.waiters:
            self._new.pop(name, None)
        return wish.is_sent and not wish.waiters

    def disconnect(self) -> None:
        """End what is under way on this loop. What is sent goes on at the provider, and is in the record."""
        for task in self._tasks:
            task.cancel()
        self._new, self._waiting = {}, {}
        self._left = self._held = self._asking = 0  # those that were expected and never came as well

    def close(self) -> None:
        """The work is done, and its answers are written."""
        self.record.remove()

    def _send_if_all_wait(self) -> None:
        if self._new and self._asking + self._held >= self._left:
            wishes, self._new = self._new, {}
            self._waiting |= wishes
            self._start(self._send_all(wishes))

    async def _send_all(self, wishes: dict[str, _Wish]) -> None:
        for names in _portions(wishes):
            names = [name for name in names if self._begin(name, wishes[name])]
            if not names:
                continue
            route = wishes[names[0]].route
            requests = [BatchRequest(name, _document(wishes[name].body)) for name in names]
            batch = self.record.begin(sha256_hex("".join(names).encode())[:_NAME_CHARS], names)
            try:
                batch = await self._submit(batch, route, requests)
            except CallFailed as failure:
                self._fail(names, failure)  # which was not sent only where it is certain
                continue
            self._follow(batch, route)

    def _begin(self, name: str, wish: _Wish) -> bool:
        """A request is about to be sent: whether a question waits for it still."""
        wish.is_sent = bool(wish.waiters)
        if not wish.waiters:
            self._waiting.pop(name, None)
        return wish.is_sent

    async def _submit(self, batch: Batch, route: Route, requests: Sequence[BatchRequest]) -> Batch:
        """Send a batch, once: where it is not known whether it arrived, it is looked for first.

        Returns it with its id. Raises CallFailed; then the record has the batch only where it may have arrived.
        """
        for number in range(1, persistence.TRIES + 1):
            try:
                identity = await route.api.submit(route.exchange, route.url, requests, batch.label)
                self._report(f"Batch {identity} of {len(requests):,} requests is sent.")
                return self.record.note_id(batch, identity, is_certain=True)
            except MessageUnreadable as error:
                failure = persistence.read_failure(error)
            except CallFailed as error:
                failure = error
            await asyncio.sleep(persistence.FIRST_WAIT_SECONDS * number if failure.may_repeat else 0)
            found = None if persistence.is_refused(failure) else await self._find(batch, route)
            if found is not None:
                return found
            if not failure.may_repeat or number == persistence.TRIES:
                if persistence.is_refused(failure):
                    self.record.drop(batch)
                    failure.was_sent = False
                raise failure
            if not persistence.is_refused(failure):
                self._report(_SENT_AGAIN.format(len(requests)))
        raise AssertionError("a try either returns or raises")

    async def _find(self, batch: Batch, route: Route) -> Batch | None:
        """A batch that may have been made, with its id; None where it is in no list. Raises CallFailed."""
        facts = batch.label, len(batch.names), batch.at - _CLOCKS_SECONDS
        found = await persistence.persist(lambda: route.api.find(route.exchange, route.url, *facts))
        known = {one.id: one.is_certain for one in self.record.batches}
        # What may be of another one of the record is taken last: that one looks for its own as well.
        free = sorted((one for one in found if not known.get(one)), key=known.__contains__)
        mine = [one for one in free if (batch.label, one) not in self._foreign]
        if not mine:
            return None
        is_certain = route.api.keeps_labels
        if is_certain and len(mine) > 1:
            self._report(_SEVERAL.format(", ".join(mine), mine[0]))
        self._report((_FOUND if is_certain else _MAYBE_FOUND).format(mine[0]))
        return self.record.note_id(batch, mine[0], is_certain=is_certain)

    def _follow(self, batch: Batch, route: Route) -> None:
        if batch.label not in self._followed:
            self._followed.add(batch.label)
            self._start(self._wait_for(batch, route))

    async def _wait_for(self, batch: Batch, route: Route) -> None:
        try:
            await self._take_results(batch, route)
        finally:  # a question that comes after a failure waits anew
            self._followed.discard(batch.label)

    async def _take_results(self, batch: Batch, route: Route) -> None:
        """Give each request of a batch its result once there is one."""
        try:
            if batch.id is None:  # the program ended while it was being sent, or it is not known whether it arrived
                found = await self._find(batch, route)
                if found is None:
                    self._report(_SENT_AGAIN.format(len(batch.names)))
                    self._forget(batch)
                    return
                batch = found
            state = await self._until_ended(batch, route)
            results = {one.name: one for one in await persistence.fetch_results(state, route)}
            if not (batch.is_certain or results) and state.places:
                raise CallFailed("API_ERROR", _NO_RESULT.format(batch.id))
        except CallFailed as failure:
            if failure.status == 404 and batch.id is not None:
                await self._lose(batch, route)
            else:
                failure.was_sent = True
                self._fail(batch.names, failure)
            return
        if not batch.is_certain:
            if not results or not results.keys() <= set(batch.names):
                await self._reject(batch, route)
                return
            batch = self.record.note_id(batch, batch.id, is_certain=True)
        self._report(f"Batch {batch.id} has ended.")
        missing = state.failure or "The batch has ended without an answer to this."
        for name in batch.names:
            result = results.get(name) or make_failure(name, missing, is_refused=bool(state.failure))
            self._done[name] = result
            if future := self._take(name):
                future.set_result(result)

    async def _until_ended(self, batch: Batch, route: Route) -> BatchState:
        wait, shown = persistence.FIRST_WAIT_SECONDS, False
        while True:
            state = await persistence.persist(lambda: route.api.look(route.exchange, route.url, batch.id or ""))
            if state.is_ended:
                return state
            if not shown:
                self._report(f"Batch {batch.id}: {state.done:,} of {state.total:,} done; waiting for the others.")
                shown = True
            await asyncio.sleep(wait)
            wait = persistence.lengthen(wait)

    async def _reject(self, batch: Batch, route: Route) -> None:
        """What was found is the batch of another program: look on for the own one."""
        self._report(f"Batch {batch.id} is of another program, and is left alone.")
        self._foreign.add((batch.label, batch.id))
        await self._take_results(self.record.note_id(batch, None, is_certain=False), route)

    async def _lose(self, batch: Batch, route: Route) -> None:
        """The provider does not have a batch any more: its requests are sent anew, if it was the own one."""
        if not batch.is_certain:
            await self._reject(batch, route)
            return
        self._report(f"Batch {batch.id} is gone at the provider: its {len(batch.names):,} requests are sent again.")
        self._forget(batch)

    def _forget(self, batch: Batch) -> None:
        """The batch is not there: its requests are sent anew."""
        self.record.drop(batch)
        self._followed.discard(batch.label)
        for name in batch.names:
            wish = self._waiting.pop(name, None)
            if wish is not None and wish.waiters:
                wish.is_sent, self._new[name] = False, wish
        self._send_if_all_wait()

    def _fail(self, names: Sequence[str], failure: CallFailed) -> None:
        for name in names:
            if future := self._take(name):
                future.set_exception(failure)

    def _take(self, name: str) -> asyncio.Future[BatchResult] | None:
        """The future of a request whose result is there: its questions wait no longer."""
        wish = self._waiting.pop(name, None)
        if wish is None or not wish.waiters:
            return None
        self._asking -= wish.waiters
        return wish.future

    def _start(self, work: object) -> None:
        assert asyncio.iscoroutine(work)  # noqa: S101 - the type of a coroutine says nothing more
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end_task)

    def _end_task(self, task: asyncio.Task[None]) -> None:
        """Let no question wait for a task that has failed, such as by a full disk."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            sentence = f"The batches cannot go on ({type(error).__name__}: {error}). Run the same command again."
            self._fail(list(self._waiting), CallFailed("API_ERROR", sentence))


def _portions(wishes: dict[str, _Wish]) -> Iterator[list[str]]:
    """The names that go into each batch."""
    portion: list[str] = []
    size = 0
    for name, wish in wishes.items():
        api = wish.route.api
        other = portion and wishes[portion[0]].route.url != wish.route.url
        if portion and (other or len(portion) >= api.most_requests or size + len(wish.body) > api.most_bytes):
            yield portion
            portion, size = [], 0
        portion.append(name)
        size += len(wish.body)
    if portion:
        yield portion


def _document(body: bytes) -> dict[str, object]:
    from ferrule_ask.models import json_text

    return json_text.decode_object(body)
