"""The conversation about one question: at most two requests to the model, and one execution of a tool between them.

`plan` is what it would take, worked out before anything is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ferrule_ask import typed_answers
from ferrule_ask.answer import Answer, Plan
from ferrule_ask.cost.limits import LimitReached
from ferrule_ask.cost.prices import likely_tokens, max_tokens
from ferrule_ask.models import dialogue as turns
from ferrule_ask.models.dialogue import Dialogue, Exchange, make_results, user_text
from ferrule_ask.models.json_text import encode
from ferrule_ask.request.errors import CallFailed
from ferrule_ask.tools.excerpts import MAX_BYTES_A_TOKEN, MAX_RESULT_BYTES, cut_to_bytes, cut_to_tokens
from ferrule_ask.tools.protocols import ToolResult
from ferrule_ask.tools.tool_results import is_search

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.cost.limits import Reservation
    from ferrule_ask.cost.prices import Price
    from ferrule_ask.experience import Experience
    from ferrule_ask.models.dialogue import Reply, ToolUse
    from ferrule_ask.settings import Settings
    from ferrule_ask.tools.protocols import Source, ToolOffer, Tools

    Event = Callable[[str, JSONMapping], None]

_MAX_FRAME_BYTES = 4_096  # of JSON around the texts of the model and of the tool
_MAX_TOKEN_BYTES = 16  # that one token of output stands for, when it is sent back
_TOOL_GRACE_SECONDS = 2.0  # in which a toolbox has to end a tool whose time is over


class Model(Protocol):
    """The model, as far as one question needs it."""

    async def hold(self, *sizes: int) -> list[Reservation]:
        """Make room within the limits for requests with bodies of so many bytes. Raises LimitReached."""

    async def tool_turn(self, tool: str) -> bool:
        """Wait until a tool may be called, as far as patience goes; whether it may."""

    async def put_off(self, tool: str, seconds: float) -> bool:
        """No question calls the tool for so many seconds; whether this one can wait for that."""

    async def send(self, body: bytes, seconds: float, held: Reservation) -> Reply:
        """Send a request, for which there is room. Raises CallFailed."""


class Question(NamedTuple):
    """One question, and what it is asked with. price: None where it is not known. offers: of the tools, see `begin`.

    day: the date that the model gets; empty for today's. gate: through which executions of tools go, as many at once as
    it lets in; None where few questions are under way.
    """

    text: str
    settings: Settings
    model: Model
    tools: Tools
    price: Price | None
    event: Event
    offers: Sequence[ToolOffer]
    day: str = ""
    gate: asyncio.Semaphore | None = None


class Conversation:
    """One question under way. replies: of the model so far. tool_calls: executions. calls: of the model."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._use: ToolUse | None = None
        self._result: ToolResult | None = None
        self._started = time.monotonic()
        self.replies: list[Reply] = []
        self.estimated = 0  # tokens of the first request
        self.tool_calls = 0
        self.calls: list[JSONObject] = []
        self._found: dict[str, Source] = {}

    async def answer(self) -> Answer:
        """Ask and answer. Raises nothing but what cancels it."""
        try:
            return await self._converse()
        except CallFailed as failure:
            return self.finish(failure.code, failure.sentence, request_id=failure.request_id)
        except LimitReached as limit:
            return self.finish("BUDGET_EXHAUSTED", str(limit))

    def finish(
        self, code: str | None, error: str | None, *, text: str | None = None, request_id: str | None = None
    ) -> Answer:
        """The answer, with all that is known of the conversation so far."""
        last = self.replies[-1] if self.replies else None
        usages = [reply.usage for reply in self.replies if reply.usage]
        return Answer(
            text=text,
            code=code,
            error=error,
            stop_reason=last.stop_reason if last else None,
            model=last.model if last and last.model else self._question.settings.model,
            tool=self._use.name if self._use else None,
            tool_input=self._use.input if self._use and isinstance(self._use.input, dict) else None,
            input_tokens=sum(usage.all_input for usage in usages),
            output_tokens=sum(usage.output for usage in usages),
            cost=self._cost(),
            ms=round((time.monotonic() - self._started) * 1000),
            request_id=request_id or (last.request_id if last else None),
            tool_outcome="none" if self._result is None else "failed" if self._result.is_error else "ok",
            tool_code=self._result.code if self._result else None,
            tool_error=self._result.error if self._result else None,
            tool_calls=tuple(self.calls),
            sources=tuple(self._sources()),
        )

    @property
    def has_failed_tool(self) -> bool:
        """Whether a tool was called, and failed."""
        return self._result is not None and self._result.is_error

    async def _converse(self) -> Answer:
        question, settings = self._question, self._question.settings
        dialogue = begin(question.text, settings, question.offers, question.day or _today())
        size = self._size(dialogue)
        self.estimated = likely_tokens(size)
        # Room for all requests is made first: a question that could not be ended would be paid in vain.
        held = await question.model.hold(*_sizes(size, settings, has_tools=bool(dialogue.offers)))
        try:
            reply = await self._send(dialogue, settings.budgets.question, held[0])
            for number in range(1, len(held)):
                if not reply.wants_tool:
                    break
                texts = await self._call_all(reply, settings.max_calls - len(self.calls))
                if texts is None:
                    return self._without_tool()
                exchanges = *dialogue.exchanges, Exchange(reply, make_results(reply, texts))
                may_call = len(self.calls) < settings.max_calls and number < len(held) - 1
                dialogue = dialogue._replace(exchanges=exchanges, may_call=may_call)
                reply = await self._go_on(dialogue, held[number])
        finally:
            for reservation in held:
                reservation.release()  # which does nothing where it has been used
        return self._answer_to(reply)

    def _size(self, dialogue: Dialogue) -> int:
        settings = self._question.settings
        return len(encode(settings.provider.request(dialogue, settings)))

    async def _send(self, dialogue: Dialogue, seconds: float, held: Reservation) -> Reply:
        settings = self._question.settings
        reply = await self._question.model.send(encode(settings.provider.request(dialogue, settings)), seconds, held)
        self.replies.append(reply)
        return reply

    async def _go_on(self, dialogue: Dialogue, held: Reservation) -> Reply:
        """Send what the tools have answered."""
        settings = self._question.settings
        count = len(dialogue.exchanges)
        size, expected = self._size(dialogue), self._size(dialogue._replace(exchanges=()))
        if size > _sizes(expected, settings, has_tools=True, most=count)[-1]:
            held.release()  # the model has written more than its tokens can stand for
            (held,) = await self._question.model.hold(size)
        try:
            return await self._send(dialogue, settings.budgets.answer, held)
        finally:
            held.release()

    async def _call_all(self, reply: Reply, left: int) -> dict[str, tuple[str, bool]] | None:
        """Make the calls of a reply, as many as are left.

        Returns:
            What the model gets for each, by its id; None where a tool has failed and no answer without it is wanted.
        """
        names = [offer.name for offer in self._question.offers]
        uses = [_chosen(reply, names)] if left == 1 else list({use.id: use for use in reply.tool_uses}.values())[:left]
        texts: dict[str, tuple[str, bool]] = {}
        for use in uses:
            self._use = use
            result = self._result = await self._call(use)
            self.calls.append(_trace(use, result))
            self._found |= {one.url: one for one in result.sources if one.url not in self._found}
            if result.is_error and self._question.settings.on_tool_error != "answer":
                return None
            texts[use.id] = self._told(use, result), result.is_error
        return texts

    def _sources(self) -> Iterator[JSONObject]:
        cited = {one.url: one.title for reply in self.replies for one in reply.citations}
        for one in self._found.values():
            yield {**one._asdict(), "cited": one.url in cited if cited else None}
        for url, title in cited.items():
            if url not in self._found:
                yield {"title": title or url, "url": url, "published": "", "tool": "", "cited": True}

    def _told(self, use: ToolUse, result: ToolResult) -> str:
        """What the model is told of a result."""
        if is_search(use.name):
            return cut_to_bytes(result.content)
        return cut_to_tokens(result.content, self._question.settings.tool_tokens)

    def _without_tool(self) -> Answer:
        use, result = self._use, self._result
        assert use is not None  # noqa: S101 - both are there once a tool was called
        assert result is not None  # noqa: S101 - as above
        why = f" ({result.code})" if result.code else ""
        said = result.error or "It did not say why."
        return self.finish("TOOL_FAILED", f"{use.name} failed{why}, and no answer without it is wanted: {said}")

    async def _call(self, use: ToolUse) -> ToolResult:
        names = [offer.name for offer in self._question.offers]
        if use.name not in names:
            return _failed(f"There is no tool {use.name!r}, only: {', '.join(names)}.", "UNKNOWN_TOOL")
        if not isinstance(use.input, dict):
            return _failed(f"The input of {use.name} has to be a JSON object.", "INVALID_INPUT")
        self._tell("tool_call", {"tool": use.name, "input": use.input})
        started = time.monotonic()
        self.tool_calls += 1
        async with self._question.gate or nullcontext():
            result = await self._execute_in_turn(use.name, use.input)
        seconds = time.monotonic() - started
        facts: JSONObject = {"tool": use.name, "seconds": seconds, "is_error": result.is_error}
        if result.is_error:
            facts |= {"code": result.code, "error": result.error}
        self._tell("tool_result", facts)
        return result

    async def _execute_in_turn(self, tool: str, arguments: JSONMapping) -> ToolResult:
        """Execute a tool when its turn has come, and again where it says when; waiting is beside its own seconds."""
        model = self._question.model
        result: ToolResult | None = None
        while await model.tool_turn(tool) or result is None:
            result = await self._execute(tool, arguments)
            if result.code != "RATE_LIMIT" or result.retry_after is None:
                break
            if not await model.put_off(tool, result.retry_after):
                break
        return result

    async def _execute(self, tool: str, arguments: JSONMapping) -> ToolResult:
        seconds = self._question.settings.budgets.tool
        try:
            async with asyncio.timeout(seconds + _TOOL_GRACE_SECONDS):
                return await self._question.tools.execute(tool, arguments, seconds)
        except TimeoutError:
            return _failed(f"{tool} did not answer within {seconds:g} seconds.", "TIMEOUT")
        except Exception:  # noqa: BLE001 - a toolbox of the caller's own, whose words may hold a key
            return _failed(f"{tool} failed.")

    def _answer_to(self, reply: Reply) -> Answer:
        text = reply.text if reply.text.strip() else None
        most = self._question.settings.max_tokens
        if reply.stop_reason == turns.REFUSAL:
            why = f" ({reply.refusal.rstrip('.')})" if reply.refusal else ""
            return self.finish("REFUSAL", f"The model declined to answer{why}. Ask in another way.")
        if reply.stop_reason == turns.MAX_TOKENS:
            kept = "Its text is cut off there" if text else "It had not written any text by then"
            error = f"The model reached the limit of {most} tokens. {kept}: raise max_tokens."
            return self.finish("MAX_TOKENS", error, text=text)
        if reply.stop_reason == turns.CONTEXT_WINDOW:
            return self.finish("CONTEXT_WINDOW", "The model's context window is full. Shorten the context.", text=text)
        if reply.stop_reason == turns.TOOL_USE:
            return self.finish("EMPTY_ANSWER", "The model wanted to go on with a tool that it cannot have. Ask again.")
        if text is None:
            return self.finish(
                "EMPTY_ANSWER", "The model ended its turn without any text. Ask again, or in other words."
            )
        return self._typed(text)

    def _typed(self, text: str) -> Answer:
        """A whole answer, with its value where a schema was given."""
        schema = self._question.settings.schema
        if schema is None:
            return self.finish(None, None, text=text)
        try:
            value = typed_answers.value_in(text, schema)
        except typed_answers.ValueUnfit as error:
            sentence = f"What the model has written does not fit the schema. {error} Ask again, or in other words."
            return self.finish("VALUE_UNFIT", sentence)
        return self.finish(None, None, text=text)._replace(value=value)

    def _cost(self) -> float | None:
        price = self._question.price
        if price is None or any(reply.usage is None for reply in self.replies):
            return None
        return float(sum((price.cost_of(reply.usage) for reply in self.replies if reply.usage), Decimal(0)))

    def _tell(self, kind: str, facts: JSONMapping) -> None:
        with suppress(Exception):  # a listener must not end what it listens to
            self._question.event(kind, facts)


