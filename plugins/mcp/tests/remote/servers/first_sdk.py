"""A server by the SDK's first version, which speaks the versions of the protocol up to 2025-11-25. It prints its port.

Run as `first_sdk.py [json]`. With `json` it answers with JSON instead of streams of events.
"""

import socket
import sys

import uvicorn
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

server = FastMCP("first", instructions="Be kind.", json_response="json" in sys.argv)


class Name(BaseModel):
    name: str


@server.tool()
def echo(text: str) -> dict[str, str]:
    return {"echo": text}


@server.tool()
async def slow(ctx: Context, steps: int = 2) -> str:
    for step in range(steps):
        await ctx.report_progress(step + 1, total=steps, message=f"step {step + 1}")
        await ctx.info(f"at {step + 1}")
    return "done"


@server.tool()
async def ask(ctx: Context) -> str:
    return str(await ctx.elicit("Who?", schema=Name))


@server.tool()
async def sample(ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Say hi"))
    return str(await ctx.session.create_message([message], max_tokens=9))


@server.tool()
def fail() -> str:
    raise ValueError("there is no such thing")


def main() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="critical")).run(sockets=[listener])


if __name__ == "__main__":
    main()
