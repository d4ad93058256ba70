"""Both search tools as a client meets them: real executables, and servers that behave as the providers do, or worse."""

import ast
import gzip
import json
import re
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme

from ferrule_dev.testing import Environment, Exchange, Server, refused_port
from ferrule_dev.testing.http_server import HTML
from ferrule_testkit import ikigai
from ferrule_testkit.corpus import Site
from ferrule_testkit.runs import Run, run, run_forked
from ferrule_testkit.search.server import (
    BRAVE_KEY,
    ENGINE,
    GOOGLE_KEY,
    JSON,
    KEYS,
    Brave,
    Google,
    Rate,
    brave_document,
    google_document,
    settings,
    some_hits,
)

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
ALMANAC = ROOT / "tests" / "providers" / "almanac"
QUERY = b'{"query": "some words"}'


class Tool(NamedTuple):
    """One of the tools. key: the secret one. documents: what its provider answers, `content` without a key."""

    name: str
    variable: str
    endpoint: str
    key: str
    provider: Callable[..., Callable[[Exchange], None]]
    document: Callable[..., dict[str, Any]]
    error: str
    content: str
    data: str

    @property
    def executable(self) -> Path:
        return BIN / f"{self.name.replace('_', '-')}-tool"


BRAVE = Tool(
    name="web_search_brave",
    variable="BRAVE_API_KEY",
    endpoint="FERRULE_BRAVE_ENDPOINT",
    key=BRAVE_KEY,
    provider=Brave,
    document=brave_document,
    error=(
        "Web search requires API key configuration.\n\nBrave Search offers 2,000 free searches/month.\n"
        "Get your key: https://brave.com/search/api/\n"
        "Add to: ~/.config/ikigai/credentials.json as 'web_search.brave.api_key'"
    ),
    content=(
        "⚠ Configuration Required\n\nWeb search needs an API key. Brave Search offers 2,000 free searches/month.\n\n"
        "Get your key: https://brave.com/search/api/\nAdd to: ~/.config/ikigai/credentials.json\n\nExample:\n"
        '{\n  "web_search": {\n    "brave": {\n      "api_key": "your-api-key-here"\n    }\n  }\n}'
    ),
    data=('{"tool": "web_search_brave", "credential": "api_key", "signup_url": "https://brave.com/search/api/"}'),
)
GOOGLE = Tool(
    name="web_search_google",
    variable="GOOGLE_SEARCH_API_KEY",
    endpoint="FERRULE_GOOGLE_ENDPOINT",
    key=GOOGLE_KEY,
    provider=Google,
    document=google_document,
    error=(
        "Web search requires API key configuration.\n\nGoogle Custom Search offers 100 free searches/day.\n"
        "Get API key: https://developers.google.com/custom-search/v1/overview\n"
        "Get Search Engine ID: https://programmablesearchengine.google.com/controlpanel/create\n"
        "Add to: ~/.config/ikigai/credentials.json as 'web_search.google.api_key' and 'web_search.google.engine_id'"
    ),
    content=(
        "⚠ Configuration Required\n\nWeb search needs an API key and Search Engine ID. Google Custom Search offers 100 "
        "free searches/day.\n\nGet API key: https://developers.google.com/custom-search/v1/overview\n"
        "Get Search Engine ID: https://programmablesearchengine.google.com/controlpanel/create\n"
        "Add to: ~/.config/ikigai/credentials.json\n\nExample:\n"
        '{\n  "web_search": {\n    "google": {\n      "api_key": "your-api-key-here",\n'
        '      "engine_id": "your-search-engine-id"\n    }\n  }\n}'
    ),
    data='{"tool": "web_search_google", "credentials": ["api_key", "engine_id"]}',
)

PACKAGES = ("ferrule", "ferrule_brave", "ferrule_google", "ferrule_websearch")

both = pytest.mark.parametrize("tool", [BRAVE, GOOGLE], ids=["brave", "google"])
Call = Callable[..., Run]


@pytest.fixture
def variables(environment: dict[str, str], tmp_path: Path, server: Server) -> dict[str, str]:
    """The environment of a person who has both keys, and whose providers are the server."""
    return {**environment, **settings(tmp_path, server)}


