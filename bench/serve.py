"""What a call costs: of the executable, of `ferrule serve`, and of what else serves tools over MCP, in one run.

Usage: python bench/serve.py [--calls N] [--json]

Every contender answers the same two calls, as far as it has the tool: `example {"city": "Oslo"}`, which does next to
nothing, and `web_fetch` of a page on loopback; by 1, 8 and 50 callers at once. p50 and p99 are milliseconds from asking
to having the answer, the wait for a free worker included. The last column is the rate as a multiple of the executable's
in the same run. All MCP servers are asked by the same client, in this process, whose work is in every such row; ours
alone has a process for each call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from multiprocessing import Process
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from serve_over_mcp import fetch, own, trivial

from ferrule.text.names import executable_name
from ferrule_serve.pool import Pool
from ferrule_testkit.corpus import EXAMPLE, Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

CALLERS = (1, 8, 50)
PAGE = b"<title>Almanac</title><h1>Almanac</h1>" + b"<p>Oslo lies at the <a href='/fjord'>fjord</a>.</p>" * 50

Ask: TypeAlias = "Callable[[Question], Awaitable[bytes]]"


class Question(NamedTuple):
    """A call that is made over and over."""

    tool: str
    arguments: bytes

    @property
    def parsed(self) -> Any:
        """The arguments as an object."""
        return json.loads(self.arguments)


class Contender(NamedTuple):
    """One way to call tools. started: gives a function that makes one call, until it is left. tools: that it has."""

    name: str
    started: Callable[[], AsyncIterator[Ask]]
    tools: tuple[str, ...] = ("example", "web_fetch")
    share: int = 1  # of the calls: one that takes a second for each is asked fewer


class Row(NamedTuple):
    """Milliseconds, and calls in a second."""

    name: str
    tool: str
    callers: int
    p50: float
    p99: float
    rate: float


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100, help="of each contender, by each number of callers")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _page() as url:
        asyncio.run(report(Path(folder), url, options.calls, as_json=options.json))


async def report(folder: Path, url: str, calls: int, *, as_json: bool) -> None:
    """Measure each contender and print it as soon as it is known."""
    questions = [Question("example", b'{"city": "Oslo"}'), Question("web_fetch", json.dumps({"url": url}).encode())]
    if not as_json:
        print(f"{'contender':24} {'tool':10} {'callers':>7} {'p50':>8} {'p99':>8} {'calls/s':>8} {'times':>7}")
    rates: dict[tuple[str, int], float] = {}
    for contender in contenders(folder):
        async with asynccontextmanager(contender.started)() as ask:
            for question, callers in product(questions, CALLERS):
                if question.tool in contender.tools:
                    row = await measure(contender, question, ask, callers, max(2, calls // contender.share))
                    times = row.rate / rates.setdefault((row.tool, row.callers), row.rate)
                    print(json.dumps({**row._asdict(), "times": times}) if as_json else _shown(row, times), flush=True)


def _shown(row: Row, times: float) -> str:
    figures = f"{row.p50:8.1f} {row.p99:8.1f} {row.rate:8.1f} {times:6.1f}x"
    return f"{row.name:24} {row.tool:10} {row.callers:7} {figures}"


def contenders(folder: Path) -> list[Contender]:
    """All that are compared; the first is what the others are multiples of."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "FERRULE_FETCH_ALLOW": "loopback"}
    site = Site(folder).install(EXAMPLE, EXAMPLE.parent / "fetch")
    site.link(["example", "web_fetch"], environment)
    environment["PYTHONPATH"] = str(site.path)
    return [
        Contender("executable, linked", lambda: executable(site.links, environment)),
        Contender("pool of 8, without MCP", lambda: warm(environment, 8)),
        Contender("ferrule serve, stdio", lambda: own("stdio", environment)),
        Contender("ferrule serve, HTTP", lambda: own("http", environment)),
        *_peers(environment),
    ]


def _peers(environment: dict[str, str]) -> list[Contender]:
    bare = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    return [
        Contender("FastMCP, stdio", lambda: trivial("fastmcp", "stdio", bare), ("example",)),
        Contender("FastMCP, HTTP", lambda: trivial("fastmcp", "http", bare), ("example",)),
        Contender("SDK's MCPServer, stdio", lambda: trivial("sdk", "stdio", bare), ("example",)),
        Contender("SDK's MCPServer, HTTP", lambda: trivial("sdk", "http", bare), ("example",)),
        Contender("mcp-server-fetch, stdio", lambda: fetch(bare), ("web_fetch",), share=5),
    ]


async def executable(folder: Path, environment: dict[str, str]) -> AsyncIterator[Ask]:
    """A process for each call, as an agent starts it."""
    pipe = asyncio.subprocess.PIPE

    async def ask(question: Question) -> bytes:
        path = folder / executable_name(question.tool)
        process = await asyncio.create_subprocess_exec(
            path, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env=environment
        )
        answer = (await process.communicate(question.arguments))[0].strip()
        assert answer.startswith(b'{"success":true'), answer
        return answer

    yield ask


async def warm(environment: dict[str, str], workers: int) -> AsyncIterator[Ask]:
    """Processes that have loaded the tool and wait for the call."""
    async with Pool(workers, environment=environment) as pool:

        async def ask(question: Question) -> bytes:
            answered = await pool.call(question.tool, question.arguments)
            assert not answered.is_error, answered
            return answered.document

        yield ask


async def measure(contender: Contender, question: Question, ask: Ask, callers: int, calls: int) -> Row:
    """Let so many callers make so many calls together, after some that do not count."""
    waits: list[float] = []
    await asyncio.gather(*(ask(question) for _ in range(max(20, callers) // contender.share)))
    turns = iter(range(calls))

    async def caller() -> None:
        for _ in turns:
            started = time.perf_counter()
            answer = await ask(question)
            waits.append(1000 * (time.perf_counter() - started))
            assert answer, question

    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    rate = calls / (time.perf_counter() - started)
    return Row(
        contender.name, question.tool, callers, statistics.median(waits), statistics.quantiles(waits, n=100)[98], rate
    )


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _page() -> Iterator[str]:
    """The URL of a page, which a process of its own serves: a thread would have to wait for the callers' turns."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        served = Process(target=server.serve_forever)
        served.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        served.terminate()
        served.join()


if __name__ == "__main__":
    main()
