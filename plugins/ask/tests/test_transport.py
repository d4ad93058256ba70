"""Certificates and proxies: what stands between an asker and the model's server."""

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme
from ask_fixtures import ask_environment, asker  # noqa: F401 - pytest finds them here
from loopback import Server
from memory_tools import no_tools
from model_server import MODEL_KEY, says

from ferrule_ask import Answer, Asker

Make = Callable[..., Asker]
pytestmark = pytest.mark.usefixtures("ask_environment")
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
def trusted(certificates: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates[1]))


def asked(asker: Make, base_url: str) -> Answer:  # noqa: F811
    return asker(toolbox=no_tools(), base_url=base_url, budgets=(10, 1, 1)).ask(None, "?")


@pytest.mark.usefixtures("trusted")
def test_a_server_that_is_vouched_for_is_asked(asker: Make, secure: Server) -> None:  # noqa: F811
    assert asked(asker, secure.url).text == "Fine."
    assert secure.requests[0].headers["authorization"] == f"Bearer {MODEL_KEY}"


def test_a_server_that_nobody_vouches_for_gets_no_key(asker: Make, secure: Server) -> None:  # noqa: F811
    answer = asked(asker, secure.url)
    assert answer.code == "NETWORK_ERROR"
    assert "certificate verify failed" in str(answer.error)
    assert secure.requests == []


def test_certificates_that_cannot_be_read_are_told(asker: Make, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file")
    answer = asked(asker, "https://127.0.0.1:1")
    assert answer.code == "NETWORK_ERROR"
    assert "SSL_CERT_FILE" in str(answer.error)


@pytest.mark.usefixtures("trusted")
def test_a_proxy_gets_a_tunnel_and_no_key(
    asker: Make,  # noqa: F811
    secure: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Server() as proxy:
        proxy.tunnel(secure)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert asked(asker, "https://api.anthropic.com").text == "Fine."
        assert [request.method for request in proxy.requests] == ["CONNECT"]
        assert MODEL_KEY not in str(proxy.requests)


def test_a_proxy_that_refuses_is_told(asker: Make, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    with Server() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        answer = asked(asker, "https://api.anthropic.com")
    assert answer.code == "NETWORK_ERROR"
    assert "proxy" in str(answer.error)
