"""An address with a key in its query: the key is a credential, and stands in no record."""

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from ferrule import ToolError
from ferrule_mcp.commands.words import read_words

KEY = "k3y-of-the-address-0815"
_SECONDS = 30.0


class Keys:
    """Where the value of each credential comes from."""

    def credential(self, name: str) -> str:
        assert name == "api_key"
        return KEY

    def renew_credential(self, name: str, refused: str) -> str:
        return refused


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that takes nothing, and the paths that it was asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            paths.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp", paths
        server.shutdown()
        thread.join()


@pytest.mark.process
def test_the_key_of_an_address_is_a_credential_and_is_sent(asked: tuple[str, list[str]]) -> None:
    from ferrule_mcp.remote.session import RemoteSession

    address, paths = asked
    request = read_words("docs", [f"{address}?api_key={KEY}&x=1"], "", {})
    assert request.url == f"{address}?api_key={{api_key}}&x=1"
    assert request.credentials == {"api_key": KEY}
    assert KEY not in str(request.to_json())
    port = address.removesuffix("/mcp").rpartition(":")[2]
    network = [f"127.0.0.1:{port}", "loopback"]
    session = RemoteSession.start(
        request.url, deadline=time.monotonic() + _SECONDS, credentials=Keys(), network=network
    )
    with session, pytest.raises(ToolError) as refused:
        session.initialize()
    assert set(paths) == {f"/mcp?api_key={KEY}&x=1"}
    assert KEY not in str(refused.value)


def test_the_key_of_an_address_is_not_sent_in_the_clear() -> None:
    from ferrule_mcp.remote.session import RemoteSession

    with pytest.raises(ToolError, match="not https"):
        RemoteSession.start(
            "http://mcp.example.com/?api_key={api_key}", deadline=time.monotonic() + _SECONDS, credentials=Keys()
        )
