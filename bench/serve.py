"""What a call costs: of the executable, of `ferrule serve`, and of what else serves tools over MCP, in one run.

Usage: python bench/serve.py [--calls N] [--json]

Every contender answers the same two calls, as far as it has the tool: `example {"city": "Oslo"}`, which does next to
nothing, and `web_fetch` of a page on loopback; by 1, 8 and 50 callers at once. p50 and p99 are milliseconds from asking
to having the answer, the wait for a turn included. `cpu` is what the server and all its processes take of a processor
for a call, in milliseconds, by the kernel's account; the client's work is not in it. The last column is the rate as a
multiple of the first contender's in the same run.

MCP servers are asked by the official client, or by a raw one that writes and reads JSON. Ours gives each call
a process of its own, or where it says "used again", a process that has made calls before. With --waiting, 40 calls of a
tool that waits for a second are made at once.
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

from measuring import memory_below, seconds_below
from peers.serve_over_mcp import fetch, own, trivial

from ferrule.text.names import executable_name
from ferrule_serve.pool import Pool
from ferrule_testkit.corpus import EXAMPLE, Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

CALLERS = (1, 8, 50)
_OWN = ("example", "web_fetch", "wait")
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
    tools: tuple[str, ...] = ("example", "web_fetch")  # and "wait", for --waiting alone
    share: int = 1  # of the calls: one that takes a second for each is asked fewer


class Row(NamedTuple):
    """Milliseconds, and calls in a second."""

    name: str
    tool: str
    callers: int
    p50: float
    p99: float
    rate: float
    cpu: float


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100, help="of each contender, by each number of callers")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT", help="contenders whose name has this in it")
    parser.add_argument("--waiting", action="store_true", help="40 calls of one second at once, instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _page() as (url, page):
        chosen = [one for one in contenders(Path(folder)) if options.only in one.name]
        if options.waiting:
            asyncio.run(report_waiting(chosen, page))
        else:
            asyncio.run(report(chosen, url, page, options.calls, as_json=options.json))


async def report(chosen: Sequence[Contender], url: str, page: int, calls: int, *, as_json: bool) -> None:
    """Measure each contender and print it as soon as it is known. page: the process that serves the page."""
    questions = [Question("example", b'{"city": "Oslo"}'), Question("web_fetch", json.dumps({"url": url}).encode())]
    if not as_json:
        print(
            f"{'contender':32} {'tool':10} {'callers':>7} {'p50':>8} {'p99':>8} {'cpu':>8} {'calls/s':>8} {'times':>7}"
        )
    rates: dict[tuple[str, int], float] = {}
    for contender in chosen:
        async with asynccontextmanager(contender.started)() as ask:
            for question, callers in product(questions, CALLERS):
                if question.tool in contender.tools:
                    row = await measure(contender, question, ask, callers, max(2, calls // contender.share), page)
                    times = row.rate / rates.setdefault((row.tool, row.callers), row.rate)
                    print(json.dumps({**row._asdict(), "times": times}) if as_json else _shown(row, times), flush=True)


async def report_waiting(chosen: Sequence[Contender], page: int) -> None:
    """How long 40 calls of one second take that are made at once, and the memory of the server and its processes."""
    for contender in chosen:
        if "wait" not in contender.tools:
            continue
        async with asynccontextmanager(contender.started)() as ask:
            await ask(Question("wait", b'{"seconds": 0}'))
            started = time.perf_counter()
            waiting = asyncio.gather(*(ask(Question("wait", b'{"seconds": 1}')) for _ in range(40)))
            await asyncio.sleep(0.8)
            mib = await asyncio.to_thread(memory_below, os.getpid(), (page,))
            await waiting
            print(f"{contender.name:32} {time.perf_counter() - started:6.2f} s {mib:6.0f} MiB", flush=True)


def _shown(row: Row, times: float) -> str:
    figures = f"{row.p50:8.2f} {row.p99:8.2f} {row.cpu:8.2f} {row.rate:8.1f} {times:6.1f}x"
    return f"{row.name:32} {row.tool:10} {row.callers:7} {figures}"


def contenders(folder: Path) -> list[Contender]:
    """All that are compared; the first is what the others are multiples of."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "FERRULE_FETCH_ALLOW": "loopback"}
    site = Site(folder).install(EXAMPLE, EXAMPLE.parent / "fetch")
    site.link(["example", "web_fetch"], environment)
    environment["PYTHONPATH"] = str(site.path)
    _install_waiting_tool(site.path)
    again = {**environment, "FERRULE_CONFIG": str(folder / "again.toml")}
    environment["FERRULE_CONFIG"] = str(folder / "single.toml")
    (folder / "single.toml").write_text("".join(f"[tools.{tool}]\nreusable = false\n" for tool in _OWN))
    return [
        Contender("executable, linked", lambda: executable(site.links, environment)),
        Contender("pool, without MCP", lambda: warm(environment), _OWN),
        Contender("pool, used again", lambda: warm(again), _OWN),
        Contender("ferrule serve, stdio", lambda: own("stdio", environment), _OWN),
        Contender("ferrule serve, HTTP", lambda: own("http", environment), _OWN),
        Contender("ferrule serve, used again, stdio", lambda: own("stdio", again), _OWN),
        Contender("ferrule serve, used again, HTTP", lambda: own("http", again), _OWN),
        Contender("ferrule, used again, raw stdio", lambda: own("raw", again), _OWN),
        Contender("ferrule, used again, raw HTTP", lambda: own("raw http", again), _OWN),
        *_peers(environment),
    ]


