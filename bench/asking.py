"""What asking costs more than the requests that it takes: bare httpx to the same server = 1.0, in one run.

Usage: python bench/asking.py [--runs N] [--json]; bench/paces/table.py has limits of providers, and others

The server is a process of its own on loopback, which answers at once; the tool lives in memory and does too. A question
that searches takes two requests. Then fifty rows, with a server that takes 100 ms: one after the other = 1.0.

Last, rows in SQL against a bucket of requests, on a clock that runs ten times as fast: rows a minute, beside the most
that the bucket lets through, and milliseconds of processor for each row.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

from ferrule_ask import Client, Limits
from ferrule_ask.pace.clock import Clock
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools, no_tools
from ferrule_testkit.model.server import MODEL_KEY, ModelServer, calls, says
from ferrule_testkit.model.token_bucket import TokenBucket

ROWS, LATE = 50, 0.1  # rows of a query, and seconds that the server takes for each
SPEED = 10  # of the clock under which buckets are measured
BUCKETS = ((50, 100), (250, 500), (1000, 2000))  # requests a minute, and rows
HEADERS = {"authorization": f"Bearer {MODEL_KEY}", "anthropic-version": "2026-10-21"}
QUESTION = {"role": "user", "content": "Context: Bitcoin\n\nQuestion: What is the current price?"}
RESULT = MemoryTools().offered[0].schema["description"]
BODY = {"model": "claude-sonnet-5-5", "max_tokens": 1000, "messages": [QUESTION]}
TOOL = {"name": SEARCH, "description": RESULT, "input_schema": MemoryTools().offered[0].schema["parameters"]}
CALLED = {"type": "tool_use", "id": "toolu_1", "name": SEARCH, "input": {"query": "BTC"}}
SECOND = {
    **BODY,
    "tools": [TOOL],
    "messages": [
        QUESTION,
        {"role": "assistant", "content": [CALLED]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "95 dollars"}]},
    ],
}

Work = Callable[[], object]


class Row(NamedTuple):
    """What is measured, and what it is measured against."""

    name: str
    work: Work
    baseline: Work


def main() -> None:
    """Serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=201)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--bucket", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve, options.bucket)
        return
    with tempfile.TemporaryDirectory() as home, ExitStack() as open_until_the_end:
        os.environ |= {"HOME": home, "XDG_CONFIG_HOME": home, "IKIGAI_CONFIG_DIR": home, "ANTHROPIC_API_KEY": MODEL_KEY}
        quick = open_until_the_end.enter_context(server(0))
        for row in rows(quick, open_until_the_end):
            tell_of(row, options.runs, as_json=options.json)
        slow = open_until_the_end.enter_context(server(LATE))
        for name, seconds, base in fifty(slow, open_until_the_end):
            tell(name, base / seconds, seconds, as_json=options.json)
        for per_minute, number in BUCKETS if find_spec("ferrule_duckdb") else ():
            tell_of_bucket(per_minute, number, as_json=options.json)


def tell_of_bucket(per_minute: float, number: int, *, as_json: bool) -> None:
    """Ask so many rows against a bucket, and print how fast that went."""
    with server(0, per_minute) as url, Client(toolbox=no_tools(), base_url=url, clock=Clock(SPEED)) as client:
        taken, requests = in_bucket(client, number), client.usage.requests
    minutes, least = taken.wall * SPEED / 60, (number - per_minute) / per_minute
    facts = {
        "row": f"{number} rows in SQL, {per_minute} a minute",
        "rows_a_minute": round(number / minutes, 1),
        "ideal": round(number / least, 1),
        "requests": requests,
        "cpu_ms": round(1000 * taken.cpu / number, 2),
    }
    text = (
        f"{facts['row']:40} {facts['rows_a_minute']:6} rows a minute, at best {facts['ideal']}; {requests} requests, "
        f"{facts['cpu_ms']} ms of processor for a row"
    )
    print(json.dumps(facts) if as_json else text, flush=True)


def in_bucket(client: Client, number: int) -> Time:
    """What so many rows of a DuckDB table take. Insists on an answer to each."""
    import duckdb

    import ferrule_duckdb

    with duckdb.connect() as con, ferrule_duckdb.register(con, client=client):
        con.execute("SELECT stps_ask_ai(NULL, 'What is it?')").fetchall()  # DuckDB imports pyarrow at its first call
        sql = f"SELECT count(stps_ask_ai('Row ' || i, 'What is it?')) FROM range({number}) t(i)"
        answered: list[int] = []
        taken = timed(lambda: answered.append(con.execute(sql).fetchall()[0][0]))
    if answered != [number]:
        raise SystemExit(f"Only {answered} of {number} rows were answered.")
    return taken


def tell_of(row: Row, runs: int, *, as_json: bool) -> None:
    """Run work and baseline in turn, and print the medians of the ratios, pair by pair."""
    for _ in range(5):
        timed(row.baseline), timed(row.work)
    pairs = [(timed(row.work), timed(row.baseline)) for _ in range(runs)]
    cpu, wall = (statistics.median(one[i] / base[i] for one, base in pairs) for i in (0, 1))
    milliseconds = 1000 * statistics.median(one.cpu for one, _ in pairs)
    facts = {"row": row.name, "cpu": round(cpu, 2), "wall": round(wall, 2), "cpu_ms": round(milliseconds, 2)}
    text = f"{row.name:40} {cpu:6.2f} of the processor, {wall:6.2f} on the wall, {milliseconds:6.2f} ms of processor"
    print(json.dumps(facts) if as_json else text, flush=True)


