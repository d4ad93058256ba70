"""A token of OAuth in the credentials file is renewed by the host, once for all calls, and no call sees more of it."""

import json
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import ToolError
from ferrule.trust.credentials import credentials_writer
from ferrule.trust.credentials.renewal import renew
from ferrule_dev.testing import Exchange, Server, refused_port
from ferrule_testkit.machine import BIN, Machine
from ferrule_testkit.serve.pool import Served

pytestmark = pytest.mark.process

KEY = "radio.token"
LISTED = [{"name": "token", "environment": "RADIO_TOKEN", "path": KEY}]
FIRST, FIRST_REFRESH = "access-one-4711-secret", "refresh-one-4711-secret"
HOOK = f"""
@hookimpl
def credentials():
    return [Credential(**one) for one in {LISTED!r}]
"""
TOOL = """
    import os
    token = context.credential("token")
    if arguments.get("city") == "refused":
        token = context.renew_credential("token", token)
    context.event({"event": "token", "token": token})
    return {"length": len(token), "end": token[-8:], "token": token, "seen": os.environ.get("RADIO_TOKEN")}
"""


class Tokens:
    """A server that gives tokens. `asked` are the forms of its requests, `answer` what it does with one."""

    def __init__(self, server: Server) -> None:
        self.asked: list[dict[str, str]] = []
        self.answer: Callable[[Exchange], None] = self.rotate
        self._server = server
        server.route("/token", self._take)
        self.url = f"{server.url}token" if server.url.endswith("/") else f"{server.url}/token"

    def _take(self, exchange: Exchange) -> None:
        self.asked.append(dict(parse_qsl(exchange.read_body().decode())))
        self.answer(exchange)

    def rotate(self, exchange: Exchange) -> None:
        count = len(self.asked)
        answer = {
            "access_token": f"access-new-{count}-secret",
            "refresh_token": f"refresh-new-{count}-secret",
            "token_type": "Bearer",
            "expires_in": 3600,
        }
        exchange.answer(json.dumps(answer).encode(), "application/json")


@pytest.fixture
def tokens() -> Iterator[Tokens]:
    with Server() as server:
        yield Tokens(server)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "state"))
    return tmp_path / "credentials.json"


def written(path: Path, tokens: Tokens, **changes: Any) -> dict[str, Any]:
    token = {
        "access_token": FIRST,
        "refresh_token": FIRST_REFRESH,
        "expires_at": int(time.time()) - 10,
        "token_endpoint": tokens.url,
        "client_id": "client",
        "networks": ["loopback"],
        "login": "ferrule radio login",
        **changes,
    }
    credentials_writer.store(str(path), KEY, token)
    return token


def kept(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())["radio"]["token"]
    return found


def test_an_expired_token_is_renewed_with_all_that_belongs_to_it(path: Path, tokens: Tokens) -> None:
    before = written(path, tokens, resource="https://mcp.example.com/mcp")
    credentials_writer.store(str(path), "other.key", "kept")
    renew(str(path), KEY)
    assert tokens.asked == [
        {
            "grant_type": "refresh_token",
            "refresh_token": FIRST_REFRESH,
            "client_id": "client",
            "resource": "https://mcp.example.com/mcp",
        }
    ]
    after = kept(path)
    assert after["access_token"] == "access-new-1-secret"
    assert after["refresh_token"] == "refresh-new-1-secret"
    assert 3500 < after["expires_at"] - time.time() <= 3600
    unchanged = ("token_endpoint", "client_id", "networks", "login", "resource")
    assert {name: after[name] for name in unchanged} == {name: before[name] for name in unchanged}
    assert json.loads(path.read_text())["other"] == {"key": "kept"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("changes", "refused", "count"),
    [
        pytest.param({"expires_at": int(time.time()) + 3600}, "", 0, id="good"),
        pytest.param({"expires_at": int(time.time()) + 3600}, FIRST, 1, id="good-but-refused"),
        pytest.param({"expires_at": int(time.time()) + 3600}, "older", 0, id="another-was-refused"),
        pytest.param({"expires_at": None}, "", 0, id="of-unknown-life"),
        pytest.param({"expires_at": int(time.time()) + 5}, "", 1, id="nearly-expired"),
    ],
)
def test_a_token_is_renewed_where_it_has_to_be(
    path: Path, tokens: Tokens, changes: dict[str, Any], refused: str, count: int
) -> None:
    written(path, tokens, **changes)
    renew(str(path), KEY, refused)
    assert len(tokens.asked) == count


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_client_with_a_secret_says_it_in_the_way_of_the_server(path: Path, tokens: Tokens, method: str) -> None:
    seen: list[str] = []

    def answer(exchange: Exchange) -> None:
        seen.append(exchange.headers.get("Authorization", ""))
        tokens.rotate(exchange)

    tokens.answer = answer
    written(path, tokens, client_secret="s3cret:of it", auth_method=method)
    renew(str(path), KEY)
    is_basic = method == "client_secret_basic"
    assert seen == ["Basic Y2xpZW50OnMzY3JldCUzQW9mJTIwaXQ=" if is_basic else ""]
    assert tokens.asked[0].get("client_secret") == (None if is_basic else "s3cret:of it")


