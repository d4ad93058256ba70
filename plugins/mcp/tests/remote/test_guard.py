"""Which addresses a server over HTTP may be at."""

import pytest

from ferrule import ToolError
from ferrule_mcp.remote.guard import ServerGuard, describe_address, find_network, is_loopback, require_confidential


@pytest.mark.parametrize(
    ("network", "host", "addresses", "is_allowed"),
    [
        (["mcp.example.com:443"], "mcp.example.com", ["93.184.215.14"], True),
        (["mcp.example.com:443"], "mcp.example.com", ["10.0.0.1"], False),
        (["mcp.example.com:443"], "other.example.com", ["127.0.0.1"], False),
        (["mcp.example.com:443", "private"], "mcp.example.com", ["10.0.0.1"], True),
        (["mcp.example.com:443", "private"], "mcp.example.com", ["127.0.0.1"], False),
        (["127.0.0.1:8080"], "127.0.0.1", ["127.0.0.1"], True),
        (["127.0.0.1:8080"], "127.0.0.2", ["127.0.0.2"], False),
        (["10.0.0.1:80"], "10.0.0.1", ["10.0.0.1"], True),
        (["10.0.0.1:80"], "10.0.0.2", ["10.0.0.2"], False),
        (["localhost:8080"], "LOCALHOST.", ["127.0.0.1"], True),
        (["[::1]:8080"], "::1", ["::1"], True),
        (["169.254.169.254:80"], "169.254.169.254", ["169.254.169.254"], False),
        (["metadata.google.internal:80", "private"], "metadata.google.internal", [], False),
        (["1.2.3.4.example.com:80"], "1.2.3.4.example.com", ["10.0.0.1"], False),
        ([], "mcp.example.com", ["93.184.215.14"], True),
    ],
)
def test_an_own_network_is_open_where_the_admin_has_named_it(
    network: list[str], host: str, addresses: list[str], is_allowed: bool
) -> None:
    guard = ServerGuard(network)
    if is_allowed:
        guard(host, [])
        guard(host, addresses)
        return
    with pytest.raises(ToolError) as caught:
        guard(host, addresses)
    assert caught.value.code == "INVALID_URL"
    assert "add the word private or loopback" in str(caught.value.admin)
    assert caught.value.hint is None


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("https://mcp.example.com/mcp", "mcp.example.com:443"),
        ("http://localhost/x", "localhost:80"),
        ("https://mcp.example.com:8443", "mcp.example.com:8443"),
        ("http://[::1]:9000/mcp", "[::1]:9000"),
    ],
)
def test_the_permission_of_a_url(url: str, entry: str) -> None:
    assert find_network(url) == [entry]


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "https://a@mcp.example.com/", "mcp.example.com", "https:///", ""]
)
def test_a_url_of_no_server(url: str) -> None:
    with pytest.raises(ToolError, match="cannot be used as the URL of a server"):
        find_network(url)


@pytest.mark.parametrize(
    ("url", "is_safe"),
    [
        ("https://mcp.example.com/", True),
        ("http://127.0.0.1:9/", True),
        ("http://localhost/", True),
        ("http://[::1]/", True),
        ("http://mcp.example.com/", False),
        ("http://10.0.0.1/", False),
        ("http://localhost.example.com/", False),
        ("http://127.0.0.1@example.com/", False),
    ],
)
def test_a_secret_goes_to_https_and_to_this_machine(url: str, is_safe: bool) -> None:
    if is_safe:
        require_confidential(url)
    else:
        with pytest.raises(ToolError, match="not https"):
            require_confidential(url)
    assert not is_loopback("https://mcp.example.com/")


def test_an_address_in_a_message_has_neither_query_nor_login() -> None:
    assert describe_address("https://u:p@mcp.example.com:8/mcp?key=1#f") == "https://mcp.example.com:8/mcp"