@pytest.fixture
def call(variables: dict[str, str], tmp_path: Path) -> Call:
    """Run a tool's executable; `more` are variables beside those of the person."""

    def call(tool: Tool, arguments: bytes = QUERY, **more: str) -> Run:
        merged = {**variables, "FERRULE_DEBUG": "1", **more}
        done = run_forked(tool.executable, arguments, environment=merged, cwd=tmp_path, packages=PACKAGES)
        for key in (BRAVE_KEY, GOOGLE_KEY):
            assert key.encode() not in done.stdout + done.stderr
        assert done.left == []
        return done

    return call


def raw(data: bytes) -> Callable[[Exchange], None]:
    """A route that sends bytes and closes the connection."""

    def answer(exchange: Exchange) -> None:
        exchange.close_connection = True
        exchange.send(data)

    return answer


# ---- whole calls


@pytest.mark.slow
@pytest.mark.process
@both
def test_a_search_is_answered(server: Server, call: Call, tool: Tool) -> None:
    server.route("*", tool.provider(some_hits(30)))
    done = call(tool)
    assert done.exit_code == 0
    assert done.stderr == b""
    date = {"published": "2026-01-02T03:04:05"} if tool is BRAVE else {}
    assert done.document == {
        "success": True,
        "results": [
            {"title": f"Title {n}", "url": f"https://www.example.com/{n}", "snippet": f"Text {n}", **date}
            for n in range(10)
        ],
        "count": 10,
    }