def plan(
    context: str | None,
    prompt: str,
    settings: Settings,
    offers: Sequence[ToolOffer],
    experience: Experience,
    price: Price | None,
) -> Plan:
    """The plan of a question with these tools on offer.

    Args:
        experience: of the questions so far.
        price: of the model; None where it is not known.
    """
    first = begin(user_text(context, prompt), settings, offers, _today())
    sizes = _sizes(len(encode(settings.provider.request(first, settings))), settings, has_tools=bool(offers))
    likely, requests, most = likely_tokens(sizes[0]), len(sizes), sum(map(max_tokens, sizes))
    output = requests * settings.max_tokens
    guess = experience.likely(settings.model, likely, settings.max_tokens, has_tools=bool(offers))
    calls = requests - 1
    searches = [offer.name for offer in offers if is_search(offer.name)]
    fees = [settings.search_prices.get(name) for name in searches]
    return Plan(
        requests_max=requests,
        input_tokens=likely,
        output_tokens_max=output,
        cost_min=float(price.cost(likely, 0)) if price else None,
        cost_max=float(price.cost(most, output)) if price else None,
        tools=tuple(offer.name for offer in offers),
        cost_likely=float(price.cost(guess.input_tokens, guess.output_tokens)) if price else None,
        likely_from=guess.source,
        searches_max=calls if searches else 0,
        search_cost_max=None if None in fees else calls * max(map(_a_thousandth, fees), default=0.0),
    )


