"""A server of the official SDK whose tool asks the user for a name first, in either era: python asking_server.py."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

_QUESTION = types.ElicitRequestFormParams(
    message="Your name?", requested_schema={"type": "object", "properties": {"name": {"type": "string"}}}
)


async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    """The one tool."""
    return types.ListToolsResult(tools=[types.Tool(name="greet", input_schema={"type": "object"})])


async def call_tool(context: Any, params: Any) -> types.CallToolResult | types.InputRequiredResult:
    """Ask for the name, and greet."""
    if context.protocol_version >= "2026":
        answers = params.input_responses
        if answers is None:
            return types.InputRequiredResult(
                input_requests={"name": types.ElicitRequest(params=_QUESTION)}, request_state="asked"
            )
        answer = answers["name"]
    else:
        answer = await context.session.elicit_form(_QUESTION.message, _QUESTION.requested_schema)
    return types.CallToolResult(content=[types.TextContent(text=f"{answer.action}, {params.request_state}")])


async def serve() -> None:
    """Answer until stdin ends."""
    server: Any = Server("asking", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(serve())
