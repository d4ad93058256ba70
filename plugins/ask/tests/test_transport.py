"""Certificates and proxies: what stands between a client and the model's server."""

import ssl
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import trustme

from ferrule_ask import Answer, Client
from ferrule_dev.testing import Server
from ferrule_testkit.model.memory_tools import no_tools
from ferrule_testkit.model.server import MODEL_KEY, ModelServer, says

Make = Callable[..., Client]
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]
FINE = says("Fine.").body


@pytest.fixture
def certificates(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's TLS context for loopback, and the file of the authority that vouches for it."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "api.anthropic.com").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    return context, tmp_path / "authority.pem"


@pytest.fixture
def secure(certificates: tuple[ssl.SSLContext, Path]) -> Iterator[Server]:
    with Server(certificates[0]) as server:
        server.route("*", lambda exchange: exchange.answer(FINE, "application/json"))
        yield server


@pytest.fixture
def trusted(ask_environment: None, certificates: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates[1]))


def asked(client: Make, base_url: str) -> Answer:
    return client(toolbox=no_tools(), base_url=base_url, budgets=(10, 1, 1)).ask(None, "?")


@pytest.mark.usefixtures("trusted")
def test_a_server_that_is_vouched_for_is_asked(client: Make, secure: Server) -> None:
    assert asked(client, secure.url).text == "Fine."
    assert secure.requests[0].headers["authorization"] == f"Bearer {MODEL_KEY}"


@pytest.mark.slow
def test_a_server_that_nobody_vouches_for_gets_no_key(client: Make, secure: Server) -> None:
    answer = asked(client, secure.url)
    assert answer.code == "NETWORK_ERROR"
    assert "certificate verify failed" in str(answer.error)
    assert secure.requests == []


def test_certificates_that_cannot_be_read_are_told(client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file")
    answer = asked(client, "https://127.0.0.1:1")
    assert answer.code == "NETWORK_ERROR"
    assert "SSL_CERT_FILE" in str(answer.error)


@pytest.mark.usefixtures("trusted")
def test_a_proxy_gets_a_tunnel_and_no_key(
    client: Make,
    secure: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Server() as proxy:
        proxy.tunnel(secure)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert asked(client, "https://api.anthropic.com").text == "Fine."
        assert [request.method for request in proxy.requests] == ["CONNECT"]
        assert MODEL_KEY not in str(proxy.requests)


@pytest.mark.slow
def test_a_proxy_that_refuses_is_told(client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        answer = asked(client, "https://api.anthropic.com")
    assert answer.code == "NETWORK_ERROR"
    assert "proxy" in str(answer.error)


@pytest.mark.parametrize(
    ("login", "sent"),
    [
        pytest.param("me:p%40ss", b"me:p@ss", id="name and password"),
        pytest.param("token", b"token:", id="name alone"),
    ],
)
def test_a_login_in_the_base_url_is_sent_instead_of_the_key(client: Make, login: str, sent: bytes) -> None:
    with Server() as gateway:
        gateway.route("*", lambda exchange: exchange.answer(FINE, "application/json"))
        assert asked(client, gateway.url.replace("//", f"//{login}@")).text == "Fine."
        (request,) = gateway.requests
    assert request.headers["authorization"] == f"Basic {b64encode(sent).decode()}"
    assert MODEL_KEY not in str(request)


def test_what_others_send_by_the_same_library_is_still_in_its_log(
    client: Make, model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.always(says("Fine."))
    caplog.set_level("INFO", "httpx")
    assert asked(client, model_server.url).text == "Fine."
    httpx.get(f"{model_server.url}/elsewhere")
    assert [record.getMessage().split()[3].rpartition("/")[2] for record in caplog.records] == ["elsewhere"]


def test_a_cookie_of_the_server_does_not_come_back(client: Make, model_server: ModelServer) -> None:
    model_server.always(replace(says("Fine."), headers={"Set-Cookie": "session=1; Path=/"}))
    one = client(toolbox=no_tools())
    assert [one.ask(None, "?").text for _ in range(2)] == ["Fine.", "Fine."]
    assert "cookie" not in model_server.requests[1].headers


def test_nothing_is_logged_of_a_request(model_server: ModelServer) -> None:
    model_server.always(says("Fine."))
    script = (
        "import logging\nlogging.basicConfig(level=logging.DEBUG)\n"
        "from ferrule_ask import Client\n"
        "with Client(tools=()) as client:\n    print(client.ask(None, 'How?').code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30)
    assert len(model_server.requests) == 1
    assert done.stdout == "None\n"
    assert "httpcore" not in done.stderr
    assert "127.0.0.1" not in done.stderr


def test_no_proxy_leads_past_the_proxy(
    client: Make,
    model_server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model_server.always(says("Fine."))
    with Server() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.0/8")
        assert asked(client, model_server.url).text == "Fine."
        assert proxy.requests == []
