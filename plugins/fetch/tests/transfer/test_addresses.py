"""Who may be fetched from, as the executable keeps it with real servers on loopback."""

import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from ferrule import ToolError
from ferrule_dev.testing import Server
from ferrule_fetch.addresses import check
from ferrule_testkit.runs import Run, run_tool

Fetch = Callable[..., dict[str, Any]]
Error = Callable[..., tuple[str, str]]
VARIABLE = "FERRULE_FETCH_ALLOW"
NAME = "pages.example"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What names resolve to in this process, at one question after the other; the last answer stays."""
    answers: dict[str, list[str]] = {}
    resolve = socket.getaddrinfo

    def resolved(host: Any, *arguments: Any, **options: Any) -> Any:
        found = answers.get((host.decode() if isinstance(host, bytes) else host).rstrip("."), [])
        return resolve(found.pop(0) if len(found) > 1 else (found or [host])[0], *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    return answers


@pytest.fixture
def secure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, list[str | None]]]:
    """An https server that is trusted as NAME, and the names that its clients asked for in the handshake."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(NAME, "xn--bcher-kva.example").configure_cert(context)
    asked: list[str | None] = []
    context.sni_callback = lambda connection, name, its_context: asked.append(name)
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with Server(context) as server:
        server.page("*", "safe")
        yield server, asked


def _called(url: str, **environ: str) -> Run:
    return run_tool("web_fetch", {"url": url}, environ={VARIABLE: "", **environ})


@pytest.mark.process
def test_loopback_is_refused_and_the_refusal_does_not_say_what_allows_it(server: Server) -> None:
    run = _called(server.page("/", "secret"))
    assert run.document == {
        "success": False,
        "error": "Invalid URL: 127.0.0.1 is a loopback address.",
        "error_code": "INVALID_URL",
    }
    assert server.requests == []


@pytest.mark.process
def test_the_variable_allows_loopback(server: Server) -> None:
    assert _called(server.page("/", "mine"), **{VARIABLE: "loopback"}).document["content"] == "mine"


@pytest.mark.process
def test_the_variable_allows_the_names_of_loopback(server: Server) -> None:
    server.page("/", "mine")
    run = _called(f"http://localhost:{server.address[1]}/", **{VARIABLE: "private,loopback"})
    assert run.document["content"] == "mine"


@pytest.mark.process
@pytest.mark.parametrize("allow", ['["loopback"]', '"loopback, private"'])
def test_the_configuration_file_allows_loopback(server: Server, tmp_path: Path, allow: str) -> None:
    (tmp_path / "config.toml").write_text(f"[tools.web_fetch]\nallow = {allow}\n")
    run = _called(server.page("/", "mine"), FERRULE_CONFIG=str(tmp_path / "config.toml"))
    assert run.document["content"] == "mine"


@pytest.mark.process
def test_the_variable_wins_over_the_configuration_file(server: Server, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[tools.web_fetch]\nallow = ['loopback']\n")
    run = _called(server.page("/", "mine"), FERRULE_CONFIG=str(tmp_path / "config.toml"), FERRULE_FETCH_ALLOW="private")
    assert run.document["error_code"] == "INVALID_URL"


@pytest.mark.process
def test_no_argument_of_a_call_allows_anything(server: Server) -> None:
    arguments = {"url": server.page("/", "secret"), "allow": "loopback", VARIABLE: "loopback"}
    assert run_tool("web_fetch", arguments, environ={VARIABLE: ""}).document["error_code"] == "INVALID_INPUT"
    assert server.requests == []


@pytest.mark.process
def test_an_unknown_word_is_an_error_that_names_the_variable(server: Server) -> None:
    run = _called(server.page("/", "mine"), **{VARIABLE: "lan"})
    assert run.document["error_code"] == "NETWORK_ERROR"
    assert "FERRULE_FETCH_ALLOW" in run.document["error"]
    assert "'lan'" in run.document["error"]


@pytest.mark.process
@pytest.mark.parametrize(
    "target",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://[fd00:ec2::254]/latest/",
        "http://[::ffff:169.254.169.254]/",
        "//100.100.100.200/",
        "http://0.0.0.0:{port}/secret",
        "http://2130706433:{port}/secret",
        "http://user@127.0.0.1:{port}/secret",
        "http://127.0.0.1:{port}\\@127.0.0.1/secret",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/secret",
    ],
)
def test_what_a_redirect_leads_to_is_judged_though_loopback_is_allowed(server: Server, target: str) -> None:
    server.page("/secret", "secret")
    url = server.redirect("/", target.format(port=server.address[1]))
    assert _called(url, **{VARIABLE: "loopback"}).document["error_code"] == "INVALID_URL"
    assert [request.target for request in server.requests] == ["/"]