@pytest.mark.slow
@pytest.mark.process
@both
def test_the_client_finds_and_calls_the_linked_tool(
    server: Server,
    tmp_path: Path,
    variables: dict[str, str],
    tool: Tool,
    ferrule_environment: Environment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "tools"
    link = [BIN / "ferrule", "link", tool.name, "--to", folder]
    subprocess.run(link, env=variables, check=True, capture_output=True, timeout=60)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    server.route("*", tool.provider(some_hits(30)))
    found = ikigai.discover([folder])[tool.name]
    assert found.schema["name"] == tool.name
    answer = ikigai.call(found, {"query": "some words", "allowed_domains": [], "blocked_domains": [""]})
    assert answer["tool_success"] is True
    assert answer["result"]["count"] == 10
    monkeypatch.setenv(tool.variable, "another-key-that-is-wrong")
    refused = ikigai.call(found, {"query": "some words"})
    assert refused["tool_success"] is True  # the document gets through, which says what happened
    assert refused["result"]["error_code"] == "AUTH_INVALID"


@pytest.mark.slow
@pytest.mark.process
@both
def test_arguments_are_refused_before_anybody_is_asked(server: Server, call: Call, tool: Tool) -> None:
    for arguments, reason in (
        (b'{"query": "q"}', "query"),
        (b'{"query": "  "}', "query: it is blank"),
        (b'{"query": "some words", "allowed_domains": ["no domain"]}', "allowed_domains: 'no domain'"),
        (b'{"query": "some words", "offset": -1, "start": 92}', "offset" if tool is BRAVE else "start"),
    ):
        done = call(tool, arguments, **dict.fromkeys(KEYS, ""))
        assert done.document["error_code"] == "INVALID_INPUT"
        assert reason in done.document["error"]
    assert server.requests == []


def test_the_shared_parameters_are_the_same_to_the_byte() -> None:
    texts = [
        (ROOT / "plugins" / name / "src" / f"ferrule_{name}" / "schema.json").read_text()
        for name in ("brave", "google")
    ]
    for name in ("query", "allowed_domains", "blocked_domains"):
        brave, google = (re.search(rf'^ +"{name}": {{\n.*?\n {{6}}}}', text, re.M | re.S) for text in texts)
        assert brave
        assert google
        assert brave[0] == google[0]
    brave, google = map(json.loads, texts)
    assert brave["description"].replace("Brave Search", "Google Custom Search") == google["description"]


# ---- what goes wrong on the way


def huge() -> bytes:
    return b'{"web": "' + b"x" * (5 << 20) + b'"}'


EMPTY = b"{}"
LONG = "100"  # of a Content-Length, more than is sent

FAULTS: dict[str, tuple[Callable[[Exchange], None], str, str]] = {
    "silence": (lambda exchange: exchange.hang(), "NETWORK_ERROR", "Connection timeout"),
    "dripping-head": (lambda exchange: exchange.drip(b"HTTP/1.1 200 OK\r\nX: "), "NETWORK_ERROR", "Connection timeout"),
    "dripping-body": (
        lambda exchange: (exchange.send(b"HTTP/1.1 200 OK\r\n\r\n{"), exchange.drip(b" "))[1],
        "NETWORK_ERROR",
        "Connection timeout",
    ),
    "closed-at-once": (raw(b""), "NETWORK_ERROR", "Connection closed before an answer came"),
    "no-http": (raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "NETWORK_ERROR", "not valid HTTP"),
    "cut-off": (
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + EMPTY),
        "NETWORK_ERROR",
        "closed before the whole body",
    ),
    "cut-off-in-gzip": (
        lambda exchange: exchange.answer(gzip.compress(EMPTY)[:-6], JSON, headers={"Content-Encoding": "gzip"}),
        "NETWORK_ERROR",
        "closed before the whole body",
    ),
    "no-gzip": (
        lambda exchange: exchange.answer(EMPTY, JSON, headers={"Content-Encoding": "gzip"}),
        "NETWORK_ERROR",
        "not compressed in the way",
    ),
    "brotli": (
        lambda exchange: exchange.answer(EMPTY, JSON, headers={"Content-Encoding": "br"}),
        "NETWORK_ERROR",
        "not asked for",
    ),
    "no-body": (lambda exchange: exchange.answer(b"", JSON), "API_ERROR", "something else than a JSON object"),
    "html": (
        lambda exchange: exchange.answer(b"<h1>Log in to the wireless network</h1>", HTML),
        "API_ERROR",
        "something else than a JSON object",
    ),
    "half-of-json": (lambda exchange: exchange.answer(b'{"web": ', JSON), "API_ERROR", "something else"),
    "json-array": (lambda exchange: exchange.answer(b"[]", JSON), "API_ERROR", "something else"),
    "not-utf-8": (lambda exchange: exchange.answer(b'{"web": "\xff"}', JSON), "API_ERROR", "something else"),
    "deep-json": (lambda exchange: exchange.answer(b"[" * 1_000_000, JSON), "API_ERROR", "something else"),
    "another-shape": (
        lambda exchange: exchange.answer(b'{"web": {"results": 5}, "items": 5}', JSON),
        "API_ERROR",
        "an unexpected shape",
    ),
    "yet-another-shape": (
        lambda exchange: exchange.answer(b'{"web": "text", "items": true}', JSON),
        "API_ERROR",
        "an unexpected shape",
    ),
    "huge": (lambda exchange: exchange.answer(huge(), JSON), "API_ERROR", "something else"),
    "huge-when-unpacked": (
        lambda exchange: exchange.answer(gzip.compress(huge(), 1), JSON, headers={"Content-Encoding": "gzip"}),
        "API_ERROR",
        "something else",
    ),
    "a-refusal-that-drips": (
        lambda exchange: (exchange.send(b"HTTP/1.1 500 Oh\r\n\r\n{"), exchange.drip(b" "))[1],
        "API_ERROR",
        "HTTP 500: Internal Server Error",
    ),
}

ENDLESS = ("silence", "dripping-head", "dripping-body", "a-refusal-that-drips")


@pytest.mark.process
@both
@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_goes_wrong_is_one_clear_error_without_a_key(
    server: Server, call: Call, tool: Tool, fault: str
) -> None:
    route, code, reason = FAULTS[fault]
    server.route("*", route)
    done = call(tool, FERRULE_DEADLINE="3" if fault in ENDLESS else "25")
    assert done.exit_code == 1
    assert done.document["success"] is False
    assert done.document["error_code"] == code
    assert reason in done.document["error"]


