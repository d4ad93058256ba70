"""One `tools/call`: from its arguments to a result, in which the tool's own document stands as it is."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, cast

from ferrule.content import items_in, object_in
from ferrule.errors import FerruleError, ToolUnknown, failure_in
from ferrule.text import strict_json
from ferrule_serve.mcp.artifacts import link_in
from ferrule_serve.mcp.content import blocks_of
from ferrule_serve.mcp.messages import Messages
from ferrule_serve.protocol.vocabulary import INTERNAL_ERROR, INVALID_PARAMS, Block, CallResult, RequestError
from ferrule_serve.telemetry import trace_context

if TYPE_CHECKING:
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
        trace_context.CURRENT.set(trace_context.read(exchange.meta, exchange.headers))  # of this task alone
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
    if link := link_in(facts):
        content.append(link)
    structured = object_in(facts)
    wrong = "" if answer.is_error else tool.output.find_fault(structured)
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
