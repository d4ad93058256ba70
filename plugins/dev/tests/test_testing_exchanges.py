"""Recorded exchanges: an executable in another process, a function in this one, and httpx with the transports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from ferrule_dev.testing import Exchange, Server

pytestmark = pytest.mark.process

KEY = 'k3y/of+the=tests"0123'  # every encoding spells it in another way
SOURCE = """
import json
from ferrule import Credential, ToolError, hookimpl

@hookimpl
def schema():
    properties = {"city": {"type": "string", "description": "c"}, "way": {"type": "string", "description": "w"}}
    return {"name": "almanac", "description": "Tells.", "parameters": {"type": "object", "properties": properties}}

@hookimpl
def credentials():
    return [Credential("api_key", environment="ALMANAC_KEY", path="almanac.key"),
            Credential("engine", environment="ALMANAC_ENGINE", path="almanac.engine", secret=False)]

@hookimpl
def execute(arguments, context):
    import os
    from ferrule.http import Client, HTTPXTransport, AsyncHTTPXTransport, RequestFailed
    url, key = os.environ["ALMANAC_URL"], context.credential("api_key")
    parameters = {"q": arguments.get("city", "Oslo"), "engine": context.credential("engine"), "k": key}
    headers, body = {"X-Api-Key": key, "X-Version": "1"}, json.dumps({"key": key, "n": [1]}).encode()
    way = arguments.get("way", "ferrule.http")
    if way == "ferrule.http":
        with Client(context.deadline, headers=headers) as client:
            try:
                with client.open("POST", url, params=parameters, content=body) as answer:
                    told = json.loads(answer.read())
                    return {"status": answer.status, "told": told, "shade": answer.headers["x-shade"]}
            except (RequestFailed, ValueError) as failed:
                raise ToolError("NETWORK_ERROR", repr(failed))
    import asyncio, httpx
    async def ask():
        async with httpx.AsyncClient(transport=AsyncHTTPXTransport(context.deadline)) as client:
            return await client.post(url, params=parameters, headers=headers, content=body)
    if way == "async":
        answer = asyncio.run(ask())
    else:
        with httpx.Client(transport=HTTPXTransport(context.deadline)) as client:
            answer = client.post(url, params=parameters, headers=headers, content=body)
    return {"status": answer.status_code, "told": answer.json(), "shade": answer.headers["x-shade"]}
"""
TESTS = """
import os
import pytest

@pytest.mark.parametrize("way", ["ferrule.http", "httpx", "async"])
@pytest.mark.parametrize("kind", ["run", "call"])
def test_tells(ferrule_exchanges, ferrule_tool, monkeypatch, kind, way):
    monkeypatch.setenv("ALMANAC_URL", os.environ["THE_URL"])
    tool = ferrule_tool("almanac")
    arguments = {"city": os.environ.get("THE_CITY", "Oslo"), "way": way}
    if kind == "run":
        run = tool.run(arguments)
        assert run.exit_code == 0, run
        found = run.document
    else:
        found = tool.call(arguments)
    assert found["told"]["weather"] == "fine"
    assert found["shade"] == "wide"
"""


def weather(exchange: Exchange) -> None:
    """Answer with gzip, and with the key in every spelling, as a careless server does."""
    import gzip

    body = exchange.read_body()
    key = json.loads(body)["key"]
    spellings = [key, quote(key, safe=""), "".join(f"%{byte:02x}" for byte in key.encode())]
    spellings += [b64encode(f"{'x' * n}{key}".encode()).decode() for n in range(3)]
    document = {"weather": "fine", "path": exchange.path, "spellings": spellings, "access_token": "told-once"}
    headers = {"Content-Encoding": "gzip", "X-Shade": "wide", "X-Echo": key, "Set-Cookie": "session=hidden; Path=/"}
    exchange.answer(gzip.compress(json.dumps(document).encode()), "application/json", headers=headers)


class Project:
    """The project of an author, with one tool and its tests, in an environment in which it is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        site = folder / "site"
        self.exchanges = folder / "tests/exchanges/test_almanac"
        site.mkdir()
        (site / "almanac.py").write_text(SOURCE)
        permissions = {"network": ["variable:ALMANAC_URL"], "environment": ["ALMANAC_URL"]}
        (site / "almanac.tool.json").write_text(json.dumps({"permissions": permissions}))
        (site / "almanac-1.0.dist-info").mkdir()
        (site / "almanac-1.0.dist-info/entry_points.txt").write_text("[ferrule.tools]\nalmanac = almanac\n")
        scripts = folder / "bin"
        scripts.mkdir()
        script = scripts / "almanac-tool"
        script.write_text(f"#!{sys.executable}\nfrom ferrule.dispatch import main\nmain()\n")
        script.chmod(0o755)
        (folder / "tests").mkdir()
        (folder / "tests/test_almanac.py").write_text(TESTS)
        (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "CI", "FERRULE"))},
            "PYTHONPATH": str(site),
            "PATH": f"{scripts}:{os.environ['PATH']}",
            "HOME": str(folder),
            "TMPDIR": str(folder),  # pytest removes what earlier runs have left there, which may take minutes
            "NO_PROXY": "*",
        }

    def pytest(self, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *options]
        environment = {**self.environment, **environ}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=100)

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.exchanges.glob("*")}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder)


