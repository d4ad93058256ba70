"""One `tools/call`: from its arguments to a result, in which the tool's own document stands as it is."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import MCPError

from ferrule.errors import FerruleError, ToolUnknown
from ferrule.text import strict_json
from ferrule_serve.idempotency import HEADER
from ferrule_serve.mcp.artifacts import link_in
from ferrule_serve.mcp.messages import Messages

if TYPE_CHECKING:
    from ferrule_serve.catalogue import Catalogue
    from ferrule_serve.idempotency import IdempotencyKeys
    from ferrule_serve.mcp.messages import Context
    from ferrule_serve.pool import Admission, CallAnswer, Pool


class Calls:
    """Answers calls by a pool. keys: of the calls to which a balancer has given one."""

    def __init__(self, catalogue: Catalogue, pool: Pool, keys: IdempotencyKeys) -> None:
        self._catalogue = catalogue
        self._pool = pool
        self._keys = keys

    async def answer(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """The result of a call. A failure of the tool is a result, too; only a tool that is not served is an error."""
        try:
            tool = await self._catalogue.find(params.name)
        except ToolUnknown as error:
            raise MCPError(code=types.INVALID_PARAMS, message=error.message) from None
        except FerruleError as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=error.message) from None
        messages = Messages(context, tool.name)
        sending = asyncio.create_task(messages.send())
        try:
            answer = await self._pool.call(
                tool.installed, params.arguments or {}, on_event=messages.put, may_begin=self._make_admission(context)
            )
            messages.put_printed(answer.text)
            messages.end()
            await asyncio.gather(sending, return_exceptions=True)  # the answer counts, though a client may not listen
        finally:
            sending.cancel()
        return _make_result(answer)

    def _make_admission(self, context: Context) -> Admission | None:
        """What makes sure that the call begins once, where the request may be sent again."""
        key = context.request.headers.get(HEADER) if context.request is not None else None
        return partial(self._keys.claim, key) if key else None


def _make_result(answer: CallAnswer) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=answer.document.decode())]
    facts = strict_json.loads(answer.document)
    if isinstance(facts, dict) and (link := link_in(facts)):
        content.append(link)
    return types.CallToolResult(content=content, structured_content=facts, is_error=answer.is_error)