def test_a_server_that_keeps_the_refresh_token_need_not_repeat_it(path: Path, tokens: Tokens) -> None:
    tokens.answer = lambda exchange: exchange.answer(b'{"access_token": "a2", "token_type": "bearer"}')
    written(path, tokens)
    renew(str(path), KEY)
    assert kept(path)["refresh_token"] == FIRST_REFRESH
    assert "expires_at" not in kept(path)


def test_a_login_that_has_ended_is_told_with_the_command_and_asked_for_once(path: Path, tokens: Tokens) -> None:
    tokens.answer = lambda exchange: exchange.answer(b'{"error": "invalid_grant"}', "application/json", status=400)
    written(path, tokens)
    for _ in range(3):
        with pytest.raises(ToolError) as caught:
            renew(str(path), KEY)
        assert caught.value.facts() == {
            "code": "AUTH_INVALID",
            "message": "The login is no longer valid.",
            "hint": "Log in again by `ferrule radio login`.",
        }
    assert len(tokens.asked) == 1
    assert "refresh_token" not in kept(path)


@pytest.mark.parametrize("seconds", [-10, 20])
def test_a_server_that_fails_matters_where_the_token_has_expired(path: Path, tokens: Tokens, seconds: int) -> None:
    tokens.answer = lambda exchange: exchange.answer(b"<h1>Oops</h1>", status=502)
    before = written(path, tokens, expires_at=int(time.time()) + seconds)
    if seconds > 0:
        renew(str(path), KEY)
    else:
        with pytest.raises(ToolError, match=r"has not renewed it: HTTP 502\.") as caught:
            renew(str(path), KEY)
        assert caught.value.code == "HTTP_ERROR"
    assert len(tokens.asked) == 1
    assert kept(path) == before


def test_a_server_that_is_away_and_one_in_the_own_network_are_told(path: Path, tokens: Tokens) -> None:
    written(path, tokens, token_endpoint=f"http://127.0.0.1:{refused_port()}/token")
    with pytest.raises(ToolError, match="cannot be reached: Connection refused"):
        renew(str(path), KEY)
    written(path, tokens, networks=[], token_endpoint=tokens.url.replace("http:", "https:"))
    with pytest.raises(ToolError, match="is a loopback address"):
        renew(str(path), KEY)
    written(path, tokens, token_endpoint="http://auth.example.com/token", networks=[])
    with pytest.raises(ToolError, match="no longer valid"):
        renew(str(path), KEY)
    assert tokens.asked == []


def test_a_login_that_comes_meanwhile_is_not_overwritten(path: Path, tokens: Tokens) -> None:
    def answer(exchange: Exchange) -> None:
        written(path, tokens, access_token="of-the-new-login", refresh_token="new")
        tokens.rotate(exchange)

    tokens.answer = answer
    written(path, tokens)
    renew(str(path), KEY)
    assert kept(path)["access_token"] == "of-the-new-login"