@pytest.mark.process
@both
def test_what_is_odd_and_can_be_read_is_read(server: Server, call: Call, tool: Tool) -> None:
    body = json.dumps(tool.document(some_hits(10))).encode()
    for sent, content_type, headers in (
        (body, "text/html", {}),
        (body, "", {}),
        (b"\xef\xbb\xbf" + body, JSON, {}),
        (gzip.compress(body), JSON, {"Content-Encoding": "gzip"}),
        (gzip.compress(body[:50]) + gzip.compress(body[50:]), JSON, {"Content-Encoding": "x-gzip"}),
    ):
        server.page("*", sent, content_type, headers=headers)
        assert call(tool).document["count"] == 10


@pytest.mark.process
@both
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_key_goes_to_no_other_place(server: Server, call: Call, tool: Tool, status: int) -> None:
    with Server() as elsewhere:
        elsewhere.route("*", tool.provider(some_hits(30)))
        server.redirect("*", elsewhere.url + "/somewhere", status)
        done = call(tool)
        assert elsewhere.requests == []
    assert len(server.requests) == 1
    assert done.document["error_code"] == "API_ERROR"
    assert f"HTTP {status}: it leads elsewhere, which is not followed" in done.document["error"]


@pytest.mark.process
@both
def test_a_server_that_is_not_there_is_a_network_error(call: Call, tool: Tool) -> None:
    done = call(tool, **{tool.endpoint: f"http://127.0.0.1:{refused_port()}/search"})
    assert done.document["error_code"] == "NETWORK_ERROR"
    assert done.document["error"].endswith(" gave no answer: Connection refused.")


@pytest.mark.process
@both
@pytest.mark.parametrize(
    "endpoint",
    ["nonsense", "ftp://127.0.0.1/", "http://", "http://[::1", "http://a..b/\u2028", "http://127.0.0.1:99999999/"],
)
def test_an_endpoint_that_is_none_is_named(call: Call, tool: Tool, endpoint: str) -> None:
    done = call(tool, **{tool.endpoint: endpoint})
    assert done.document["error_code"] == "NETWORK_ERROR"
    assert tool.endpoint in done.document["error"] or "resolve" in done.document["error"]


@pytest.mark.slow
@pytest.mark.process
@both
def test_an_endpoint_with_a_query_is_refused_without_showing_it(server: Server, call: Call, tool: Tool) -> None:
    done = call(tool, **{tool.endpoint: f"{server.url}/search?password=hidden"})
    assert done.document["error_code"] == "NETWORK_ERROR"
    assert b"hidden" not in done.stdout + done.stderr
    assert server.requests == []


@pytest.mark.process
@both
def test_the_query_stands_in_no_error_where_the_key_does(server: Server, call: Call, tool: Tool) -> None:
    def quoting(exchange: Exchange) -> None:
        said = f"No service at {exchange.path} for {dict(exchange.headers)}"
        body = {"error": {"message": said, "detail": said, "code": said, "errors": [{"reason": said}]}}
        exchange.answer(json.dumps(body).encode(), JSON, status=400)

    server.route("*", quoting)
    assert call(tool).document["error_code"] == "API_ERROR"


@pytest.mark.process
@both
def test_a_result_that_quotes_the_key_does_not_show_it(server: Server, call: Call, tool: Tool) -> None:
    hit = some_hits(1)[0]._replace(title=f"the key {tool.key}", url=f"https://a.example/?key={tool.key}")
    server.page("*", json.dumps(tool.document([hit])), JSON)
    (found,) = call(tool).document["results"]
    assert found["title"] == "the key [redacted]"


