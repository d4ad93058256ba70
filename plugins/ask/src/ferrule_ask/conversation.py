"""The conversation about one question: at most two requests to the model, and one execution of a tool between them.

`plan` is what it would take, worked out before anything is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ferrule_ask import messages
from ferrule_ask.answer import Answer, Plan
from ferrule_ask.errors import CallFailed
from ferrule_ask.limits import LimitReached
from ferrule_ask.prices import likely_tokens, max_tokens, price_of

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.limits import Reservation
    from ferrule_ask.messages import Reply, ToolUse
    from ferrule_ask.prices import Price
    from ferrule_ask.protocols import ToolOffer, Tools
    from ferrule_ask.settings import Settings

    Event = Callable[[str, JSONMapping], None]

MAX_RESULT_BYTES = 24_000  # of what a tool's result says to the model
_MAX_FRAME_BYTES = 4_096  # of JSON around the texts of the model and of the tool
_MAX_TOKEN_BYTES = 16  # that one token of output stands for, when it is sent back
_TOOL_GRACE_SECONDS = 2.0  # in which a toolbox has to end a tool whose time is over
_CUT = "… [cut]"


class Model(Protocol):
    """The model, as far as one question needs it."""

    async def hold(self, size: int) -> Reservation:
        """Make room within the limits for a request with a body of so many bytes. Raises LimitReached."""

    async def send(self, body: bytes, seconds: float, held: Reservation | None = None) -> Reply:
        """Send a request. Raises CallFailed or LimitReached."""


class Question(NamedTuple):
    """One question, and what it is asked with. price: None where it is not known."""

    text: str
    settings: Settings
    model: Model
    tools: Tools
    price: Price | None
    event: Event


class Conversation:
    """One question under way. replies: of the model so far. tool_calls: executions."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._use: ToolUse | None = None
        self._started = time.monotonic()
        self.replies: list[Reply] = []
        self.tool_calls = 0

    async def answer(self) -> Answer:
        """Ask and answer. Raises nothing but what cancels it."""
        try:
            return await self._converse()
        except CallFailed as failure:
            return self.finish(failure.code, failure.sentence, request_id=failure.request_id)
        except LimitReached as limit:
            text = self.replies[-1].text.strip() and self.replies[-1].text if self.replies else None
            return self.finish("BUDGET_EXHAUSTED", str(limit), text=text or None)

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
        )

    async def _converse(self) -> Answer:
        question = self._question
        offered = question.tools.offered
        first = messages.first_request(question.settings, question.text, offered)
        reply = await self._send(first, question.settings.budgets.question)
        if reply.wants_tool and offered:
            use = self._use = _chosen(reply, [offer.name for offer in offered])
            reply = await self._send_result(first, reply, use)
        return self._answer_to(reply)

    async def _send(self, request: JSONMapping, seconds: float, held: Reservation | None = None) -> Reply:
        reply = await self._question.model.send(messages.encode(request), seconds, held)
        self.replies.append(reply)
        return reply

    async def _send_result(self, first: JSONMapping, reply: Reply, use: ToolUse) -> Reply:
        # Room for the second request is made first: a result that cannot be sent would be paid in vain.
        nothing = messages.second_request(first, reply, messages.tool_results(reply, use, "", is_error=True))
        held = await self._question.model.hold(len(messages.encode(nothing)) + MAX_RESULT_BYTES)
        try:
            content, is_error = await self._call(use)
            results = messages.tool_results(reply, use, _cut(content), is_error=is_error)
            second = messages.second_request(first, reply, results)
            return await self._send(second, self._question.settings.budgets.answer, held)
        finally:
            held.release()  # which does nothing where it has been used

    async def _call(self, use: ToolUse) -> tuple[str, bool]:
        """The text for the model, and whether it tells of an error."""
        names = [offer.name for offer in self._question.tools.offered]
        if use.name not in names:
            return f"There is no tool {use.name!r}, only: {', '.join(names)}.", True
        if not isinstance(use.input, dict):
            return f"The input of {use.name} has to be a JSON object.", True
        self._tell("tool_call", {"tool": use.name, "input": use.input})
        started = time.monotonic()
        self.tool_calls += 1
        content, is_error = await self._execute(use.name, use.input)
        seconds = time.monotonic() - started
        self._tell("tool_result", {"tool": use.name, "seconds": seconds, "is_error": is_error})
        return content, is_error

    async def _execute(self, tool: str, arguments: JSONMapping) -> tuple[str, bool]:
        seconds = self._question.settings.budgets.tool
        try:
            async with asyncio.timeout(seconds + _TOOL_GRACE_SECONDS):
                outcome = await self._question.tools.execute(tool, arguments, seconds)
        except TimeoutError:
            return f"{tool} did not answer within {seconds:g} seconds.", True
        except Exception:  # noqa: BLE001 - a toolbox of the caller's own, whose words may hold a key
            return f"{tool} failed.", True
        return outcome.content, outcome.is_error

    def _answer_to(self, reply: Reply) -> Answer:
        text = reply.text if reply.text.strip() else None
        most = self._question.settings.max_tokens
        if reply.stop_reason == "refusal":
            why = f" ({reply.refusal.rstrip('.')})" if reply.refusal else ""
            return self.finish("REFUSAL", f"The model declined to answer{why}. Ask in another way.")
        if reply.stop_reason == "max_tokens":
            kept = "Its text is cut off there" if text else "It had not written any text by then"
            error = f"The model reached the limit of {most} tokens. {kept}: raise max_tokens."
            return self.finish("MAX_TOKENS", error, text=text)
        if reply.stop_reason == "model_context_window_exceeded":
            return self.finish("CONTEXT_WINDOW", "The model's context window is full. Shorten the context.", text=text)
        if text is None:
            return self.finish(
                "EMPTY_ANSWER", "The model ended its turn without any text. Ask again, or in other words."
            )
        return self.finish(None, None, text=text)

    def _cost(self) -> float | None:
        price = self._question.price
        if price is None or any(reply.usage is None for reply in self.replies):
            return None
        return float(sum((price.cost_of(reply.usage) for reply in self.replies if reply.usage), Decimal(0)))

    def _tell(self, kind: str, facts: JSONMapping) -> None:
        with suppress(Exception):  # a listener must not end what it listens to
            self._question.event(kind, facts)


