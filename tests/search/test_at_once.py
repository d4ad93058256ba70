"""Many searches at once, on one processor, with the key of one provider: no other provider is sent it, or asked."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ferrule_duckdb
from ferrule_dev.testing import Server
from ferrule_testkit.machine import BIN
from ferrule_testkit.model.server import ModelRequest, ModelServer, Reply, calls, says
from ferrule_testkit.search.server import BRAVE_KEY, BRAVE_PATH, Brave, endpoints, some_hits
from ferrule_testkit.serve.service import HttpService

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="elsewhere: no sched_setaffinity")]
SEARCHES = int(os.environ.get("FERRULE_TEST_SEARCHES", "24"))
LATE = "TIMEOUT"
"""The code of a search for which a busy machine had no time. Nothing else may come of one that is not answered."""
# Set for a provider whose key is not: it would be asked at once if it was given one.
OTHERS = {"FERRULE_EXA_ENDPOINT": "/exa", "FERRULE_TAVILY_ENDPOINT": "/tavily"}


@pytest.fixture
def provider() -> Iterator[Server]:
    """A server instead of all providers, which answers as Brave does."""
    with Server() as server:
        server.route("*", Brave(some_hits(3)))
        yield server


@pytest.fixture
def settings(provider: Server) -> dict[str, str]:
    found = {**endpoints(provider), **{name: provider.url + path for name, path in OTHERS.items()}}
    del found["FERRULE_SEARXNG_URL"]  # which needs no key
    return {**found, "BRAVE_API_KEY": BRAVE_KEY}


def require_one_provider(provider: Server) -> None:
    places = Counter(request.target.partition("?")[0] for request in provider.requests)
    assert set(places) == {BRAVE_PATH}
    keys = {request.headers["x-subscription-token"] for request in provider.requests}
    assert keys == {BRAVE_KEY}


def require_honest(outcomes: Counter[str]) -> None:
    assert set(outcomes) <= {"found", LATE}
    assert outcomes["found"] > 0


def outcome_of(document: Any) -> str:
    return "found" if "urls" in document else str(document["error_code"])


def one_processor() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def test_by_executables(provider: Server, settings: dict[str, str], tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", **settings}

    def search(number: int) -> str:
        done = subprocess.run(
            [BIN / "web-search-tool"],
            input=json.dumps({"query": f"question {number}"}).encode(),
            capture_output=True,
            env=environment,
            preexec_fn=one_processor,
            check=False,
        )
        return outcome_of(json.loads(done.stdout))

    with ThreadPoolExecutor(SEARCHES) as threads:
        outcomes = Counter(threads.map(search, range(SEARCHES)))
    require_honest(outcomes)
    require_one_provider(provider)


def test_by_a_server(provider: Server, settings: dict[str, str], tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": f"{BIN}:/usr/bin:/bin", **settings}
    with HttpService(environment, "--workers=8", "web_search", work=tmp_path) as service:
        os.sched_setaffinity(service.process.pid, {min(os.sched_getaffinity(0))})

        def search(number: int) -> str:
            arguments = {"query": f"question {number}"}
            status, text = service.post("tools/call", {"name": "web_search", "arguments": arguments})
            assert status == 200, text
            # Events come before the result, where the server has some.
            answer = next(line for line in reversed(text.splitlines()) if line.strip()).removeprefix("data: ")
            result = json.loads(answer)["result"]
            return outcome_of(json.loads(result["content"][0]["text"]))

        with ThreadPoolExecutor(SEARCHES) as threads:
            outcomes = Counter(threads.map(search, range(SEARCHES)))
    require_honest(outcomes)
    require_one_provider(provider)


@pytest.mark.usefixtures("ferrule_environment")
def test_by_sql(
    provider: Server,
    settings: dict[str, str],
    model_server: ModelServer,
    ask_environment: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def search_first(request: ModelRequest) -> Reply:
        if request.is_second:
            return says("It is 95.")
        return calls("web_search", {"query": request.question})

    model_server.script(search_first)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with duckdb.connect() as con:
        ferrule_duckdb.register(con, tools=["web_search"], concurrency=8)
        asked = f"SELECT stps_ask_ai('rows', 'Row ' || i || '?') FROM range({SEARCHES}) AS rows(i)"
        rows = con.execute(asked).fetchall()
    assert [row for (row,) in rows] == ["It is 95."] * SEARCHES
    results = [request for request in model_server.bodies if len(request["messages"]) > 1]
    outcomes = Counter(map(_searched, results))
    require_honest(outcomes)
    require_one_provider(provider)


def _searched(body: Any) -> str:
    (block,) = (one for one in body["messages"][-1]["content"] if one["type"] == "tool_result")
    text = block["content"] if isinstance(block["content"], str) else block["content"][0]["text"]
    if text.startswith("Search Results:"):
        return "found"
    return LATE if LATE in text else text