@pytest.mark.process
def test_an_ipv6_address_is_fetched_from() -> None:
    with Server(host="::1") as server:
        url = server.page("/", "six")
        assert _called(url).document["error_code"] == "INVALID_URL"
        assert _called(url, **{VARIABLE: "loopback"}).document["content"] == "six"
        assert server.requests[0].headers["host"] == f"[::1]:{server.address[1]}"


@pytest.mark.process
def test_a_name_that_comes_to_mean_another_address_is_fetched_from_the_one_that_was_judged(
    server: Server, fetch: Fetch, names: dict[str, list[str]]
) -> None:
    names[NAME] = ["127.0.0.1", "10.0.0.1"]
    server.page("/", "judged")
    assert fetch(f"http://{NAME}:{server.address[1]}/")["content"] == "judged"
    assert names[NAME] == ["10.0.0.1"]  # so the name was resolved once


@pytest.mark.process
def test_a_name_that_means_another_address_at_the_next_redirect_is_refused(
    server: Server, error: Error, names: dict[str, list[str]]
) -> None:
    names["start.example"], names[NAME] = ["127.0.0.1"], ["10.0.0.1"]
    server.redirect("/", f"http://{NAME}/")
    code, message = error(f"http://start.example:{server.address[1]}/")
    assert code == "INVALID_URL"
    assert f"{NAME} is at an address that is not public" in message


@pytest.mark.process
@pytest.mark.parametrize(
    ("host", "sent"),
    [(NAME, NAME), (f"{NAME}.", NAME), ("BÜCHER.example", "xn--bcher-kva.example")],
)
def test_host_and_certificate_are_those_of_the_name_and_not_of_the_address(
    secure: tuple[Server, list[str | None]], fetch: Fetch, names: dict[str, list[str]], host: str, sent: str
) -> None:
    server, asked = secure
    names[sent] = ["127.0.0.1"]
    assert fetch(f"https://{host}:{server.address[1]}/")["content"] == "safe"
    assert asked == [sent]
    assert server.requests[0].headers["host"].rstrip(".").startswith(sent)


@pytest.mark.process
def test_a_certificate_for_another_name_is_refused(
    secure: tuple[Server, list[str | None]], error: Error, names: dict[str, list[str]]
) -> None:
    server, _ = secure
    names["other.example"] = ["127.0.0.1"]
    code, message = error(f"https://other.example:{server.address[1]}/")
    assert code == "NETWORK_ERROR"
    assert "TLS certificate verify failed: Hostname mismatch" in message


@pytest.mark.slow
@pytest.mark.process
def test_a_proxy_may_stand_on_loopback_but_does_not_lead_there(server: Server) -> None:
    server.page("*", "far")
    assert _called("http://far.invalid/", HTTP_PROXY=server.url).document["content"] == "far"
    for host in ("127.0.0.1", "[::1]", "localhost", "10.0.0.1", "169.254.169.254", "metadata.google.internal"):
        assert _called(f"http://{host}/", HTTP_PROXY=server.url).document["error_code"] == "INVALID_URL"
        assert _called(f"https://{host}/", HTTPS_PROXY=server.url).document["error_code"] == "INVALID_URL"
    assert [request.target for request in server.requests] == ["http://far.invalid/"]


@pytest.mark.process
def test_a_name_that_is_known_here_is_judged_though_a_proxy_would_resolve_it(
    server: Server, error: Error, names: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    names["inside.example"] = ["192.168.0.10"]
    code, message = error("http://inside.example/")
    assert code == "INVALID_URL"
    assert message == "Invalid URL: inside.example is at an address that is not public."
    assert server.requests == []


@pytest.mark.process
def test_where_no_proxy_says_so_the_address_itself_is_judged(server: Server) -> None:
    run = _called(server.page("/", "secret"), HTTP_PROXY="http://10.0.0.1:3128", NO_PROXY="127.0.0.1")
    assert run.document["error_code"] == "INVALID_URL"
    assert server.requests == []


def test_a_url_may_have_blanks_around_it() -> None:
    assert str(check(" \n http://example.com/ \t")) == "http://example.com/"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.com/" + "x" * 8_192, "it is longer than 8,192 characters"),
        ("http://", "it has no host"),
    ],
)
def test_another_url_is_refused_with_the_reason(url: str, why: str) -> None:
    with pytest.raises(ToolError) as refused:
        check(url)
    assert (refused.value.code, refused.value.message) == ("INVALID_URL", f"Invalid URL: {why}.")
    assert refused.value.hint == "Send a whole URL, such as https://example.com/page"


def test_a_guard_judges_the_host_before_there_are_addresses() -> None:
    judged: list[tuple[str, list[str]]] = []
    check("http://EXAMPLE.com:80/", lambda host, addresses: judged.append((host, list(addresses))))
    assert judged == [("example.com", [])]