def begin(text: str, settings: Settings, offers: Sequence[ToolOffer], today: str | None = None) -> Dialogue:
    """What the model gets first.

    Args:
        today: the date, which the model gets; None for what makes two questions equal on all days.
    """
    system = [settings.system, f"Today is {today}." if today else ""]
    return Dialogue(text, "\n\n".join(filter(None, system)), offers)


def _sizes(size: int, settings: Settings, *, has_tools: bool, most: int | None = None) -> list[int]:
    """The bytes that the requests of a question have at the most, where the first has so many.

    Args:
        most: calls of tools; as many as the settings allow, if it is not given.
    """
    result = max(MAX_RESULT_BYTES, settings.tool_tokens * MAX_BYTES_A_TOKEN)
    growth = result + _MAX_FRAME_BYTES + settings.max_tokens * _MAX_TOKEN_BYTES
    calls = (settings.max_calls if most is None else most) if has_tools else 0
    return [size + number * growth for number in range(calls + 1)]


def _trace(use: ToolUse, result: ToolResult) -> JSONObject:
    """A call as `Answer.tool_calls` has it."""
    facts: JSONObject = {"tool": use.name, "input": use.input, "outcome": "failed" if result.is_error else "ok"}
    if result.is_error:
        facts |= {"code": result.code, "error": result.error}
    return {**facts, "seconds": round(result.seconds, 3)}


def _a_thousandth(fee: float | None) -> float:
    return (fee or 0.0) / 1000


def _failed(sentence: str, code: str | None = None) -> ToolResult:
    return ToolResult(sentence, is_error=True, seconds=0.0, code=code, error=sentence)


def _chosen(reply: Reply, names: Sequence[str]) -> ToolUse:
    """The first call that can be executed; where none can, the first."""
    sound = (use for use in reply.tool_uses if use.name in names and isinstance(use.input, dict))
    return next(sound, reply.tool_uses[0])


def _today() -> str:
    return time.strftime("%Y-%m-%d")
