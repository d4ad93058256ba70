"""A server by the SDK's second version, which speaks both eras. It prints the port that it listens on.

Run as `second_sdk.py [ISSUER]`. With an issuer it wants tokens of that authorization server, and answers 401 else.
"""

import json
import os
import socket
import sys

import httpx2
import mcp_types as types
import uvicorn
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server

ODD = {"name": "odd", "inputSchema": {"type": "object", "properties": {"x": {"type": ["string", "null"]}}}}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = {
    "echo": TEXT,
    "slow": {"type": "object", "properties": {"steps": {"type": "integer"}}},
    "ask": {"type": "object"},
    "large": {"type": "object", "properties": {"bytes": {"type": "integer"}}},
    "region": {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
}


async def list_tools(ctx: ServerRequestContext, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    names = sorted(TOOLS)
    start = int(params.cursor) if params and params.cursor else 0
    page = [types.Tool(name=name, input_schema=TOOLS[name]) for name in names[start : start + 3]]
    more = str(start + 3) if start + 3 < len(names) else None
    return types.ListToolsResult(tools=page, next_cursor=more)


async def call_tool(
    ctx: ServerRequestContext, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    arguments = params.arguments or {}
    if params.name == "slow":
        for step in range(arguments.get("steps", 2)):
            await ctx.session.report_progress(step + 1, total=2, message=f"step {step + 1}")
        return _text("done")
    if params.name == "large":
        return _text("x" * arguments["bytes"])
    if params.name == "ask":
        form = types.ElicitRequestFormParams(message="Who?", requested_schema={"type": "object", "properties": {}})
        return types.InputRequiredResult(input_requests={"1": types.ElicitRequest(params=form)})
    if params.name in TOOLS:
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=json.dumps(arguments))], structured_content={"echo": arguments}
        )
    raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name}")


def _text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


class Introspection:
    """Asks the authorization server about a token (RFC 7662)."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer

    async def verify_token(self, token: str) -> AccessToken | None:
        async with httpx2.AsyncClient() as client:
            answer = await client.post(
                f"{self._issuer}/token/introspection", data={"token": token}, auth=("resource", "resource-secret")
            )
        found = answer.json()
        if not found.get("active"):
            return None
        scopes = found.get("scope", "").split()
        return AccessToken(token=token, client_id=found["client_id"], scopes=scopes, resource=found.get("aud"))


def main() -> None:
    server = Server("second", version="0.2", on_list_tools=list_tools, on_call_tool=call_tool)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    port = listener.getsockname()[1]
    guarded = {}
    if len(sys.argv) > 1:
        settings = AuthSettings(
            issuer_url=sys.argv[1],
            resource_server_url=os.environ.get("RESOURCE") or f"http://127.0.0.1:{port}/mcp",
            required_scopes=["tools"],
            validate_token_resource=True,
        )
        guarded = {"auth": settings, "token_verifier": Introspection(sys.argv[1])}
    app = server.streamable_http_app(**guarded)
    print(port, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])


if __name__ == "__main__":
    main()
