"""Calls on the page of `ferrule serve --page`: events as they come, calls that are kept, and made again elsewhere."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from ferrule_serve.page.call_lines import Endpoint, call_lines
from ferrule_serve.page.trials import TimedEvent
from ferrule_testkit.machine import Machine
from ferrule_testkit.serve import tools as served_tools
from ferrule_testkit.serve.service import BIN, SECONDS, HttpService
from ferrule_testkit.serve.tools import SECRET
from ferrule_testkit.web import page_tools

TOKEN = "a-token-of-the-tests"
STREAM = "application/x-ndjson"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return page_tools.install(served_tools.install(Machine(tmp_path_factory.mktemp("served"))))


@pytest.fixture(scope="module")
def service(machine: Machine) -> Iterator[HttpService]:
    with HttpService({**machine.environment, "FERRULE_SERVE_TOKEN": TOKEN}, "--page", work=machine.work) as service:
        yield service


@pytest.fixture(scope="module")
def client(service: HttpService) -> Iterator[httpx.Client]:
    base = service.url.removesuffix("/mcp")
    headers = {"Authorization": f"Bearer {TOKEN}", "Origin": base}
    with httpx.Client(base_url=base, headers=headers, timeout=SECONDS) as client:
        yield client


def token_in(client: httpx.Client) -> str:
    return client.get("/tools/echo").text.partition('name="page_token" value="')[2].partition('"')[0]


def call(client: httpx.Client, tool: str, arguments: str) -> str:
    return client.post(f"/tools/{tool}", data={"page_token": token_in(client), "json": arguments}).text


def key_in(page: str) -> str:
    found = re.search(r'href="\.\./calls/([\w-]+)">This call', page)
    assert found
    return found[1]


def region(page: str, label: str) -> str:
    return unescape(page.partition(f'aria-label="{label}"')[2].partition(">\n")[2].partition("</pre>")[0])


@pytest.mark.slow
@pytest.mark.process
def test_events_come_while_the_call_runs_and_the_page_at_its_end(client: httpx.Client, tmp_path: Path) -> None:
    form = {"page_token": token_in(client), "argument.mark": str(tmp_path / "mark")}
    with client.stream("POST", "/tools/stages", data=form, headers={"Accept": STREAM}) as answer:
        assert answer.headers["Content-Type"] == STREAM
        assert answer.headers["X-Accel-Buffering"] == "no"
        lines = map(json.loads, answer.iter_lines())
        first, second = next(lines), next(lines)
        (tmp_path / "mark").touch()  # the tool has not ended before
        last = list(lines)
    assert (first["progress"], first["total"], first["message"]) == (1, 4, "begun")
    assert second["progress"] is None
    assert re.fullmatch(r'\d+\.\d{3} s  \{"event": "note", "content": "the first <b>"\}', second["line"])
    assert len(last) == 1
    assert '"staged": true' in region(last[0]["page"], "Document")
    assert region(last[0]["page"], "Events").splitlines() == [first["line"], second["line"]]
    assert last[0]["key"] == key_in(last[0]["page"])


@pytest.mark.slow
@pytest.mark.process
def test_events_that_come_have_no_credential(client: httpx.Client) -> None:
    form = {"page_token": token_in(client)}
    text = client.post("/tools/leaks", data=form, headers={"Accept": STREAM}).text
    assert "the key is" in text
    assert SECRET not in text


@pytest.mark.process
def test_a_form_that_is_not_the_pages_own_gets_no_stream(client: httpx.Client) -> None:
    answer = client.post("/tools/echo", data={"page_token": "x"}, headers={"Accept": STREAM})
    assert answer.status_code == 403
    assert answer.headers["Content-Type"].startswith("text/html")


@pytest.mark.process
def test_a_call_is_kept_for_who_has_its_key_and_can_be_made_again(client: httpx.Client) -> None:
    arguments = '{"text": "kept \\" \\u202e <b>"}'
    page = call(client, "echo", arguments)
    key = key_in(page)
    again = client.get(f"/calls/{key}").text
    for label in ("Document", "Arguments", "The call for curl"):
        assert region(again, label) == region(page, label) != ""
    assert '<input type="hidden" name="json" value="{&#34;text&#34;: &#34;kept' in again
    assert re.search(r"ok</span> in \d+\.\d{3} s.*, at <time datetime=", again, re.DOTALL)
    listed = client.get("/").text + client.get("/calls").text
    assert key not in listed
    assert "kept &#34;" not in listed
    assert client.get(f"/calls/{key[:-1]}").status_code == client.get("/calls/x/blocks/0").status_code == 404


@pytest.mark.process
def test_what_a_client_gets_is_shown_block_by_block(client: httpx.Client) -> None:
    page = call(client, "draws", "{}")
    blocks = f"/calls/{key_in(page)}/blocks/"
    kinds = re.findall(r'<span class="state">(\w+)</span>\s+<span class="quiet">(.*?)</span>', page)
    assert [kind for kind, _ in kinds] == [
        *("text", "text", "image", "image", "audio", "resource", "resource_link"),
    ]
    assert kinds[2][1] == f"image/png, {len(page_tools.PICTURE)} B"
    assert re.findall('<img src="([^"]*)"', page) == [f"..{blocks}2"]
    assert '"sum": 12' in region(page, "Structured content")
    assert '"type": "resource_link"' in region(page, "Result as JSON")
    picture = client.get(f"{blocks}2")
    assert (picture.content, picture.headers["Content-Type"]) == (page_tools.PICTURE, "image/png")
    assert client.get(f"{blocks}6").content == bytes(600_000)
    for number in (3, 4, 5, 6):  # nothing but plain pictures is opened by a browser
        headers = client.get(f"{blocks}{number}").headers
        assert headers["Content-Type"] == "application/octet-stream"
        assert headers["Content-Disposition"].startswith("attachment")
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert [client.get(f"{blocks}{number}").status_code for number in ("0", "7", "99", "x")] == [404] * 4


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("text", ["plain", 'it\'s "quoted" $HOME `id` \\n', "\u202e\x07\x7fä\n✓"])
def test_a_copied_call_gives_the_same_answer_elsewhere(
    text: str, client: httpx.Client, service: HttpService, machine: Machine
) -> None:
    page = call(client, "echo", json.dumps({"text": text}))
    document = json.loads(region(page, "Document").replace("<U+202E>", "\u202e").replace("<U+007F>", "\x7f"))
    environment = {**machine.environment, "FERRULE_SERVE_TOKEN": TOKEN, "PATH": f"{BIN}:{os.environ['PATH']}"}
    lines = {label: region(page, f"The call for {label}") for label in ("curl", "JSON-RPC", "shell")}
    assert all(line.isascii() and line.isprintable() and TOKEN not in line for line in lines.values())

    def run(line: str) -> str:
        return subprocess.run(
            ["sh", "-c", line], env=environment, cwd=machine.work, capture_output=True, text=True, check=True
        ).stdout

    told = run(lines["curl"])
    answer = json.loads(told.partition("data: ")[2] or told)
    assert json.loads(run(lines["shell"])) == answer["result"]["structuredContent"] == document
    request = json.loads(lines["JSON-RPC"])
    headers = {"Mcp-Method": "tools/call", "Mcp-Name": "echo", "Authorization": f"Bearer {TOKEN}"}
    status, body = service.post_bytes(json.dumps(request).encode(), **headers)
    assert status == 200
    assert (
        answer["result"]["structuredContent"]
        == json.loads(body.partition("data: ")[2] or body)["result"]["structuredContent"]
    )


@pytest.mark.process
def test_a_tool_is_found_by_words_of_its_row_without_a_script(client: httpx.Client) -> None:
    def found(words: str) -> list[str]:
        return re.findall(r'data-tool="(\w+)"', client.get("/", params={"find": words}).text)

    assert found("kinds") == found("LOOKS everywhere") == ["kinds"]
    assert found("dist-echo") == ["echo"]
    assert found("cannot be loaded")[0] == "broken"
    assert found("nothing")[0] == "nothing"
    assert found("no such words") == []
    assert 'value="&#34;&lt;b&gt;"' in client.get("/", params={"find": '"<b>'}).text


def test_arguments_that_are_no_object_or_too_long_have_no_lines() -> None:
    endpoint = Endpoint("http://127.0.0.1:1/mcp", has_token=False)
    for arguments in (b"{", b"[]", b"\xff", json.dumps({"text": "x" * 100_000}).encode()):
        assert call_lines("echo", arguments, arguments, endpoint) == []
    assert "Authorization" not in call_lines("echo", b"{}", b"{}", endpoint)[0].text


@pytest.mark.parametrize(
    ("facts", "progress"),
    [
        ({"progress": 2, "total": 5, "message": "m"}, (2, 5, "m")),
        ({"progress": 0.5, "total": 0, "message": 1}, (0.5, None, "")),
        ({"progress": True}, None),
        ({"progress": "all"}, None),
    ],
)
def test_only_numbers_are_progress(facts: dict[str, object], progress: object) -> None:
    assert TimedEvent(0.0, {"event": "progress", **facts}).progress == progress
    assert TimedEvent(0.0, facts).progress is None