def plan(context: str | None, prompt: str, settings: Settings, offers: Sequence[ToolOffer]) -> Plan:
    """The plan of a question with these tools on offer."""
    size = len(messages.encode(messages.first_request(settings, messages.question(context, prompt), offers)))
    likely, requests = likely_tokens(size), 2 if offers else 1
    most = max_tokens(size)
    if offers:
        most += max_tokens(size + MAX_RESULT_BYTES + _MAX_FRAME_BYTES + settings.max_tokens * _MAX_TOKEN_BYTES)
    output = requests * settings.max_tokens
    price = price_of(settings.model, settings.prices)
    return Plan(
        requests_max=requests,
        input_tokens=likely,
        output_tokens_max=output,
        cost_min=float(price.cost(likely, 0)) if price else None,
        cost_max=float(price.cost(most, output)) if price else None,
        tools=tuple(offer.name for offer in offers),
    )


def _chosen(reply: Reply, names: Sequence[str]) -> ToolUse:
    """The first call that can be executed; where none can, the first."""
    sound = (use for use in reply.tool_uses if use.name in names and isinstance(use.input, dict))
    return next(sound, reply.tool_uses[0])


def _cut(content: str) -> str:
    data = content.encode("utf-8", "replace")
    if len(data) <= MAX_RESULT_BYTES:
        return data.decode()
    return data[: MAX_RESULT_BYTES - len(_CUT.encode())].decode(errors="ignore") + _CUT
