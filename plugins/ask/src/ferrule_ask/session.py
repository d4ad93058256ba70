"""What the questions of one client share: tools, keys, limits, connections, the account of what was used."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from ferrule_ask.answer import Answer, Usage
from ferrule_ask.conversation import Conversation, Question, begin
from ferrule_ask.cost.limits import Limits, Reservation
from ferrule_ask.cost.prices import likely_tokens, max_tokens, price_of
from ferrule_ask.experience import Experience
from ferrule_ask.kept_answers import KeptAnswer
from ferrule_ask.loop_thread import in_thread
from ferrule_ask.models import json_text
from ferrule_ask.models.dialogue import user_text
from ferrule_ask.models.registry import DEFAULT
from ferrule_ask.pace.clock import Clock
from ferrule_ask.pace.pacer import Need, Pace, Pacer, TurnTooLate
from ferrule_ask.pace.store import Store
from ferrule_ask.request import auth, retry
from ferrule_ask.request.errors import CallFailed
from ferrule_ask.request.patience import Patience
from ferrule_ask.request.transport import Transport
from ferrule_ask.tools.refusals import split_offers

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.batches.batches import Batches
    from ferrule_ask.conversation import Event
    from ferrule_ask.cost.prices import Price
    from ferrule_ask.keys import Keys
    from ferrule_ask.models.dialogue import Reply
    from ferrule_ask.settings import Settings
    from ferrule_ask.tools.protocols import ToolOffer, Tools
    from ferrule_ask.tools.toolbox import Toolbox

_NOTHING = Decimal(0)
_FILES_AT_ONCE = 64
_TOOLS_AT_ONCE = 8  # where all questions of many may come to their tool together
_MAX_TOOL_WAIT_SECONDS = 600.0  # what is longer is a quota that is used up, and no pace
_UNENCRYPTED = "The base URL begins with http: the key and all text go through the network unencrypted."


class Session:
    """Lives on the loop of a client; `begin` starts it anew on another.

    is_closing: a question that is cancelled gets an answer that says so.
    """

    def __init__(
        self,
        names: Sequence[str] | None,
        keys: Keys | None,
        limits: Limits | None,
        concurrency: int,
        event: Event | None,
        toolbox: Tools | None,
        remember: float | None = None,
        clock: Clock | None = None,
        batches: Batches | None = None,
    ) -> None:
        from ferrule_ask.keys import Keys

        self._names = None if names is None else tuple(names)
        self.keys = Keys() if keys is None else keys
        self.limits = Limits() if limits is None else limits
        self._concurrency = concurrency
        self._event = event or (lambda kind, facts: None)
        self._toolbox = toolbox
        self._loaded: Toolbox | None = None
        self._warned: set[str] = set()
        self.usage = Usage()
        self.experience = Experience()
        self.clock = clock or Clock()
        self._remember = remember
        self.batches = batches
        if self._names and toolbox is None:
            _require_installed(self._names)
        self.begin()

    def begin(self) -> None:
        """Start on a new loop."""
        self.is_closing = False
        # In batches each question has to come to where it waits for its reply.
        self._turns = nullcontext() if self.batches is not None else asyncio.Semaphore(self._concurrency)
        self._loading = asyncio.Lock()
        self._files = asyncio.Semaphore(_FILES_AT_ONCE)
        self._call_locks: dict[str, asyncio.Lock] = {}
        self._tool_gate = asyncio.Semaphore(_TOOLS_AT_ONCE)
        self._under_way: set[asyncio.Task[object] | None] = set()
        self._pacers: dict[tuple[str, ...], Pacer] = {}  # anew in a fork, where their locks may be held for ever
        self.transport = Transport()

    async def answer(self, context: str | None, prompt: str, settings: Settings) -> Answer:
        """The answer to one question, when its turn has come."""
        task = asyncio.current_task()
        conversation: Conversation | None = None
        try:
            async with self._turns:
                self._under_way.add(task)
                question = await self._question(context, prompt, settings)
                kept = self._kept(question)
                async with self._files:
                    found = await kept.get() if kept else None
                if found is not None:
                    return found
                conversation = Conversation(question)
                if prompt and prompt.strip():
                    answer = await conversation.answer()
                else:
                    answer = conversation.finish("INVALID_REQUEST", "The prompt is empty. Say what is asked.")
                if kept and answer.is_good:
                    async with self._files:
                        await kept.put(answer)
        except asyncio.CancelledError:
            self._count(conversation, None)
            if not self.is_closing:
                raise
            sentence = "The client was closed. Ask again."
            if conversation is None:
                return Answer(None, "CANCELLED", sentence, model=settings.model)
            return conversation.finish("CANCELLED", sentence)
        finally:
            self._under_way -= {task}
            if self.batches is not None:
                self.batches.end_one(may_send=not self.is_closing)
        self._count(conversation, answer)
        self._learn(conversation, answer, settings)
        return answer

    async def tools(self) -> Tools:
        """The tools, with the keys that there are now."""
        if self._toolbox is not None:
            return self._toolbox
        async with self._loading:
            if self._loaded is None:
                from ferrule_ask.tools.toolbox import Toolbox

                self._loaded = await in_thread(lambda: Toolbox.load(self._names, self.keys))
        tools = self._loaded.renewed()
        self.warn(*self.keys.warnings)
        return tools

    async def wait_for_cancelled(self) -> None:
        """Wait until the questions that are cancelled have ended."""
        leaving = [task for task in self._under_way if task and task.cancelling()]
        if leaving:
            await asyncio.wait(leaving)

    async def disconnect(self) -> None:
        """Close the connections."""
        if self.batches is not None:
            self.batches.disconnect()
        for pacer in self._pacers.values():
            pacer.close()
        await self.transport.close()

    async def _question(self, context: str | None, prompt: str, settings: Settings) -> Question:
        tools = await self.tools()
        price = self.price(settings)
        text = user_text(context, prompt)
        offers = self.offers(tools, settings)
        if self.batches is None:
            return Question(text, settings, _Model(self, settings, price), tools, price, self._event, offers)
        from ferrule_ask.batches.recorded_tools import RecordedTools

        model = _BatchModel(self, settings, price, self.batches)
        recorded = RecordedTools(tools, self.batches.record, self._call_locks)
        whole = Question(text, settings, model, recorded, price, self._event, offers)
        return whole._replace(day=self.batches.day, gate=self._tool_gate)

    def price(self, settings: Settings) -> Price | None:
        """The price of a question's model, which is half of it in a batch; None where it is not known."""
        price = price_of(settings.model, settings.prices, settings.provider.name)
        return price if price is None or self.batches is None else price.half()

    def offers(self, tools: Tools, settings: Settings) -> Sequence[ToolOffer]:
        """The tools that the provider of a question takes; it is said of the others why not, once."""
        if settings.provider.name == DEFAULT:  # by which they were chosen
            return tools.offered
        taken, refused = split_offers(settings.provider.form(), tools.offered)
        self.warn(*(f"{name} is not offered to {settings.provider.name}: {why}" for name, why in refused))
        return taken

    def _count(self, conversation: Conversation | None, answer: Answer | None) -> None:
        """Account for a question; answer: None where it was cancelled."""
        if conversation is None:
            return
        one, so_far = answer or conversation.finish("CANCELLED", None), self.usage
        self.usage = so_far._replace(
            questions=so_far.questions + 1,
            tool_calls=so_far.tool_calls + conversation.tool_calls,
            tool_failures=so_far.tool_failures + conversation.has_failed_tool,
            input_tokens=so_far.input_tokens + one.input_tokens,
            output_tokens=so_far.output_tokens + one.output_tokens,
            cost=so_far.cost + (one.cost or 0.0),
            unpriced=so_far.unpriced + (one.cost is None and bool(conversation.replies)),
            failures=so_far.failures + (one.code is not None),
        )

    def _learn(self, conversation: Conversation, answer: Answer, settings: Settings) -> None:
        if conversation.replies:
            self.experience.note(settings.model, conversation.estimated, answer)

    def _kept(self, question: Question) -> KeptAnswer | None:
        """The place of the answer on the disk, where answers are kept."""
        if self._remember is None:
            return None
        settings = question.settings
        provider = settings.provider
        request = provider.request(begin(question.text, settings, question.offers), settings)
        identity = provider.url(settings).encode() + b"\0" + json_text.encode(request)
        if settings.max_calls > 1:
            identity += f"\0{settings.max_calls} calls".encode()
        return KeptAnswer(identity, self._remember, settings.redis, self.warn)

    def pacer(self, settings: Settings, *identity: str) -> Pacer:
        """The pace of all that ask with one key. identity: what tells it from others; a hash of it is kept."""
        from ferrule.text.sha256 import sha256_hex

        name = sha256_hex("\0".join(identity).encode())[:32]
        place = name, settings.redis, repr(settings.pace)
        if place not in self._pacers:
            store = Store(name, self.clock, settings.redis, self._warn_of_redis)
            self._pacers[place] = Pacer(store, self.clock, settings.pace)
        return self._pacers[place]

    def _warn_of_redis(self, reason: str) -> None:
        self.warn(f"{reason}. The pace is shared between the processes of this machine only.")

    def count_request(self) -> None:
        """Account for a request that is about to be sent."""
        self.usage = self.usage._replace(requests=self.usage.requests + 1)

    def tell(self, kind: str, facts: JSONMapping) -> None:
        """Call the listener; what it raises ends nothing."""
        with suppress(Exception):
            self._event(kind, facts)

    def warn(self, *messages: str) -> None:
        """Tell what the user should fix, each sentence once."""
        for message in messages:
            if message not in self._warned:
                self._warned.add(message)
                self.tell("warning", {"message": message})


