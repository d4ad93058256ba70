"""Two replicas of `ferrule serve --http` behind nginx, sharing a Redis: one is ended under load."""

import asyncio
import http.client
import json
import signal
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.programs.redis_server import RedisServer
from ferrule_testkit.serve.balancer import Balancer, free_ports
from ferrule_testkit.serve.service import ERAS, LEGACY, META, MODERN, SECONDS, HttpService, connected

pytestmark = pytest.mark.slow


CALLS, CALLERS, WORKERS = 120, 16, 2
_COUNTING = {"environment": ["COUNTED"], "write": ["variable:COUNTED"]}
_COUNTS = """\
import os, time
    with open(os.environ["COUNTED"], "a") as file:
        file.write(arguments["call"] + "\\n")
    time.sleep(0.05)
    return {"call": arguments["call"]}
"""
_RESTS = """\
from ferrule_websearch.pace.circuit_breaker import CircuitBreaker
    breaker = CircuitBreaker("a provider of the tests")
    if arguments.get("limited"):
        breaker.record_rate_limit(600)
    return {"seconds": breaker.seconds_until_trial()}
"""
_LARGE = "return {'title': 'Much', 'text': 'x' * 40_000, 'stamp': __import__('uuid').uuid4().hex}"
_TEXT = {"type": "string", "description": "A text."}


CUT: dict[str, Any] = {"isError": True, "content": [{"text": "the answer ended before it was whole"}]}


class Replicas:
    """The two, and what they share."""

    def __init__(self, root: Path, redis: RedisServer, stack: ExitStack) -> None:
        self._stack = stack
        self.machine = Machine(root).uncover_the_host()
        self.counted = root / "counted"
        self.counted.touch()
        self.machine.install("counts", execute=_COUNTS, permissions=_COUNTING, properties={"call": _TEXT})
        results = (
            "from ferrule import ResultPolicy, hookimpl\n"
            "result_policy = hookimpl(lambda: ResultPolicy(linkable=True, cache_seconds=60))"
        )
        self.machine.install("large", top=results, execute=_LARGE, properties={"topic": _TEXT})
        limited = {"limited": {"type": "boolean", "description": "Whether the provider says so."}}
        self.machine.install("rests", execute=_RESTS, properties=limited)
        self.machine.environment |= {
            "FERRULE_REDIS": redis.url,
            "FERRULE_WRAPPERS": "cache,artifacts",
            "COUNTED": str(self.counted),
        }
        port, *self.ports = free_ports(3)
        self.services = [self._started(index) for index in range(2)]
        self.balancer = stack.enter_context(Balancer(root, port, self.ports))

    def _started(self, index: int) -> HttpService:
        address = f"127.0.0.1:{self.ports[index]}"
        # As on a machine of its own: no file that one of them keeps is there for the other.
        environment = {**self.machine.environment, "FERRULE_STATE": str(self.machine.home / f"state-{index}")}
        service = HttpService(environment, f"--workers={WORKERS}", http=address, work=self.machine.work)
        return self._stack.enter_context(service)

    def restart(self, index: int) -> None:
        """Start again one that has been ended."""
        if self.services[index].process.poll() is not None:
            self.services[index] = self._started(index)

    def executions(self) -> Counter[str]:
        """How often each call was executed."""
        return Counter(self.counted.read_text().split())


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    root = tmp_path_factory.mktemp("replicas")
    with RedisServer(root) as redis, ExitStack() as stack:
        yield Replicas(root, redis, stack)


@pytest.fixture
def both(replicas: Replicas) -> Replicas:
    """Both are there, and answer."""
    replicas.restart(0)
    for index, service in enumerate(replicas.services):
        status, _ = posted(service.url, MODERN, f"ready-{index}")
        assert status == 200
    replicas.counted.write_text("")
    return replicas