@pytest.mark.process
@both
def test_https_is_verified_and_a_proxy_is_used(call: Call, tool: Tool, tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with Server(context) as secure, Server() as proxy:
        secure.route("*", tool.provider(some_hits(30)))
        proxy.tunnel(secure)
        asked = {tool.endpoint: f"{secure.url}/search"}
        trusting = {**asked, "SSL_CERT_FILE": str(tmp_path / "authority.pem")}
        refused = call(tool, **asked)
        assert refused.document["error_code"] == "NETWORK_ERROR"
        assert "certificate verify failed" in refused.document["error"]
        assert secure.requests == []
        assert call(tool, **trusting).document["count"] == 10
        assert proxy.requests == []
        assert call(tool, **trusting, HTTPS_PROXY=proxy.url).document["count"] == 10
        assert [request.method for request in proxy.requests] == ["CONNECT"]
        assert call(tool, **trusting, HTTPS_PROXY=proxy.url, NO_PROXY="127.0.0.1").document["count"] == 10
        assert len(proxy.requests) == 1


# ---- credentials


@pytest.mark.process
@both
def test_without_a_key_the_model_and_the_person_are_told_as_specified(call: Call, tool: Tool) -> None:
    for more in ({}, {"IKIGAI_AGENT_ID": "agent-1"}):
        done = call(tool, **dict.fromkeys(KEYS, " "), IKIGAI_CONFIG_DIR="", **more)
        assert done.exit_code == (0 if more else 1)
        assert done.document == {"success": False, "error": tool.error, "error_code": "AUTH_MISSING"}
        event = json.loads(done.stderr)
        assert event == {"kind": "config_required", "content": tool.content, "data_json": tool.data}


@pytest.mark.process
@both
@pytest.mark.parametrize(
    ("variable", "file"),
    [("IKIGAI_CONFIG_DIR", "credentials.json"), ("XDG_CONFIG_HOME", "ikigai/credentials.json")],
)
def test_where_the_file_of_credentials_lies_elsewhere_it_is_named_after_the_specified_text(
    call: Call, tool: Tool, tmp_path: Path, variable: str, file: str
) -> None:
    done = call(tool, **{**dict.fromkeys(KEYS, ""), "IKIGAI_CONFIG_DIR": "", variable: str(tmp_path)})
    told = f"\n\nOn this machine, the file that is read is {tmp_path / file}."
    assert done.document["error"] == tool.error + told
    assert json.loads(done.stderr)["content"] == tool.content + told


@pytest.mark.process
def test_google_needs_its_engine_too(call: Call) -> None:
    done = call(GOOGLE, GOOGLE_SEARCH_ENGINE_ID="", IKIGAI_CONFIG_DIR="")
    assert done.document == {"success": False, "error": GOOGLE.error, "error_code": "AUTH_MISSING"}


NESTED = {"web_search": {"brave": {"api_key": BRAVE_KEY}, "google": {"api_key": GOOGLE_KEY, "engine_id": ENGINE}}}
WRONG = {
    "web_search": {
        "brave": {"api_key": "wrong-key-of-brave"},
        "google": {"api_key": "wrong-key-of-google", "engine_id": "wrong-engine"},
    }
}


@pytest.mark.process
@both
@pytest.mark.parametrize(
    ("file", "environ"),
    [
        pytest.param(NESTED, dict.fromkeys(KEYS, ""), id="nested"),
        pytest.param(KEYS, dict.fromkeys(KEYS, ""), id="flat"),
        pytest.param({**dict.fromkeys(KEYS, "wrong-value"), **NESTED}, dict.fromkeys(KEYS, ""), id="nested-over-flat"),
        pytest.param(WRONG, KEYS, id="environment-over-file"),
        pytest.param({}, {name: f" {value}\n" for name, value in KEYS.items()}, id="blanks-around-it"),
        pytest.param({}, {name: f"{value}\r\n" for name, value in KEYS.items()}, id="a-pasted-line"),
    ],
)
def test_a_key_is_found_where_it_is(
    server: Server, call: Call, tool: Tool, tmp_path: Path, file: Mapping[str, Any], environ: Mapping[str, str]
) -> None:
    write_credentials(tmp_path, json.dumps(file))
    server.route("*", tool.provider(some_hits(30)))
    assert call(tool, **environ).document["count"] == 10


@pytest.mark.process
@both
@pytest.mark.parametrize("inside", ["two words", "two\nlines", "t\u00e4st-key", "tab\tinside", "nul\\u0000"])
def test_a_key_that_cannot_be_sent_is_refused_clearly(
    server: Server, call: Call, tool: Tool, inside: str, tmp_path: Path
) -> None:
    if "\\" not in inside:
        done = call(tool, **{tool.variable: inside})
        assert "cannot be a key" in done.document["error"]
        assert done.document["error_code"] == "AUTH_MISSING"
    write_credentials(tmp_path, f'{{"{tool.variable}": "{inside}"}}'.replace("\n", "\\n").replace("\t", "\\t"))
    done = call(tool, **dict.fromkeys(KEYS, ""))
    assert done.document["error_code"] == "AUTH_MISSING"
    assert server.requests == []


@pytest.mark.slow
@pytest.mark.process
@both
def test_a_malformed_file_is_told_with_line_and_column_and_counts_as_empty(
    server: Server, call: Call, tool: Tool, tmp_path: Path
) -> None:
    path = write_credentials(tmp_path, '{\n  "web_search": {"brave": {"api_key": "k3y-in-the-file"},}\n}')
    done = call(tool, **dict.fromkeys(KEYS, ""))
    assert done.document["error_code"] == "AUTH_MISSING"
    problem, _, text = done.document["error"].partition("\n\n")
    assert problem.startswith(f"{path} is not JSON: ")
    assert re.search(r" at line 2 column \d+\.$", problem)
    assert text.startswith(tool.error)
    assert b"k3y-in-the-file" not in done.stdout + done.stderr
    assert json.loads(done.stderr)["content"].startswith(tool.content)
    server.route("*", tool.provider(some_hits(30)))
    assert call(tool).document["count"] == 10  # the keys in the environment need no file


def write_credentials(tmp_path: Path, text: str) -> Path:
    folder = tmp_path / "configuration"
    folder.mkdir(exist_ok=True)
    path = folder / "credentials.json"
    path.write_text(text)
    path.chmod(0o600)
    return path


# ---- many at once


def at_once(tool: Tool, number: int, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """Start a tool many times before any has an answer; what each answered."""
    started = [
        subprocess.Popen(
            [tool.executable], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        for _ in range(number)
    ]
    for process in started:
        assert process.stdin
        process.stdin.write(QUERY)
        process.stdin.close()
    answers = []
    for process in started:
        assert process.stdout
        answers.append(ikigai.parse_strictly(process.stdout.read()))
        process.stdout.close()
        process.wait(timeout=60)
    return answers


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(60)
def test_ten_calls_at_once_all_succeed_where_one_a_second_is_allowed(server: Server, variables: dict[str, str]) -> None:
    rate = Rate(1)
    server.route("*", Brave(some_hits(30), rate=rate))
    answers = at_once(BRAVE, 10, variables)
    assert [answer.get("count") or answer for answer in answers] == [10] * 10
    assert len(rate.taken) == 10
    # Each may be refused once, before it can know the pace; now and then one comes early on a busy machine.
    assert len(server.requests) <= 25


@pytest.mark.slow
@pytest.mark.process
@both
def test_ten_calls_at_once_are_all_under_way_at_once_where_nothing_forbids_it(
    server: Server, variables: dict[str, str], tool: Tool
) -> None:
    barrier = threading.Barrier(10, timeout=60)
    provider = tool.provider(some_hits(30))

    def when_all_are_there(exchange: Exchange) -> None:
        barrier.wait()
        provider(exchange)

    server.route("*", when_all_are_there)
    assert [answer.get("count") or answer for answer in at_once(tool, 10, variables)] == [10] * 10


@pytest.mark.slow
@pytest.mark.process
def test_a_large_plan_that_is_known_is_not_slowed(server: Server, variables: dict[str, str], call: Call) -> None:
    rate = Rate(50)
    server.route("*", Brave(some_hits(30), rate=rate))
    call(BRAVE)
    barrier = threading.Barrier(10, timeout=60)
    server.route("*", Brave(some_hits(30), rate=rate, before=barrier.wait))
    assert [answer.get("count") or answer for answer in at_once(BRAVE, 10, variables)] == [10] * 10


@pytest.mark.process
def test_a_turn_that_would_come_too_late_is_told_at_once(server: Server, call: Call) -> None:
    server.route("*", Brave(some_hits(30), rate=Rate(1, 60)))
    assert call(BRAVE).document["count"] == 10
    late = call(BRAVE)
    assert late.document["error_code"] == "RATE_LIMIT"
    assert late.document["error"].startswith("Rate limit exceeded. The calls of this machine take turns")
    assert 0 < late.document["retry_after"] <= 63
    assert len(server.requests) == 1


@pytest.mark.slow
@pytest.mark.process
def test_a_state_folder_that_cannot_be_written_keeps_nobody_from_searching(server: Server, call: Call) -> None:
    server.route("*", Brave(some_hits(30), rate=Rate(1)))
    for folder in ("/proc/nowhere", "/dev/null", "relative/\u2028"):
        assert call(BRAVE, FERRULE_STATE=folder).document["count"] == 10


# ---- what the tools share


@pytest.mark.slow
@pytest.mark.process
def test_no_other_module_of_the_host_imports_what_search_tools_share() -> None:
    host = ROOT / "host" / "src" / "ferrule"
    for path in host.rglob("*.py"):
        if "templates" not in path.parts:  # which are packages of their own
            for node in ast.walk(ast.parse(path.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
                module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
                assert not any("websearch" in name for name in [module, *names]), path


@pytest.mark.process
def test_what_search_tools_share_is_light_to_import() -> None:
    program = "import json, sys, ferrule_websearch; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not set(json.loads(done.stdout)) & {"httpx", "httpcore", "ssl", "idna", "html", "click", "platformdirs"}


@pytest.fixture
def almanac(tmp_path: Path, variables: dict[str, str], server: Server) -> Callable[..., Run]:
    """A third provider, in a distribution of its own, whose tool is run with arguments."""
    site = Site(tmp_path / "installed").install(ALMANAC)
    environment = {
        **variables,
        "PYTHONPATH": str(site.path),
        "FERRULE_ALMANAC_ENDPOINT": f"{server.url}/search",
        "ALMANAC_API_KEY": "k3y-of-the-almanac",
    }

    def almanac(*, key: str = "k3y-of-the-almanac", **arguments: Any) -> Run:
        given = json.dumps({"query": "some words", **arguments}).encode()
        return run(
            [site.scripts / "web-search-almanac-tool"], given, environment={**environment, "ALMANAC_API_KEY": key}
        )

    return almanac


def almanac_page(exchange: Exchange) -> None:
    place = int(re.findall(r"from=(\d+)", exchange.path)[0])
    hits = [
        {"name": hit.title, "link": hit.url, "text": f"<i>{hit.text}</i>"}
        for n in range(place, place + 25)
        for hit in some_hits(1, ["www.example.com", "example.org"][n % 2], first=n)
    ]
    exchange.answer(json.dumps({"hits": hits}).encode(), JSON)


def test_a_third_provider_takes_few_lines() -> None:
    lines = (ALMANAC / "ferrule_almanac.py").read_text().splitlines()
    assert len(lines) < 60


@pytest.mark.slow
@pytest.mark.process
def test_a_third_provider_has_what_the_others_have(server: Server, almanac: Callable[..., Run]) -> None:
    server.route("*", almanac_page)
    found = almanac(count=30, blocked_domains=["EXAMPLE.com"]).document
    assert [result["title"] for result in found["results"]] == [f"Title {n}" for n in range(1, 61, 2)]
    assert found["results"][0] == {"title": "Title 1", "url": "https://example.org/1", "snippet": "Text 1"}
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer k3y-of-the-almanac"] * 3
    server.page("*", '{"error": {"message": "k3y-of-the-almanac is unknown"}}', JSON, status=401)
    refused = almanac().document
    assert refused == {
        "success": False,
        "error": "Almanac refused the credentials: [redacted] is unknown.",
        "error_code": "AUTH_INVALID",
    }
    server.page("*", "{}", JSON, status=429, headers={"Retry-After": "40"})
    assert almanac().document == {
        "success": False,
        "error": "Rate limit exceeded. Ask again in 40 seconds.",
        "error_code": "RATE_LIMIT",
        "retry_after": 40,
    }
    server.page("*", "{}", JSON)
    assert almanac().document["error_code"] == "API_ERROR"
    missing = almanac(key="")
    assert missing.document["error_code"] == "AUTH_MISSING"
    assert json.loads(missing.stderr)["kind"] == "config_required"
