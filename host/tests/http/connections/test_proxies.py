"""The proxies that the environment names."""

import pytest
import trustme

from ferrule.errors import ToolError
from ferrule.http.connections.proxies import is_excluded
from ferrule_dev.testing import Exchange, Server, refused_port
from ferrule_testkit.web.clients import get_body, reason_of_failure, server_context

pytestmark = pytest.mark.usefixtures("ferrule_environment")


@pytest.mark.process
@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
def test_http_goes_through_the_proxy_of_the_environment(
    variable: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"http://u%40:p%3A@127.0.0.1:{server.address[1]}/")
    server.page("http://far.example/page", "from the proxy")
    assert get_body("http://far.example/page") == b"from the proxy"
    assert server.requests[0].headers["proxy-authorization"] == "Basic dUA6cDo="


@pytest.mark.process
def test_a_proxy_may_be_named_without_a_scheme(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{server.address[1]}")
    server.page("http://far.example/", "x")
    assert get_body("http://far.example/") == b"x"


@pytest.mark.process
def test_the_small_spelling_goes_before_the_large_one(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://nowhere.example")
    monkeypatch.setenv("http_proxy", "")
    assert get_body(server.page("/", "straight")) == b"straight"


@pytest.mark.process
def test_http_proxy_means_nothing_in_a_cgi_program(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{refused_port()}")
    monkeypatch.setenv("REQUEST_METHOD", "GET")
    assert get_body(server.page("/", "straight")) == b"straight"


@pytest.mark.process
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("secure_proxy", [False, True], ids=["http-proxy", "https-proxy"])
def test_https_goes_through_a_tunnel(
    secure_proxy: bool, authority: trustme.CA, secure_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server(server_context(authority) if secure_proxy else None) as proxy:
        proxy.tunnel(secure_server)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        secure_server.page("/page", "through" * 50_000)
        assert get_body("https://secure.example/page") == b"through" * 50_000
        assert [request.target for request in proxy.requests] == ["secure.example:443"]


@pytest.mark.process
@pytest.mark.usefixtures("trusted")
def test_a_body_that_drips_through_a_tunnel_cannot_outlive_the_deadline(
    authority: trustme.CA, secure_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        exchange.drip(b"x")

    secure_server.route("/", answer)
    with Server(server_context(authority)) as proxy:
        proxy.tunnel(secure_server)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert reason_of_failure("https://secure.example/", seconds=1).startswith("Connection timeout")


@pytest.mark.process
def test_a_proxy_that_refuses_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    assert reason_of_failure("https://secure.example/") == (
        "The proxy refused to connect: HTTP 403 (through the proxy that HTTPS_PROXY names)"
    )


@pytest.mark.process
def test_a_proxy_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://user:SECRET@127.0.0.1:{refused_port()}")
    assert reason_of_failure("http://far.example/") == "Connection refused (through the proxy that http_proxy names)"


@pytest.mark.process
@pytest.mark.parametrize(
    "value",
    [
        "socks5://u:SECRET@127.0.0.1:1080",
        "garbage://SECRET",
        "http://",
        "http://h:SECRET",
        "http://h:0/SECRET",
        "::",
    ],
)
def test_a_variable_that_names_no_proxy_is_told_without_its_value(
    value: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", value)
    with pytest.raises(ToolError, match="ALL_PROXY does not name an http or https proxy") as failed:
        get_body(server.page("/", ""))
    assert failed.value.code == "NETWORK_ERROR"
    assert "SECRET" not in str(failed.value.facts())


@pytest.mark.process
def test_a_host_of_no_proxy_is_reached_straight(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{refused_port()}")
    monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1")
    assert get_body(server.page("/", "straight")) == b"straight"


@pytest.mark.parametrize(
    ("no_proxy", "host", "expected"),
    [
        ("", "example.com", False),
        ("*", "example.com", True),
        ("other, *", "example.com", True),
        ("example.com", "example.com", True),
        ("EXAMPLE.com.", "example.COM", True),
        ("example.com", "api.example.com", True),
        (".example.com", "api.example.com", True),
        ("*.example.com", "api.example.com", True),
        ("example.com", "notexample.com", False),
        ("api.example.com", "example.com", False),
        ("example.com:443", "example.com", True),
        ("example.com:80", "example.com", False),
        ("a.example b.example", "b.example", True),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/8", "ten.example", False),
        ("nonsense/8", "10.1.2.3", False),
        ("::1", "::1", True),
        ("[::1]:443", "::1", True),
        ("[::1]:80", "::1", False),
        (".", "example.com", False),
    ],
)
def test_no_proxy_excludes_names_addresses_and_networks(no_proxy: str, host: str, expected: bool) -> None:
    assert is_excluded(host, 443, no_proxy) is expected
