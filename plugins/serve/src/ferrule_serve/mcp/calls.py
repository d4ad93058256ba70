"""One `tools/call`: from its arguments to a result, in which the tool's own document stands as it is."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp import MCPError
from mcp.server import ServerRequestContext

from ferrule.errors import FerruleError, InputMalformed, ToolUnknown
from ferrule.text import strict_json
from ferrule_serve.idempotency import HEADER, IdempotencyKeys
from ferrule_serve.mcp.artifacts import link_in
from ferrule_serve.mcp.messages import Messages

if TYPE_CHECKING:
    from ferrule_serve.catalogue import Catalogue, ServedTool
    from ferrule_serve.pool import Admission, Pool

_Context = ServerRequestContext[Any]


class Calls:
    """Answers calls by a pool. running: how many are on. beginnings: of the calls that a balancer has numbered."""

    def __init__(self, catalogue: Catalogue, pool: Pool, beginnings: IdempotencyKeys) -> None:
        self._beginnings = beginnings
        self._catalogue = catalogue
        self._pool = pool
        self.running = 0

    async def answer(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """The result of a call. A failure of the tool is a result, too; only a tool that is not served is an error."""
        try:
            tool = await self._catalogue.find(params.name)
        except ToolUnknown as error:
            raise MCPError(code=types.INVALID_PARAMS, message=error.message) from None
        except FerruleError as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=error.message) from None
        self.running += 1
        try:
            messages = Messages(context, tool.name)
            return await self._made(tool, params.arguments or {}, messages, self._admission(context))
        finally:
            self.running -= 1

    def _admission(self, context: _Context) -> Admission | None:
        """What makes sure that the call begins once, where whoever sent the request may send it again."""
        number = context.request.headers.get(HEADER) if context.request is not None else None
        return partial(self._beginnings.begin, number) if number else None

    async def _made(
        self, tool: ServedTool, arguments: dict[str, Any], messages: Messages, may_begin: Admission | None
    ) -> types.CallToolResult:
        sending = asyncio.create_task(messages.send())
        try:
            answered = await self._pool.call(
                tool.installed, _as_json(arguments), on_event=messages.put, may_begin=may_begin
            )
            messages.printed(answered.text)
            messages.end()
            await asyncio.gather(sending, return_exceptions=True)  # the answer counts, whoever does not listen
        except FerruleError as error:
            return _result(await self._pool.failure(error, tool.installed), is_error=True)
        finally:
            sending.cancel()
        return _result(answered.document, is_error=answered.is_error)


def _as_json(arguments: dict[str, Any]) -> bytes:
    """The arguments as an executable reads them: the SDK's parser lets numbers pass that are none, and half letters."""
    try:
        return strict_json.dumps(arguments)
    except strict_json.Unrepresentable as error:
        raise InputMalformed(f"The arguments are not valid JSON: {error}.") from None


def _result(document: bytes, *, is_error: bool) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=document.decode())]
    facts = strict_json.loads(document)
    if isinstance(facts, dict) and (link := link_in(facts)):
        content.append(link)
    return types.CallToolResult(content=content, structured_content=facts, is_error=is_error)