class _Model:
    """The model for one question."""

    def __init__(self, session: Session, settings: Settings, price: Price | None) -> None:
        self._session = session
        self._settings = settings
        self._price = price
        self._patience = Patience(settings.patience, session.clock)
        self._sent = 0

    async def hold(self, *sizes: int) -> list[Reservation]:
        limits = self._session.limits
        if self._price is not None:
            price = self._price
            return await limits.reserve_all([price.cost(max_tokens(one), self._settings.max_tokens) for one in sizes])
        if limits.spend is not None:
            settings = self._settings
            name = settings.model if settings.provider.name == DEFAULT else f"{settings.provider.name}/{settings.model}"
            sentence = (
                f"There is a limit on spending, and the price of {name} is not known. Write the dollars for a million "
                f'tokens of input and of output into [ask.prices] of config.toml, as "{name}" = [3, 15], or give '
                "`prices`. Or ask a model that `ferrule ask --prices` lists, or without the limit."
            )
            raise CallFailed("PRICE_UNKNOWN", sentence, was_sent=False)
        return await limits.reserve_all([None for _ in sizes])

    async def send(self, body: bytes, seconds: float, held: Reservation) -> Reply:
        session, settings = self._session, self._settings
        self._sent += 1
        provider, number = settings.provider, self._sent
        key = auth.secret(session.keys, provider)
        session.warn(*session.keys.warnings, *[_UNENCRYPTED] * auth.is_in_clear(settings.base_url))
        url = provider.url(settings)
        call = retry.Call(
            provider=provider,
            url=url,
            headers=auth.headers(settings, key),
            body=body,
            secret=key,
            reservation=held,
            sending=session.count_request,
            cost_of=self._cost_of,
            pacer=session.pacer(settings, url, key, settings.model),
            need=Need(likely_tokens(len(body)), settings.max_tokens),
            patience=self._patience,
            retried=lambda wait, code: session.tell("retry", {"seconds": wait, "code": code}),
            waits=lambda wait: session.tell("wait", {"seconds": wait}),
            streaming=settings.streaming,
            said=lambda text: session.tell("text", {"text": text, "reply": number}),
        )
        return await retry.send(call, session.transport, seconds)

    async def tool_turn(self, tool: str) -> bool:
        if not self._patience.is_own:
            return True
        try:
            with self._patience.used():
                (await self._tool_pacer(tool).take(Need(), self._patience.left)).end()
        except TurnTooLate:
            return False
        return True

    async def put_off(self, tool: str, seconds: float) -> bool:
        if not self._patience.is_own or not 0 <= seconds <= min(self._patience.left, _MAX_TOOL_WAIT_SECONDS):
            return False
        await self._tool_pacer(tool).block(seconds)
        return True

    def _tool_pacer(self, tool: str) -> Pacer:
        # Which limits a tool has is not known here, nor are they the model's: only when it may be called again.
        return self._session.pacer(self._settings._replace(pace=Pace()), "tool", tool)

    def _cost_of(self, reply: Reply) -> Decimal | None:
        return self._price.cost_of(reply.usage) if self._price and reply.usage else None


