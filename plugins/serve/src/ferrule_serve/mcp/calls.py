"""One `tools/call`: from its arguments to a result, in which the tool's own document stands as it is.

What a tool says while it runs goes to the client whose call it is: its events as log messages, or as progress.
"""

from __future__ import annotations

import asyncio
import math
from functools import partial
from typing import TYPE_CHECKING, TypeGuard, cast

from ferrule.content import items_in, object_in
from ferrule.errors import FerruleError, ToolUnknown, failure_in
from ferrule.text import strict_json
from ferrule_serve.mcp.artifacts import link_in
from ferrule_serve.mcp.content import blocks_of
from ferrule_serve.mcp.exchange import DEFAULT_LEVEL
from ferrule_serve.pool import QUEUED
from ferrule_serve.protocol.vocabulary import INTERNAL_ERROR, INVALID_PARAMS, LEVELS, Block, CallResult, RequestError
from ferrule_serve.telemetry import trace_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.text.json_types import JSONObject
    from ferrule_serve.catalogue import Catalogue, ServedTool
    from ferrule_serve.idempotency import IdempotencyKeys
    from ferrule_serve.mcp.exchange import Exchange
    from ferrule_serve.pool import Admission, CallAnswer, Pool


_NOTES = "_meta"


class Calls:
    """Answers calls by a pool. keys: of the calls to which a balancer has given one."""

    def __init__(self, catalogue: Catalogue, pool: Pool, keys: IdempotencyKeys) -> None:
        self._catalogue = catalogue
        self._pool = pool
        self._keys = keys

    async def answer(self, exchange: Exchange) -> JSONObject:
        """The result of a call. A failure of the tool is a result, too; only a tool that is not served is an error."""
        name, arguments = _read(exchange.request.params)
        try:
            tool = await self._catalogue.find(name)
        except ToolUnknown as error:
            raise RequestError(INVALID_PARAMS, error.message) from None
        except FerruleError as error:
            raise RequestError(INTERNAL_ERROR, error.message) from None
        messages = Messages(exchange, tool.name)
        is_traced = trace_context.NAMES[0] in exchange.meta or trace_context.NAMES[0] in exchange.headers
        said = trace_context.read(exchange.meta, exchange.headers) if is_traced else {}
        trace_context.CURRENT.set(said)  # of this task alone
        answer = await self._pool.call(
            tool.installed,
            arguments,
            on_event=messages.put,
            may_begin=self._make_admission(exchange),
            read=tool.read_arguments,
            client=exchange.peer.client,
        )
        messages.put_printed(answer.text)
        return cast("JSONObject", await make_result(answer, tool))

    def _make_admission(self, exchange: Exchange) -> Admission | None:
        """What makes sure that the call begins once, where the request may be sent again."""
        key = exchange.idempotency_key
        if key is None:
            return None
        if not key:
            self._keys.note_missing()
        return partial(self._keys.claim, key) if key else None


def _read(params: JSONObject) -> tuple[str, JSONObject]:
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise RequestError(INVALID_PARAMS, "Invalid request parameters: name has to be a string.")
    if arguments is not None and not isinstance(arguments, dict):
        raise RequestError(INVALID_PARAMS, "Invalid request parameters: arguments has to be an object.")
    return name, arguments or {}


async def make_result(answer: CallAnswer, tool: ServedTool) -> CallResult:
    """What a client gets of an answer."""
    facts = strict_json.loads_object(answer.document)
    items = None if answer.is_error else items_in(facts)
    content: list[Block] = [{"type": "text", "text": answer.document.decode()}]
    if items is not None:
        content = await asyncio.to_thread(blocks_of, items)
    if "linked" in facts and (link := link_in(facts)):
        content.append(link)
    structured = object_in(facts)
    wrong = "" if answer.is_error or tool.output.form is None else tool.output.find_fault(structured)
    if wrong and structured and _NOTES in structured:  # of wrappers, of which the tool knows nothing
        structured = {key: value for key, value in structured.items() if key != _NOTES}
        wrong = tool.output.find_fault(structured)
    if wrong and not failure_in(facts):  # first: some clients show no more than that
        told = f"The result is not what {tool.name} declares as its result_schema: {wrong}."
        content.insert(0, {"type": "text", "text": told})
    is_error = answer.is_error or bool(wrong)
    result: CallResult = {"content": content, "isError": is_error}
    # Some clients hold even an error against the declared schema, and then drop all of it. Its document is the text.
    if structured is not None and not (is_error and tool.output.form is not None):
        result["structuredContent"] = structured
    return result


class Messages:
    """The way back to the client of one call. What is put goes out before the answer, in its order.

    It is left out where the client reads too slowly.
    """

    def __init__(self, exchange: Exchange, tool: str) -> None:
        self._exchange = exchange
        self._tool = tool
        self._progress = -math.inf

    def put(self, event: Mapping[str, object]) -> None:
        """Hand an event on.

        That it waits is not told to one whose balancer may send it elsewhere, which ends with the first event.
        """
        if event.get("event") == QUEUED and self._exchange.idempotency_key:
            return
        if event.get("event") == "progress":
            self._report(event)
        else:
            self._log(_level_of(event), dict(event))

    def put_printed(self, text: str) -> None:
        """Hand on what the tool printed, which helps to find a fault."""
        if text:
            self._log("debug", {"printed": text})

    def _report(self, event: Mapping[str, object]) -> None:
        """Progress has to grow, says the protocol; what does not is left out."""
        progress, token = event.get("progress"), self._exchange.progress_token
        if token is None or not _is_number(progress) or progress <= self._progress:
            return
        self._progress = progress
        told: JSONObject = {"progressToken": token, "progress": progress}
        if _is_number(total := event.get("total")):
            told["total"] = total
        if isinstance(message := event.get("message"), str):
            told["message"] = message
        self._send("notifications/progress", told)

    def _log(self, level: str, data: object) -> None:
        least = self._exchange.peer.level
        if least is not None and LEVELS.index(level) >= LEVELS.index(least):
            self._send("notifications/message", {"level": level, "logger": self._tool, "data": data})

    def _send(self, method: str, params: JSONObject) -> None:
        if not self._exchange.channel.is_full:
            self._exchange.notify(method, params)


def _level_of(event: Mapping[str, object]) -> str:
    """The level that the event names itself, or that its name has."""
    said = event.get("level")
    named = next((level for level in LEVELS if level == said), None)
    # Any JSON may stand there, a list too, so it is compared and never hashed.
    is_warning = event.get("kind") == "config_required" or event.get("event") == "wrapper_failed"
    return named or ("warning" if is_warning else DEFAULT_LEVEL)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
