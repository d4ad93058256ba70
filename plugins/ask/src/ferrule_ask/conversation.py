"""The conversation about one question: at most two requests to the model, and one execution of a tool between them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ferrule_ask import messages
from ferrule_ask.answer import Answer
from ferrule_ask.errors import CallFailed
from ferrule_ask.limits import LimitReached

if TYPE_CHECKING:
    from ferrule_ask.limits import Reservation
    from ferrule_ask.messages import Reply, ToolUse
    from ferrule_ask.prices import Price
    from ferrule_ask.protocols import Tools
    from ferrule_ask.settings import Settings

Event = Callable[[str, Mapping[str, Any]], None]

LONGEST_RESULT = 24_000  # bytes of what a tool's result says to the model
_GRACE = 2.0  # seconds that a toolbox has to end a tool whose time is over
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


class ToolCalled(NamedTuple):
    """What came of the model's call of a tool."""

    content: str
    is_error: bool


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
            return self.ended(failure.code, failure.sentence, request_id=failure.request_id)
        except LimitReached as limit:
            text = self.replies[-1].text.strip() and self.replies[-1].text if self.replies else None
            return self.ended("BUDGET_EXHAUSTED", str(limit), text=text or None)

    def ended(
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
        return self._of(reply)

    async def _send(self, request: Mapping[str, Any], seconds: float, held: Reservation | None = None) -> Reply:
        reply = await self._question.model.send(messages.encode(request), seconds, held)
        self.replies.append(reply)
        return reply

    async def _send_result(self, first: Mapping[str, Any], reply: Reply, use: ToolUse) -> Reply:
        # Room for the second request is made first: a result that nobody may be asked about would be paid in vain.
        nothing = messages.second_request(first, reply, messages.answers_to(reply, use, "", is_error=True))
        held = await self._question.model.hold(len(messages.encode(nothing)) + LONGEST_RESULT)
        try:
            called = await self._call(use)
            answers = messages.answers_to(reply, use, _cut(called.content), is_error=called.is_error)
            second = messages.second_request(first, reply, answers)
            return await self._send(second, self._question.settings.budgets.answer, held)
        finally:
            held.release()  # which does nothing where it has been used

    async def _call(self, use: ToolUse) -> ToolCalled:
        names = [offer.name for offer in self._question.tools.offered]
        if use.name not in names:
            return ToolCalled(f"There is no tool {use.name!r}, only: {', '.join(names)}.", True)
        if not isinstance(use.input, dict):
            return ToolCalled(f"The input of {use.name} has to be a JSON object.", True)
        self._tell("tool_call", {"tool": use.name, "input": use.input})
        started = time.monotonic()
        self.tool_calls += 1
        called = await self._execute(use)
        seconds = time.monotonic() - started
        self._tell("tool_result", {"tool": use.name, "seconds": seconds, "is_error": called.is_error})
        return called

    async def _execute(self, use: ToolUse) -> ToolCalled:
        seconds = self._question.settings.budgets.tool
        try:
            async with asyncio.timeout(seconds + _GRACE):
                outcome = await self._question.tools.execute(use.name, use.input, seconds)
        except TimeoutError:
            return ToolCalled(f"{use.name} did not answer within {seconds:g} seconds.", True)
        except Exception:  # noqa: BLE001 - a toolbox of somebody else's, whose words may hold a key
            return ToolCalled(f"{use.name} failed.", True)
        return ToolCalled(outcome.content, outcome.is_error)

    def _of(self, reply: Reply) -> Answer:
        text = reply.text if reply.text.strip() else None
        most = self._question.settings.max_tokens
        if reply.stop_reason == "refusal":
            why = f" ({reply.refusal.rstrip('.')})" if reply.refusal else ""
            return self.ended("REFUSAL", f"The model declined to answer{why}. Ask in another way.")
        if reply.stop_reason == "max_tokens":
            kept = "Its text is cut off there" if text else "It had not written any text by then"
            error = f"The model reached the limit of {most} tokens. {kept}: raise max_tokens."
            return self.ended("MAX_TOKENS", error, text=text)
        if reply.stop_reason == "model_context_window_exceeded":
            return self.ended("CONTEXT_WINDOW", "The model's context window is full. Shorten the context.", text=text)
        if text is None:
            return self.ended(
                "EMPTY_ANSWER", "The model ended its turn without any text. Ask again, or in other words."
            )
        return self.ended(None, None, text=text)

    def _cost(self) -> float | None:
        price = self._question.price
        if price is None or any(reply.usage is None for reply in self.replies):
            return None
        return float(sum((price.cost_of(reply.usage) for reply in self.replies if reply.usage), Decimal(0)))

    def _tell(self, kind: str, facts: Mapping[str, Any]) -> None:
        with suppress(Exception):  # whoever listens must not end what they listen to
            self._question.event(kind, facts)


def _chosen(reply: Reply, names: Sequence[str]) -> ToolUse:
    """The first call that can be executed; where none can, the first."""
    for use in reply.tool_uses:
        if use.name in names and isinstance(use.input, dict):
            return use
    return reply.tool_uses[0]


def _cut(content: str) -> str:
    data = content.encode("utf-8", "replace")
    if len(data) <= LONGEST_RESULT:
        return data.decode()
    return data[: LONGEST_RESULT - len(_CUT.encode())].decode(errors="ignore") + _CUT
