"""Whom `ferrule serve` answers, what it refuses to serve, and what it imports for that."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pluggy
import pytest

import ferrule
import ferrule_serve
from ferrule.errors import ServeError
from ferrule_serve.mcp.http.addresses import Token
from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.service import SECONDS, HttpService
from ferrule_testkit.serve.tools import install_two

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("serve-access")]
TOKEN = "a-token-of-some-length-4711"


@pytest.fixture
def small(machine: Machine) -> Machine:
    return install_two(machine)


@pytest.mark.slow
def test_every_request_needs_the_token_and_no_tool_sees_it(small: Machine) -> None:
    small.install("sees", execute="import os; return {'token': os.environ.get('FERRULE_SERVE_TOKEN')}")
    environment = {**small.environment, "FERRULE_SERVE_TOKEN": TOKEN}
    with HttpService(environment, "sees", work=small.work) as service:
        asked = {"name": "sees", "arguments": {}}
        for wrong in ("", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN):
            headers = {"Authorization": wrong} if wrong else {}
            assert service.post("tools/call", asked, **headers)[0] == 401
        status, answer = service.post("tools/call", asked, Authorization=f"Bearer {TOKEN}")
        assert status == 200
        assert json.loads(answer)["result"]["structuredContent"] == {"token": None}
        command_line = Path(f"/proc/{service.process.pid}/cmdline").read_bytes()
        assert TOKEN.encode() not in command_line


@pytest.mark.slow
def test_an_address_that_others_reach_is_served_with_a_token_of_a_file(small: Machine, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    options = (f"--token-file={file}", "--allow-host=Tools.example.org")
    with HttpService(small.environment, *options, http="0.0.0.0:0", work=small.work) as service:
        service.url = service.url.replace("0.0.0.0", "127.0.0.1")
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert service.post("tools/list", {})[0] == 401
        assert service.post("tools/list", {}, **bearer)[0] == 200
        assert service.post("tools/list", {}, Host="tools.example.org", **bearer)[0] == 200
        assert service.post("tools/list", {}, Origin="https://tools.example.org", **bearer)[0] == 200
        assert service.post("tools/list", {}, Host="other.example.org", **bearer)[0] == 421


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--http", "0.0.0.0:0"], "can be reached from other machines, and no token is set"),
        (["--http", "[::]:0"], "can be reached from other machines, and no token is set"),
        (["--http", "example.org:80"], "can be reached from other machines, and no token is set"),
        (["--http", "--token-file=nowhere"], "nowhere cannot be read"),
        (["--http", "--token-file=/dev/null"], "is no plain file"),
        (["--http", "--token-file=short"], "16 characters at least"),
        (["--http", "--token-file=shown"], "shown can be read by other users. Run: chmod 600 shown"),
        (["--http", "--token-file=shared"], "shared can be read by other users"),
        (["--http", "hello"], "Put the tools before --http"),
        (["--http", "127.0.0.1:99999"], "is no HOST:PORT"),
        (["--token-file=short"], "are for --http"),
        (["--allow-host=tools.example.org"], "are for --http"),
        (["--page"], "are for --http"),
        (["--sessions"], "are for --http"),
        (["helo"], "Did you mean hello?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_must_not_be_served_is_refused_with_the_reason(options: list[str], said: str, small: Machine) -> None:
    for name, text, mode in (("short", "short", 0o600), ("shown", TOKEN, 0o644), ("shared", TOKEN, 0o640)):
        (small.work / name).write_text(text)
        (small.work / name).chmod(mode)
    refused = small.ferrule("serve", *options)
    assert refused.code in (1, 2)
    assert said in " ".join(refused.err.split())
    assert refused.out == ""


@pytest.mark.parametrize("value", ["short", "with a blank in it", "é" * 20, "a-tab-is\there-inside", "x" * 15])
def test_a_token_that_could_not_be_sent_or_guessed_is_refused(value: str) -> None:
    with pytest.raises(ServeError, match="16 characters at least, in ASCII and without blanks"):
        Token(value)


def test_a_token_of_16_characters_is_taken() -> None:
    assert Token("x" * 16).is_in(b"Bearer " + b"x" * 16)
    assert not Token("x" * 16).is_in(b"Bearer " + b"x" * 17)


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(small: Machine) -> None:
    with HttpService(small.environment, work=small.work) as service:
        port = service.url.split(":")[2].partition("/")[0]
        refused = small.ferrule("serve", f"--http=127.0.0.1:{port}")
    assert (refused.code, refused.out) == (1, "")
    assert "cannot be listened at: Address already in use" in refused.err


def test_without_what_it_requires_the_error_says_how_to_install_it(small: Machine, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    metadata = bare / "ferrule_serve-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ferrule-serve\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[ferrule.commands]\nserve = ferrule_serve.commands.serve:command\n")
    for package in (ferrule, ferrule_serve, click, pluggy):
        folder = Path(str(package.__file__)).parent
        (bare / folder.name).symlink_to(folder)
    environment = {**small.environment, "PYTHONPATH": f"{bare}:{small.site}"}
    command = [sys.executable, "-S", "-P", "-m", "ferrule", "serve"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 1
    assert "What serves MCP is not installed (uvicorn," in done.stderr
    assert "Run: ferrule install --upgrade ferrule-serve" in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["list"], ["serve", "--help"]], ids=" ".join)
def test_nothing_but_serving_imports_what_serves(words: list[str], small: Machine) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "ferrule", *words]
    done = subprocess.run(command, env=small.environment, capture_output=True, text=True, check=True, timeout=SECONDS)
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "ferrule.cli" in modules
    assert modules & {"mcp", "mcp_types", "pydantic", "uvicorn", "starlette", "jinja2", "asyncio"} == set()


@pytest.mark.slow
def test_serving_imports_neither_the_sdk_nor_pydantic() -> None:
    code = (
        "import sys, ferrule_serve.mcp.lifecycle, ferrule_serve.mcp.http.server, ferrule_serve.page.application; "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=SECONDS)
    assert "ferrule_serve.mcp.stdio" in done.stdout.split()
    assert set(done.stdout.split()) & {"mcp", "mcp_types", "pydantic", "httpx"} == set()