class _BatchModel(_Model):
    """The model for one question whose requests go in batches."""

    def __init__(self, session: Session, settings: Settings, price: Price | None, batches: Batches) -> None:
        super().__init__(session, settings, price)
        self._batches = batches

    async def hold(self, *sizes: int) -> list[Reservation]:
        with self._batches.waiting_for_room():
            return await super().hold(*sizes)

    async def send(self, body: bytes, seconds: float, held: Reservation) -> Reply:
        """A batch has its own time: that of the step does not count."""
        from ferrule_ask.batches.exchange import exchange
        from ferrule_ask.batches.route import Route, require_api

        session, settings = self._session, self._settings
        key = auth.secret(session.keys, settings.provider)
        session.warn(*session.keys.warnings, *[_UNENCRYPTED] * auth.is_in_clear(settings.base_url))
        send = partial(exchange, session.transport, session.keys, settings)
        provider = settings.provider
        route = Route(provider, require_api(provider), provider.url(settings), key, send)
        session.count_request()
        try:
            reply = await self._batches.send(body, route, held.lose)
        except CallFailed as failure:
            if failure.was_sent:
                held.lose()
            else:
                held.settle(_NOTHING)
            raise
        held.settle(self._cost_of(reply))
        return reply


def _require_installed(names: Sequence[str]) -> None:
    """Raises ToolUnknown where nothing installed has one of the names."""
    from ferrule import discovery
    from ferrule.config import read
    from ferrule.errors import ToolDisabled, ToolNameClash

    settings = read()
    for name in names:
        with suppress(ToolNameClash, ToolDisabled):  # which are left out, with the reason
            discovery.find(name, settings)