def posted(url: str, era: str, call: str) -> tuple[int, str]:
    """One call as it goes over the wire, on a connection of its own: the status, 0 for a lost one, and the text."""
    params: dict[str, Any] = {"name": "counts", "arguments": {"call": call}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if era == LEGACY:
        headers["MCP-Protocol-Version"] = "2025-11-25"
    else:
        params["_meta"] = META
        headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "counts"}
    body = json.dumps({"jsonrpc": "2.0", "id": call, "method": "tools/call", "params": params}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=SECONDS) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def under_load(replicas: Replicas, era: str, number: signal.Signals) -> dict[str, dict[str, Any]]:
    """What each call was answered with, where one replica got a signal in the midst of them."""
    enough = threading.Semaphore(0)

    def made(call: str) -> dict[str, Any]:
        try:
            status, text = posted(replicas.balancer.url, era, call)
        except http.client.IncompleteRead:
            return CUT
        finally:
            enough.release()
        assert status == 200, (status, text)
        *_, data = [text, *(line[6:] for line in text.splitlines() if line.startswith("data: {"))]  # events come first
        result: dict[str, Any] = json.loads(data)["result"]
        return result

    with ThreadPoolExecutor(CALLERS) as callers:
        running = {f"{era}-{index}": callers.submit(made, f"{era}-{index}") for index in range(CALLS)}
        for _ in range(CALLS // 4):
            enough.acquire(timeout=SECONDS)
        replicas.services[0].process.send_signal(number)
        return {call: future.result(SECONDS) for call, future in running.items()}


@pytest.mark.parametrize("era", ERAS)
def test_a_replica_that_is_killed_loses_only_what_it_had_begun(era: str, both: Replicas) -> None:
    results = under_load(both, era, signal.SIGKILL)
    lost = {call for call, result in results.items() if result["isError"]}
    executions = both.executions()
    assert {call for call in results if executions[call] != 1} <= lost
    assert max(executions.values()) == 1, "no tool is called twice"
    # An answer whose head the balancer has passed on is the server's own to finish, and that can be ended in between.
    cut = {call for call in lost if results[call] is CUT}
    assert len(cut) <= CALLERS
    # As many as may run had been claimed and not executed; of others the tool's answer was on its way.
    assert len({call for call in lost if not executions[call]}) <= WORKERS, "what waits is sent elsewhere"
    for call in lost - cut:
        assert "begun on another server" in results[call]["content"][0]["text"]
    for call in results.keys() - lost:
        assert results[call]["structuredContent"] == {"call": call}


@pytest.mark.parametrize("era", ERAS)
def test_a_replica_that_is_told_to_end_loses_nothing(era: str, both: Replicas) -> None:
    results = under_load(both, era, signal.SIGTERM)
    assert {call: result.get("structuredContent") for call, result in results.items()} == {
        call: {"call": call} for call in results
    }
    assert both.executions() == Counter(results.keys())
    assert both.services[0].process.wait(SECONDS) == 0


def test_a_request_that_comes_twice_calls_no_tool_twice(both: Replicas) -> None:
    number = {"Idempotency-Key": "sent-by-a-balancer"}
    params = {"name": "counts", "arguments": {"call": "repeated"}}
    first, second = (service.post("tools/call", params, **number)[1] for service in both.services)
    assert json.loads(first)["result"]["structuredContent"] == {"call": "repeated"}
    assert json.loads(second)["result"]["isError"] is True
    assert both.executions() == {"repeated": 1}


@pytest.mark.parametrize("era", ERAS)
def test_what_one_replica_links_is_read_through_the_other_and_cached_for_it(era: str, both: Replicas) -> None:
    async def talk() -> None:
        arguments = {"topic": f"of {era}"}
        one, other = both.services
        async with connected(one.url, era) as client:
            first = await client.call_tool("large", arguments)
        async with connected(other.url, era) as client:
            again = await client.call_tool("large", arguments)
            (link,) = [content for content in first.content if content.type == "resource_link"]
            read = await client.read_resource(link.uri)
        assert first.structured_content is not None
        assert again.structured_content is not None
        assert first.structured_content["resource"] == again.structured_content["resource"]
        whole = json.loads(read.contents[0].text)  # type: ignore[union-attr] # the kind is known here, and another one fails the test
        assert whole["text"] == "x" * 40_000

    asyncio.run(talk())


def test_a_provider_that_rests_for_one_replica_rests_for_the_other(both: Replicas) -> None:
    def seconds(service: HttpService, arguments: dict[str, Any]) -> float:
        _, text = service.post("tools/call", {"name": "rests", "arguments": arguments})
        return float(json.loads(text)["result"]["structuredContent"]["seconds"])

    one, other = both.services
    assert seconds(other, {}) == 0
    assert seconds(one, {"limited": True}) > 0
    assert seconds(other, {}) > 0
