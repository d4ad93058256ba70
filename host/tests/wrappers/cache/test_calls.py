"""Calls with the cache on: real tools in real processes, each of which tells how often it was asked."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.machine import Finished, Machine
from ferrule_testkit.programs.redis_server import RedisServer
from ferrule_testkit.runs import wait_for
from ferrule_testkit.search.server import BRAVE_KEY, Brave, settings, some_hits

pytestmark = pytest.mark.process


PROPERTIES = {
    "query": {"type": "string", "description": "What to look for."},
    "count": {"type": "integer", "description": "How many.", "default": 10},
}
CACHED = (
    "from ferrule import ResultPolicy, hookimpl\nresult_policy = hookimpl(lambda: ResultPolicy(cache_seconds=1000))"
)
KEYED = """
@hookimpl
def credentials():
    return [Credential("api_key", environment="ALPHA_KEY", path="alpha.key")]
"""
COUNT = "import os; open(os.environ['HOME'] + '/told/asked', 'a').write('x'); "
ANSWER = COUNT + "return {'success': True, 'got': arguments}"
TELLS = {"network": ["loopback"], "write": ["~/told"], "environment": ["ALPHA_*", "CITY", "FERRULE_ALPHA_*"]}
ON = {"FERRULE_WRAPPERS": "cache"}
NOBODY = "redis://:open-sesame@127.0.0.1:1/0"


def asked(machine: Machine) -> int:
    """How often the tool was asked."""
    path = machine.home / "told/asked"
    return len(path.read_bytes()) if path.exists() else 0


def run(machine: Machine, *words: str, environment: Mapping[str, str] | None = None) -> Finished:
    return machine.ferrule("run", "alpha", *(words or ("query=cats",)), environment={**ON, **(environment or {})})


def cache_of(finished: Finished) -> dict[str, Any]:
    """What is noted beside a result."""
    noted: dict[str, Any] = finished.document["_meta"]["cache"]
    return noted


def events(finished: Finished) -> list[dict[str, Any]]:
    return [json.loads(line) for line in finished.err.splitlines() if line.startswith("{")]


def state(machine: Machine) -> Path:
    return machine.home / ".local/state/ferrule/cache"


@pytest.fixture
def machine(machine: Machine) -> Machine:
    (machine.home / "told").mkdir()
    return machine.uncover_the_host()


@pytest.fixture
def alpha(machine: Machine) -> Machine:
    """A machine with a tool whose results may be kept."""
    machine.install("alpha", permissions=TELLS, properties=PROPERTIES, top=CACHED, execute=ANSWER)
    return machine


@pytest.mark.slow
def test_an_equal_call_is_answered_without_the_tool(alpha: Machine) -> None:
    first, second = run(alpha), run(alpha)
    assert asked(alpha) == 1
    assert second.document["got"] == {"query": "cats"} == first.document["got"]
    bare = [one.out.partition(',"_meta":')[0] for one in (first, second)]
    assert bare[0] == bare[1] == '{"success":true,"got":{"query":"cats"}'
    noted = cache_of(second)
    assert cache_of(first) == {"cached": False, "key": noted["key"]}
    assert len(noted["key"]) == 16
    assert 0 <= noted.pop("ageSeconds") < 60  # on a machine that is busy with other things
    assert noted == {"cached": True, "key": noted["key"], "maxAgeSeconds": 1000, "freshness": "fresh"}


@pytest.mark.slow
def test_without_the_wrapper_nothing_is_kept(alpha: Machine) -> None:
    for _ in range(2):
        assert "_meta" not in run(alpha, environment={"FERRULE_WRAPPERS": ""}).document
    assert asked(alpha) == 2
    assert [path for path in state(alpha).rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_a_tool_that_does_not_say_so_is_asked_each_time(machine: Machine) -> None:
    machine.install("alpha", permissions=TELLS, properties=PROPERTIES, execute=ANSWER)
    assert [run(machine).document.get("_meta") for _ in range(2)] == [None, None]
    assert asked(machine) == 2


def test_a_default_and_its_absence_are_one_call(alpha: Machine) -> None:
    run(alpha, "query=cats")
    assert cache_of(run(alpha, "query=cats", "count=10"))["cached"]
    assert cache_of(run(alpha, '{"count": 10.0, "query": "cats"}'))["cached"]
    assert not cache_of(run(alpha, "query=cats", "count=11"))["cached"]


@pytest.mark.slow
def test_what_decides_the_result_makes_another_call(alpha: Machine) -> None:
    run(alpha)
    changes = [{"FERRULE_ALPHA_ENDPOINT": "http://127.0.0.1:1/"}, {"LANG": "de_DE.UTF-8"}, {"TZ": "Asia/Tokyo"}]
    keys = [cache_of(run(alpha, environment=change))["key"] for change in changes]
    assert asked(alpha) == 4
    assert len(set(keys)) == 3
    assert cache_of(run(alpha, environment={"FERRULE_DEADLINE": "20", "OTHER": "1"}))["cached"]


def test_a_tool_may_say_that_language_and_time_zone_decide_nothing(machine: Machine) -> None:
    top = CACHED.replace("1000", "1000, locale=False")
    machine.install("alpha", permissions=TELLS, properties=PROPERTIES, top=top, execute=ANSWER)
    places = [{}, {"LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "LC_ALL": "C", "LANGUAGE": "de"}]
    noted = [cache_of(run(machine, environment=place)) for place in places]
    assert [one["cached"] for one in noted] == [False, True]
    assert noted[0]["key"] == noted[1]["key"]


def test_a_result_that_may_soon_be_another_one_is_kept_for_a_minute(machine: Machine) -> None:
    top = CACHED.replace("1000", "1000, fleeting=lambda result: result['got']['query'] == 'dogs'")
    machine.install("alpha", permissions=TELLS, properties=PROPERTIES, top=top, execute=ANSWER)
    for query, longest in (("cats", 1000), ("dogs", 60)):
        assert not cache_of(run(machine, f"query={query}"))["cached"]
        assert cache_of(run(machine, f"query={query}"))["maxAgeSeconds"] == longest


@pytest.mark.slow
def test_a_new_version_of_the_tool_and_a_new_schema_make_another_call(alpha: Machine) -> None:
    run(alpha)
    (alpha.site / "dist_alpha-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: alpha\nVersion: 1.1\n")
    (alpha.site / "dist_alpha-1.0.dist-info").rename(alpha.site / "dist_alpha-1.1.dist-info")
    assert not cache_of(run(alpha))["cached"]
    schema = alpha.site / "module_alpha.schema.json"
    schema.write_text(schema.read_text().replace("How many.", "How many?"))
    assert not cache_of(run(alpha))["cached"]


def test_a_credential_is_told_apart_and_stands_nowhere(machine: Machine) -> None:
    answer = COUNT + "return {'success': True, 'leak': 'key ' + context.credential('api_key'), 'got': arguments}"
    machine.install("alpha", permissions=TELLS, properties=PROPERTIES, top=CACHED + KEYED, execute=answer)
    keys = ["the-first-secret", "the-other-secret"]
    noted = [cache_of(run(machine, environment={"ALPHA_KEY": key})) for key in (*keys, keys[0])]
    assert [one["cached"] for one in noted] == [False, False, True]
    assert noted[0]["key"] != noted[1]["key"]
    kept = b"".join(path.read_bytes() for path in state(machine).rglob("*") if path.is_file())
    assert b"[redacted]" in kept
    assert not any(key.encode() in kept for key in keys)
    for words in (["show"], ["show", "--json"], ["why", "alpha", "query=cats", "--json"]):
        shown = machine.ferrule("cache", *words, environment={"ALPHA_KEY": keys[0]})
        assert not any(key in shown.out + shown.err for key in keys)


def config(machine: Machine, text: str) -> None:
    path = machine.home / ".config/ferrule/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.slow
def test_the_admin_decides_how_long(alpha: Machine) -> None:
    config(alpha, "[wrappers.cache]\nenabled = true\n[wrappers.cache.tools.alpha]\nseconds = 7\n")
    calls = [alpha.ferrule("run", "alpha", "query=cats") for _ in range(2)]
    assert cache_of(calls[1])["maxAgeSeconds"] == 7
    config(alpha, "[wrappers.cache]\nenabled = true\n[wrappers.cache.tools.alpha]\nseconds = 0\n")
    assert "_meta" not in alpha.ferrule("run", "alpha", "query=cats").document
    assert asked(alpha) == 2


def test_a_setting_that_is_none_is_told_and_costs_no_call(alpha: Machine) -> None:
    config(alpha, "[wrappers.cache]\nenabled = true\n[wrappers.cache.tools.alpha]\nseconds = 'long'\n")
    finished = alpha.ferrule("run", "alpha", "query=cats")
    assert finished.document["success"]
    assert "seconds in [wrappers.cache.tools.alpha] is 'long'" in events(finished)[0]["error"]


@pytest.mark.parametrize(
    ("raised", "times"),
    [
        ("ToolError('INVALID_URL', 'No such URL.', hint='Write another.')", 1),
        ("ToolError('HTTP_ERROR', 'HTTP 404: Not Found.')", 1),
        ("ToolError('RATE_LIMIT', 'Too many.', retry_after=500)", 1),
        ("ToolError('NETWORK_ERROR', 'Nobody there.')", 2),
        ("ToolError('SOMETHING', 'Odd.')", 2),
        ("RuntimeError('a defect')", 2),
        ("SystemExit(3)", 2),
    ],
)
def test_a_failure_is_told_again_where_it_would_be_met_again(raised: str, times: int, machine: Machine) -> None:
    machine.install("alpha", permissions=TELLS, properties=PROPERTIES, top=CACHED, execute=COUNT + f"raise {raised}")
    first, second = run(machine), run(machine)
    assert asked(machine) == times
    assert (first.code, second.code) == (1, 1)
    told = r" This failure is from the cache, \d+ seconds old: nothing was asked for again\."
    assert bool(re.search(told, second.document["error"])) == (times == 1)
    error = re.sub(told, "", second.document["error"])
    assert {**second.document, "retry_after": None, "error": error} == {**first.document, "retry_after": None}
    assert 0 < second.document.get("retry_after", 1) <= 500


def test_failures_are_not_kept_where_the_admin_says_so(machine: Machine) -> None:
    machine.install(
        "alpha",
        permissions=TELLS,
        properties=PROPERTIES,
        top=CACHED,
        execute=COUNT + "raise ToolError('INVALID_URL', 'No.')",
    )
    config(machine, "[wrappers.cache]\nenabled = true\nnegative = false\n")
    for _ in range(2):
        machine.ferrule("run", "alpha", "query=cats")
    assert asked(machine) == 2


def test_a_result_that_tells_a_failure_is_kept_as_one(machine: Machine) -> None:
    failure = "{'success': False, 'error': arguments['query'], 'error_code': arguments['query']}"
    machine.install("alpha", permissions=TELLS, properties=PROPERTIES, top=CACHED, execute=COUNT + f"return {failure}")
    for query in ("NETWORK_ERROR", "INVALID_URL", "INVALID_URL"):
        finished = run(machine, f"query={query}")
    assert asked(machine) == 2
    assert cache_of(finished)["maxAgeSeconds"] == 14_400


def test_a_result_that_depends_on_an_unnamed_variable_is_not_kept(machine: Machine) -> None:
    answer = COUNT + "return {'success': True, 'way': context.setting('way', 'ALPHA_WAY')}"
    machine.install("alpha", permissions=TELLS, properties=PROPERTIES, top=CACHED, execute=answer)
    calls = [run(machine, environment={"ALPHA_WAY": way}) for way in "ab"]
    assert [one.document["way"] for one in calls] == ["a", "b"]
    assert events(calls[0])[0]["variables"] == ["ALPHA_WAY"]


def test_a_folder_that_cannot_be_used_is_a_miss_and_an_event(alpha: Machine) -> None:
    (alpha.home / "file").write_bytes(b"")
    for _ in range(2):
        finished = run(alpha, environment={"FERRULE_STATE": str(alpha.home / "file")})
        assert (finished.code, finished.document["success"]) == (0, True)
        assert [(one["event"], one["wrapper"]) for one in events(finished)] == [("wrapper_failed", "cache")]
        assert str(alpha.home) not in finished.err
    assert asked(alpha) == 2


def test_an_entry_that_was_altered_is_a_miss(alpha: Machine) -> None:
    run(alpha)
    (path,) = [path for path in state(alpha).rglob("*") if len(path.name) == 64]
    path.write_bytes(path.read_bytes().replace(b"cats", b"dogs"))
    assert run(alpha).document["got"] == {"query": "cats"}
    assert asked(alpha) == 2
    assert cache_of(run(alpha))["cached"]


def test_where_a_redis_is_not_there_files_are_used_and_an_event_says_so_once(alpha: Machine) -> None:
    for _ in range(2):
        finished = run(alpha, environment={"FERRULE_REDIS": NOBODY})
        assert finished.document["success"]
        assert [one["wrapper"] for one in events(finished)] == ["cache"]
        assert "open-sesame" not in finished.out + finished.err
    assert cache_of(finished)["cached"] is True
    assert asked(alpha) == 1


def call_in_time(machine: Machine, server: RedisServer) -> Finished:
    """A call for which the server answered in time, which a busy machine lets few do; each other one says so."""
    for _ in range(100):
        before = asked(machine)
        called = run(machine, environment={"FERRULE_REDIS": server.url})
        if not events(called):
            assert asked(machine) - before == int(not cache_of(called)["cached"])
            return called
        assert {one["error"] for one in events(called)} == {"Redis cannot be used: it is too slow"}
        shutil.rmtree(state(machine), ignore_errors=True)  # where a result is kept instead
    raise AssertionError("the server answered none of a hundred calls in time")


@pytest.mark.slow
def test_redis_keeps_results_without_a_word_of_the_question(alpha: Machine, tmp_path: Path) -> None:
    alpha.install(
        "alpha", permissions=TELLS, properties=PROPERTIES, top=CACHED, execute=COUNT + "return {'success': True}"
    )
    with RedisServer(tmp_path) as server:
        calls = [call_in_time(alpha, server) for _ in range(2)]
        kept = b"".join(server.ask("GET", name) or b"" for name in server.names())  # a claim may have expired by now
        shown = alpha.ferrule("cache", "show", "--json", environment={"FERRULE_REDIS": server.url})
        explained = alpha.ferrule(
            "cache", "why", "alpha", "query=cats", environment={**ON, "FERRULE_REDIS": server.url}
        )
    # A call that came too late for its own answer may have stored its result all the same.
    assert cache_of(calls[1])["cached"]
    assert b"cats" not in kept
    assert [path for path in state(alpha).rglob("*") if path.is_file()] == []
    assert shown.document["backend"] == {"kind": "redis", "place": server.url}
    assert explained.code == 0


# ---- one request for many processes


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


def searches(environment: Mapping[str, str], folder: Path, number: int) -> list[dict[str, Any]]:
    """What so many searches come to that start at once."""
    question = folder / "question"
    question.write_text('{"query": "what a flight is"}')
    tool = Path(sys.executable).parent / "web-search-brave-tool"
    processes = []
    for _ in range(number):
        with question.open("rb") as stdin:
            process = subprocess.Popen([tool], stdin=stdin, stdout=subprocess.PIPE, env=dict(environment))
        processes.append(process)
    documents = [json.loads(process.communicate()[0]) for process in processes]
    assert [one for process, one in zip(processes, documents, strict=True) if process.returncode] == []
    return documents


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["files", "redis"])
def test_thirty_processes_make_one_request(backend: str, server: Server, tmp_path: Path) -> None:
    server.route("*", Brave(some_hits(10)))
    environment = {
        **settings(tmp_path, server),
        **ON,
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "FERRULE_DEADLINE": "100",
    }
    if backend == "redis":
        # Thirty interpreters that start at once are late themselves, which is not to count against the server.
        (tmp_path / "config.toml").write_text("[wrappers.cache]\nredis_seconds = 60\n")
        with RedisServer(tmp_path) as redis:
            environment |= {"FERRULE_REDIS": redis.url, "FERRULE_CONFIG": str(tmp_path / "config.toml")}
            documents = searches(environment, tmp_path, 30)
            assert not [name for name in redis.names() if ":flight:" in name and "ended" not in name]
    else:
        documents = searches(environment, tmp_path, 30)
        assert list((tmp_path / "state/cache").rglob("flights/*")) == []
    assert len(server.requests) == 1
    assert len({json.dumps(document["results"]) for document in documents}) == 1
    assert sorted(document["_meta"]["cache"]["cached"] for document in documents) == [False] + [True] * 29
    assert len({document["_meta"]["cache"]["key"] for document in documents}) == 1


@pytest.mark.slow
def test_where_the_one_that_asks_is_killed_another_one_asks(server: Server, tmp_path: Path) -> None:
    over, asked_for = threading.Event(), []

    def hold_up_the_first() -> None:
        asked_for.append(1)
        if len(asked_for) == 1:
            over.wait(60)

    server.route("*", Brave(some_hits(10), before=hold_up_the_first))
    environment = {**settings(tmp_path, server), **ON, "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    question = tmp_path / "first"
    question.write_text('{"query": "what a flight is"}')
    tool = Path(sys.executable).parent / "web-search-brave-tool"
    with question.open("rb") as stdin:
        first = subprocess.Popen([tool], stdin=stdin, stdout=subprocess.DEVNULL, env=environment)
    wait_for(lambda: asked_for)
    killing = threading.Timer(0.5, first.kill)  # in which some of the others have begun to wait
    killing.start()
    documents = searches(environment, tmp_path, 5)
    killing.join()
    first.wait()
    over.set()
    assert len(asked_for) == 2
    assert sorted(document["_meta"]["cache"]["cached"] for document in documents) == [False] + [True] * 4


@pytest.mark.slow
def test_where_the_one_request_fails_each_asks_for_itself(server: Server, tmp_path: Path) -> None:
    """A failure of the network is not shared beyond those that had asked already, and is not kept."""
    environment = {
        **settings(tmp_path, server),
        **ON,
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "FERRULE_BRAVE_ENDPOINT": "http://127.0.0.1:1/",
        "FERRULE_EXIT_ZERO": "1",
    }
    documents = searches(environment, tmp_path, 5)
    assert {document["error_code"] for document in documents} == {"NETWORK_ERROR"}
    assert [path for path in (tmp_path / "state/cache").rglob("*") if len(path.name) == 64] == []
    assert BRAVE_KEY not in json.dumps(documents)


def test_a_hit_from_files_imports_next_to_nothing(alpha: Machine) -> None:
    """What an answer from the cache needs beside what every call does."""
    alpha.install("alpha", permissions=TELLS, properties=PROPERTIES, top=CACHED, execute=ANSWER)
    run(alpha)
    script = (
        "import os, sys, time\n"
        "import pluggy\n"
        "from ferrule import discovery\n"
        "from ferrule.config import configuration\n"
        "from ferrule import Context, WrapperContext\n"
        "from ferrule.plugin.loader import load\n"
        "from ferrule.plugin.wrapper_context import CallInfo\n"
        "loaded = load(discovery.find('alpha', configuration.read()))\n"
        "context = WrapperContext(Context('alpha', time.monotonic() + 60))\n"
        "context.call = CallInfo(loaded, {'query': 'cats'}, context)\n"
        "before = set(sys.modules)\n"
        "from ferrule.wrappers.cache.cached_call import CachedCall\n"
        "call = CachedCall.of(context)\n"
        "call.look_up()\n"
        "call.end()\n"
        "print(call.found is not None, *sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=alpha.environment,
        cwd=alpha.work,
        capture_output=True,
        text=True,
        check=True,
    )
    found, *modules = done.stdout.split()
    assert found == "True"
    assert [name for name in modules if not name.startswith(("ferrule.", "_sha2"))] == []
    assert {"ferrule.wrappers.cache.redis_store", "ferrule.storage.locks"}.isdisjoint(modules)