def tell(name: str, times: float, seconds: float, *, as_json: bool) -> None:
    """Print how many times as fast as one after the other some rows were asked, and how long they took."""
    facts = {"row": name, "times_as_fast": round(times, 2), "seconds": round(seconds, 2)}
    print(json.dumps(facts) if as_json else f"{name:40} {times:6.2f} times as fast, {seconds:.2f} s", flush=True)


class Time(NamedTuple):
    """Seconds of this process on the processor, and on the wall."""

    cpu: float
    wall: float


def timed(work: Work) -> Time:
    """What some work takes here; the server's part is on the wall alone."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Time(time.process_time() - cpu, time.perf_counter() - wall)


def rows(url: str, stack: ExitStack) -> Iterator[Row]:
    """A question without a tool and one with it; ours and, where it is installed, the official SDK's requests."""
    import httpx

    client = stack.enter_context(httpx.Client(base_url=url, headers=HEADERS, trust_env=False))
    bodies = BODY, {**BODY, "tools": [TOOL]}, SECOND

    def bare(*requests: dict[str, Any]) -> None:
        for request in requests:
            client.post("/v1/messages", json=request).raise_for_status().json()

    loop = stack.enter_context(asyncio.Runner())
    there = httpx.AsyncClient(base_url=url, headers=HEADERS, trust_env=False)
    stack.callback(lambda: loop.run(there.aclose()))
    yield Row("httpx, asynchronous", lambda: loop.run(there.post("/v1/messages", json=BODY)), lambda: bare(BODY))
    alone = stack.enter_context(Client(toolbox=no_tools(), base_url=url))
    searching = stack.enter_context(Client(toolbox=MemoryTools(content="95 dollars"), base_url=url))
    limits = Limits(calls=10**9, spend=10**9)
    limited = stack.enter_context(Client(toolbox=MemoryTools(content="95 dollars"), base_url=url, limits=limits))
    yield Row("ask, no tool", lambda: fine(alone), lambda: bare(bodies[0]))
    yield Row("ask, one tool", lambda: fine(searching), lambda: bare(*bodies[1:]))
    yield Row("ask, one tool, with limits", lambda: fine(limited), lambda: bare(*bodies[1:]))
    if find_spec("anthropic"):
        from anthropic import Anthropic

        sdk = stack.enter_context(Anthropic(base_url=url, api_key=MODEL_KEY))

        def official(*requests: dict[str, Any]) -> None:
            for request in requests:
                sdk.messages.create(**request)

        yield Row("official SDK, one request", lambda: official(bodies[0]), lambda: bare(bodies[0]))
        yield Row("official SDK, two requests", lambda: official(*bodies[1:]), lambda: bare(*bodies[1:]))


def fine(client: Client) -> None:
    """Ask, and insist on an answer."""
    answer = client.ask("Bitcoin", "What is the current price?")
    if answer.code:
        raise SystemExit(f"{answer.code}: {answer.error}")


def fifty(url: str, stack: ExitStack) -> Iterator[tuple[str, float, float]]:
    """Fifty different questions: name, seconds, and the seconds of one after the other."""
    client = stack.enter_context(Client(toolbox=no_tools(), base_url=url, concurrency=16))
    one_by_one = timed(lambda: [client.ask(f"Row {row}", "What is it?") for row in range(ROWS)]).wall
    yield f"{ROWS} rows, one after the other", one_by_one, one_by_one
    for concurrency in (8, 16):
        many = stack.enter_context(Client(toolbox=no_tools(), base_url=url, concurrency=concurrency))
        fine(many)
        seconds = timed(lambda client=many: together(client)).wall  # type: ignore[misc] # mypy cannot infer a lambda with a default
        yield f"{ROWS} rows, {concurrency} at once", seconds, one_by_one
        if find_spec("ferrule_duckdb"):
            yield f"{ROWS} rows in SQL, {concurrency} at once", in_sql(many, concurrency), one_by_one


def together(client: Client) -> None:
    """Ask all of them in the background."""
    futures = [client.start(f"Row {row}", "What is it?") for row in range(ROWS)]
    if any(future.result().code for future in futures):
        raise SystemExit("A question failed.")


def in_sql(client: Client, concurrency: int) -> float:
    """Seconds for as many rows of a DuckDB table."""
    import duckdb

    import ferrule_duckdb

    with duckdb.connect() as con, ferrule_duckdb.register(con, client=client, concurrency=concurrency):
        con.execute("SELECT stps_ask_ai('Row', 'What is it?')")
        sql = f"SELECT count(stps_ask_ai('Row ' || i, 'What is it?')) FROM range({ROWS}) t(i)"
        return timed(lambda: con.execute(sql).fetchall()).wall


@contextmanager
def server(seconds: float, per_minute: float | None = None) -> Iterator[str]:
    """The URL of a server in a process of its own that takes so long for each request, and so many of them a minute."""
    command = [sys.executable, __file__, "--serve", str(seconds)]
    command += ["--bucket", str(per_minute)] if per_minute else []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()  # the end of its stdin ends it


def serve(seconds: float, per_minute: float | None = None) -> None:
    """Answer until stdin ends: with a search where there are tools and no result yet, else with a text."""
    with ModelServer(seconds=seconds) as model:
        search = calls(SEARCH, {"query": "BTC"})
        model.script(lambda one: search if "tools" in one.body and not one.is_second else says("It is 95 dollars."))
        if per_minute:
            model.script(TokenBucket(per_minute, clock=Clock(SPEED)))
        print(model.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