@pytest.mark.slow
def test_what_the_first_run_records_later_runs_replay_without_network_and_keys(project: Project) -> None:
    with Server() as server:
        url = server.route("/weather", weather)
        recorded = project.pytest(THE_URL=url, ALMANAC_KEY=KEY, ALMANAC_ENGINE="engine-7")
        assert "6 passed" in recorded.stdout, recorded.stdout + recorded.stderr
        assert len(server.requests) == 6
        assert all(request.headers["x-api-key"] == KEY for request in server.requests)
    files = project.files()
    assert len(files) == 6
    for text in files.values():
        for hidden in (KEY, "engine-7", "hidden", "told-once", quote(KEY, safe=""), "k3y", "M3kvb2Yrd"):
            assert hidden.encode() not in text
        document = json.loads(text)["exchanges"][0]
        assert document["request"]["json"] == {"key": "[redacted]", "n": [1]}
        assert document["request"]["url"].startswith(f"{url}?q=Oslo&engine=")
    # the server is gone, and nobody has a key
    for options in ((), ("--ferrule-record=never",)):
        replayed = project.pytest(*options, THE_URL=url)
        assert "6 passed" in replayed.stdout, replayed.stdout + replayed.stderr
    assert project.files() == files


@pytest.mark.slow
def test_a_changed_request_fails_with_a_diff_the_file_and_the_way_to_record_anew(project: Project) -> None:
    one = "tests/test_almanac.py::test_tells[run-ferrule.http]"
    with Server() as server:
        url = server.route("/weather", weather)
        keys = {"THE_URL": url, "ALMANAC_KEY": KEY, "ALMANAC_ENGINE": "engine-7"}
        assert project.pytest(one, **keys).returncode == 0
        changed = project.pytest(one, **keys, THE_CITY="Bergen")
        assert changed.returncode == 1
        assert "-  ? q = Oslo\n" in changed.stdout
        assert "+  ? q = Bergen\n" in changed.stdout
        assert str(project.exchanges / "test_tells[run-ferrule.http].json") in changed.stdout
        assert f"pytest '{one}' --ferrule-record=anew" in changed.stdout
        assert KEY not in changed.stdout
        assert "NETWORK_ERROR" not in changed.stdout  # what follows from it
        assert len(server.requests) == 1
        assert project.pytest(one, "--ferrule-record=anew", **keys, THE_CITY="Bergen").returncode == 0
    assert project.pytest(one, THE_URL=url, THE_CITY="Bergen").returncode == 0


Break = Callable[[Project, Path], None]


def _unsend(project: Project, file: Path) -> None:
    document = json.loads(file.read_text())
    document["exchanges"].append(document["exchanges"][0])
    file.write_text(json.dumps(document))


def _send_twice(project: Project, file: Path) -> None:
    file.write_text(json.dumps({"format": 1, "exchanges": []}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("break_it", "reason"),
    [
        pytest.param(_unsend, "1 of the requests in", id="one-is-not-sent"),
        pytest.param(_send_twice, "+POST http://127.0.0.1", id="one-is-not-recorded"),
        pytest.param(lambda project, file: file.write_text("{"), "no exchanges that can be read", id="no-json"),
        pytest.param(lambda project, file: file.write_text('{"format": 9, "exchanges": []}'), "format 9", id="later"),
        pytest.param(lambda project, file: file.unlink(), "nothing is recorded in this run", id="missing"),
    ],
)
def test_a_file_that_does_not_fit_says_how_to_record_it(project: Project, break_it: Break, reason: str) -> None:
    one = "tests/test_almanac.py::test_tells[call-ferrule.http]"
    with Server() as server:
        url = server.route("/weather", weather)
        assert project.pytest(one, THE_URL=url, ALMANAC_KEY=KEY, ALMANAC_ENGINE="engine-7").returncode == 0
    break_it(project, project.exchanges / "test_tells[call-ferrule.http].json")
    failed = project.pytest(one, THE_URL=url, CI="1")
    assert failed.returncode == 1
    assert reason in failed.stdout
    assert f"pytest '{one}' --ferrule-record=anew" in failed.stdout


@pytest.mark.slow
def test_nothing_is_written_where_the_test_fails_or_nobody_answers(project: Project) -> None:
    one = "tests/test_almanac.py::test_tells[run-ferrule.http]"
    keys = {"ALMANAC_KEY": KEY, "ALMANAC_ENGINE": "engine-7"}
    with Server() as server:
        url = server.document("/weather", {"weather": "bad"})
        assert project.pytest(one, THE_URL=url, **keys).returncode == 1
    nobody = project.pytest(one, THE_URL=url, **keys)
    assert f"POST {url}" in nobody.stdout
    assert "could not be recorded" in nobody.stdout
    assert project.files() == {}


@pytest.mark.slow
def test_what_is_recorded_is_asked_with_the_key_of_the_users_file(project: Project) -> None:
    file = project.folder / ".config/ikigai/credentials.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"almanac": {"key": KEY, "engine": "engine-7"}}))
    file.chmod(0o600)
    with Server() as server:
        url = server.route("/weather", weather)
        recorded = project.pytest("tests/test_almanac.py::test_tells[run-ferrule.http]", THE_URL=url)
        assert recorded.returncode == 0, recorded.stdout
        assert [request.headers["x-api-key"] for request in server.requests] == [KEY]
    (text,) = project.files().values()
    assert KEY.encode() not in text
    assert b"engine-7" not in text


@pytest.mark.slow
def test_a_tool_that_asks_no_server_by_ferrule_http_is_no_recorded_test(project: Project) -> None:
    (project.folder / "tests/test_almanac.py").write_text(
        'def test_it(ferrule_tool, ferrule_exchanges):\n    ferrule_tool("example").call({"city": "Oslo"})\n'
    )
    failed = project.pytest()
    assert "No request was recorded. Only requests of ferrule.http are" in failed.stdout
    assert "1 failed" in failed.stdout