def test_a_token_stands_where_a_text_does(path: Path, tokens: Tokens) -> None:
    written(path, tokens)
    file = CredentialsFile(str(path))
    assert file.value(KEY) == FIRST
    assert not file.has_no_text(KEY)
    assert file.value("radio") == ""
    assert file.has_no_text("radio")


@pytest.fixture
def radio(machine: Machine) -> Machine:
    machine.install("radio", top=HOOK, execute=TOOL.strip())
    facts = {"credentials": LISTED, "permissions": {"network": []}}
    (machine.site / "module_radio.tool.json").write_text(json.dumps(facts))
    return machine


def test_a_call_gets_the_renewed_token_alone_and_no_output_has_it(radio: Machine, tokens: Tokens) -> None:
    written(radio.credentials, tokens)
    finished = radio.ferrule("run", "radio", "--json", stdin=b'{"city": "Oslo"}')
    assert finished.document["end"] == "1-secret"
    assert finished.document["seen"] is None
    assert kept(radio.credentials)["access_token"] == "access-new-1-secret"
    assert len(tokens.asked) == 1
    for secret in (FIRST, FIRST_REFRESH, "access-new-1-secret", "refresh-new-1-secret"):
        assert secret not in finished.out + finished.err


def test_a_token_that_a_server_refuses_is_renewed_during_the_call(radio: Machine, tokens: Tokens) -> None:
    written(radio.credentials, tokens, expires_at=int(time.time()) + 3600)
    finished = radio.ferrule("run", "radio", "--json", stdin=b'{"city": "refused"}')
    assert finished.document["length"] == len("access-new-1-secret")
    assert len(tokens.asked) == 1
    assert "access-new-1-secret" not in finished.out + finished.err


def test_a_login_that_has_ended_fails_the_call_with_the_command(radio: Machine, tokens: Tokens) -> None:
    tokens.answer = lambda exchange: exchange.answer(b'{"error": "invalid_grant"}', "application/json", status=400)
    written(radio.credentials, tokens)
    document = radio.ferrule("run", "radio", "--json", stdin=b"{}").document
    assert document["error_code"] == "AUTH_INVALID"
    assert "Log in again by `ferrule radio login`." in document["error"]


@pytest.mark.slow
def test_twenty_calls_at_once_renew_once(radio: Machine, tokens: Tokens) -> None:
    written(radio.credentials, tokens)

    def call(_: int) -> dict[str, Any]:
        done = subprocess.run(
            [BIN / "ferrule", "run", "radio", "--json"],
            input=b"{}",
            capture_output=True,
            cwd=radio.work,
            env=radio.environment,
            check=False,
        )
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    with ThreadPoolExecutor(20) as pool:
        documents = list(pool.map(call, range(20)))
    assert [one["length"] for one in documents] == [len("access-new-1-secret")] * 20
    assert len(tokens.asked) == 1


def test_served_calls_get_the_renewed_token_too(radio: Machine, tokens: Tokens) -> None:
    written(radio.credentials, tokens)
    documents = Served(radio).calls("radio", 3)
    assert [one["length"] for one in documents] == [len("access-new-1-secret")] * 3
    assert len(tokens.asked) == 1
    assert "access-new-1-secret" not in str(documents)


def test_a_variable_wins_over_the_token_and_leaves_it_alone(radio: Machine, tokens: Tokens) -> None:
    written(radio.credentials, tokens)
    finished = radio.ferrule("run", "radio", "--json", stdin=b"{}", environment={"RADIO_TOKEN": "of-the-variable"})
    assert finished.document["length"] == len("of-the-variable")
    assert tokens.asked == []


def test_the_commands_count_a_token_as_set_and_show_nothing_of_it(radio: Machine, tokens: Tokens) -> None:
    written(radio.credentials, tokens)
    finished = radio.ferrule("credentials", "radio", "--check")
    assert finished.code == 0
    assert "secret" not in finished.out + finished.err
    assert tokens.asked == []
    assert radio.ferrule("credentials", "unset", "radio", "token").code == 0
    assert json.loads(radio.credentials.read_text()) == {}