def _install_waiting_tool(site: Path) -> None:
    """A tool that does nothing for some seconds, as a wheel would install it."""
    parameters = {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}
    schema = {"name": "wait", "description": "Wait.", "parameters": parameters}
    (site / "waiting_tool.schema.json").write_text(json.dumps(schema))
    (site / "waiting_tool.tool.json").write_text('{"reusable": true}')
    (site / "waiting_tool.py").write_text(
        "import time\nfrom ferrule import hookimpl, static_schema\n@hookimpl\ndef schema():\n"
        "    return static_schema(__file__)\n@hookimpl\ndef execute(arguments):\n"
        "    time.sleep(arguments['seconds'])\n    return {'success': True}\n"
    )
    metadata = site / "waiting_tool-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: waiting-tool\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[ferrule.tools]\nwait = waiting_tool\n")


def _peers(environment: dict[str, str]) -> list[Contender]:
    bare = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    return [
        Contender("FastMCP, stdio", lambda: trivial("fastmcp", "stdio", bare), _OWN),
        Contender("FastMCP, HTTP", lambda: trivial("fastmcp", "http", bare), _OWN),
        Contender("FastMCP, raw stdio", lambda: trivial("fastmcp", "raw", bare), _OWN),
        Contender("FastMCP, raw HTTP", lambda: trivial("fastmcp", "raw http", bare), _OWN),
        Contender("SDK's MCPServer, stdio", lambda: trivial("sdk", "stdio", bare), ("example", "wait")),
        Contender("SDK's MCPServer, HTTP", lambda: trivial("sdk", "http", bare), ("example", "wait")),
        Contender("SDK's MCPServer, raw stdio", lambda: trivial("sdk", "raw", bare), ("example", "wait")),
        Contender("SDK's MCPServer, raw HTTP", lambda: trivial("sdk", "raw http", bare), ("example", "wait")),
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


async def warm(environment: dict[str, str]) -> AsyncIterator[Ask]:
    """Processes that have loaded the tool and wait for the call."""
    async with Pool(environment=environment) as pool:

        async def ask(question: Question) -> bytes:
            answered = await pool.call(question.tool, question.arguments)
            assert not answered.is_error, answered
            return answered.document

        yield ask


async def measure(contender: Contender, question: Question, ask: Ask, callers: int, calls: int, page: int) -> Row:
    """Let so many callers make so many calls together, after some that do not count. page: does not count either."""
    waits: list[float] = []
    await asyncio.gather(*(ask(question) for _ in range(max(20, callers) // contender.share)))
    turns = iter(range(calls))

    async def caller() -> None:
        for _ in turns:
            started = time.perf_counter()
            answer = await ask(question)
            waits.append(1000 * (time.perf_counter() - started))
            assert answer, question

    used = seconds_below(os.getpid(), (page,))
    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    rate = calls / (time.perf_counter() - started)
    cpu = 1000 * (seconds_below(os.getpid(), (page,)) - used) / calls
    p50, p99 = statistics.median(waits), statistics.quantiles(waits, n=100)[98]
    return Row(contender.name, question.tool, callers, p50, p99, rate, cpu)


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Pages(ThreadingHTTPServer):
    request_queue_size = 128  # of all callers at once; a connection that is not taken is tried again after a second


@contextmanager
def _page() -> Iterator[tuple[str, int]]:
    """The URL of a page, and the process that serves it: a thread would have to wait for the callers' turns."""
    with _Pages(("127.0.0.1", 0), _Page) as server:
        served = Process(target=server.serve_forever)
        served.start()
        yield f"http://127.0.0.1:{server.server_port}/", served.pid or 0
        served.terminate()
        served.join()


if __name__ == "__main__":
    main()
