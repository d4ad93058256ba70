"""The transports for httpx and httpx2, synchronous and not, against real servers on loopback."""

import asyncio
import gzip
import os
import pkgutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import httpcore
import httpx
import httpx2
import pytest
import trustme

from ferrule.errors import ToolError
from ferrule.http import AddressGuard, AsyncHTTPXTransport, HTTPXTransport
from ferrule_dev.testing import Exchange, Server, refused_port
from ferrule_testkit.web.clients import HANDSHAKES, LONG, SHORT, Judge, endless_handshake, send_raw, server_context

pytestmark = pytest.mark.usefixtures("ferrule_environment")

GRACE = 1.5  # seconds by which a busy machine may be late


class Answer(NamedTuple):
    """What came: one for each request of a client."""

    status: int
    body: bytes
    url: str


class Sender(NamedTuple):
    """Sends requests by one client of a library. asynchronous: by its AsyncClient."""

    library: ModuleType
    asynchronous: bool

    def send(
        self, *urls: str, seconds: float = LONG, method: str = "GET", content: bytes | None = None, **options: Any
    ) -> list[Answer]:
        """Whole answers. options: for the transport; `timeout` and `follow_redirects` are the client's."""
        client_options = {name: options.pop(name) for name in ("timeout", "follow_redirects") if name in options}
        client_options = {"timeout": None, **client_options}
        until = time.monotonic() + seconds
        try:
            if self.asynchronous:
                return asyncio.run(self._send_async(urls, until, method, content, options, client_options))
            transport = HTTPXTransport(until, **options)
            with self.library.Client(transport=transport, **client_options) as client:
                answers = [client.request(method, url, content=content) for url in urls]
        finally:
            assert time.monotonic() < until + GRACE or seconds < 0
        return [Answer(answer.status_code, answer.content, str(answer.url)) for answer in answers]

    async def _send_async(
        self,
        urls: tuple[str, ...],
        until: float,
        method: str,
        content: bytes | None,
        options: dict[str, Any],
        client_options: dict[str, Any],
    ) -> list[Answer]:
        transport = AsyncHTTPXTransport(until, **options)
        async with self.library.AsyncClient(transport=transport, **client_options) as client:
            answers = [await client.request(method, url, content=content) for url in urls]
        return [Answer(answer.status_code, answer.content, str(answer.url)) for answer in answers]

    def get(self, url: str, **options: Any) -> bytes:
        """The body of one page."""
        return self.send(url, **options)[0].body

    def failure(self, kind: str, url: str, **options: Any) -> str:
        """The message of the library's exception of this name."""
        with pytest.raises(getattr(self.library, kind)) as raised:
            self.send(url, **options)
        assert type(raised.value).__name__ == kind
        return str(raised.value)


@pytest.fixture(
    params=[Sender(library, way) for library in (httpx, httpx2) for way in (False, True)],
    ids=["httpx", "httpx-async", "httpx2", "httpx2-async"],
)
def sender(request: pytest.FixtureRequest) -> Sender:
    sender: Sender = request.param
    return sender


@pytest.fixture
def never() -> Iterator[Callable[[str, int], list[str]]]:
    """A resolver that does not answer as long as the test lasts."""
    ended = threading.Event()

    def resolver(host: str, port: int) -> list[str]:
        ended.wait()
        return ["127.0.0.1"]

    yield resolver
    ended.set()


@pytest.mark.process
def test_an_answer_is_the_librarys_own(sender: Sender, server: Server) -> None:
    url = server.page("/?a=%20b", gzip.compress(b"hello"), status=404, headers={"Content-Encoding": "gzip"})
    assert sender.send(url) == [Answer(404, b"hello", url)]
    assert server.requests[0].target == "/?a=%20b"


@pytest.mark.process
def test_a_body_is_sent_and_one_connection_serves_more_requests(sender: Sender, server: Server) -> None:
    sent, peers = b"x" * 1_000_000, set()

    def answer(exchange: Exchange) -> None:
        peers.add(exchange.client_address)
        exchange.answer(exchange.rfile.read(len(sent)))

    url = server.route("/", answer)
    assert [each.body for each in sender.send(url, url, method="POST", content=sent)] == [sent, sent]
    assert len(peers) == 1


@pytest.mark.process
@pytest.mark.parametrize(("idle_seconds", "connections"), [(None, 1), (0.0, 2)])
def test_a_connection_that_was_idle_for_long_is_not_used_again(
    idle_seconds: float | None, connections: int, sender: Sender, server: Server
) -> None:
    clients = set()

    def answer(exchange: Exchange) -> None:
        clients.add(exchange.client_address)
        exchange.answer(b"fine")

    url = server.route("/idle", answer)
    sender.send(url, url, idle_seconds=idle_seconds)
    assert len(clients) == connections


@pytest.mark.process
def test_a_response_that_is_left_gives_its_connection_back(server: Server) -> None:
    url = server.route("/", lambda exchange: (exchange.send(b"HTTP/1.1 200 OK\r\n\r\n"), exchange.drip(b"x"))[0])
    with (
        httpx.Client(transport=HTTPXTransport(time.monotonic() + LONG)) as client,
        client.stream("GET", url) as response,
    ):
        assert next(response.iter_bytes()).startswith(b"x")


@pytest.mark.process
def test_a_response_that_is_left_gives_its_connection_back_in_asyncio_too(server: Server) -> None:
    url = server.route("/", lambda exchange: (exchange.send(b"HTTP/1.1 200 OK\r\n\r\n"), exchange.drip(b"x"))[0])

    async def leave() -> None:
        transport = AsyncHTTPXTransport(time.monotonic() + LONG)
        async with httpx.AsyncClient(transport=transport) as client, client.stream("GET", url) as response:
            async for chunk in response.aiter_bytes():
                assert chunk.startswith(b"x")
                break

    asyncio.run(leave())


# ---- the deadline


@pytest.mark.process
def test_a_deadline_that_has_passed_leaves_no_time(sender: Sender, server: Server) -> None:
    assert sender.failure("ConnectTimeout", server.page("/", ""), seconds=-1) == "Connection timeout"


@pytest.mark.process
def test_a_name_server_cannot_outlive_the_deadline(sender: Sender, never: Callable[[str, int], list[str]]) -> None:
    assert sender.failure("ConnectTimeout", "http://slow.example/", seconds=SHORT, resolver=never)


@pytest.mark.process
def test_a_server_that_says_nothing_cannot_outlive_the_deadline(sender: Sender, server: Server) -> None:
    assert sender.failure("ReadTimeout", server.route("/", Exchange.hang), seconds=SHORT) == "Connection timeout"


@pytest.mark.process
def test_headers_that_drip_cannot_outlive_the_deadline(sender: Sender, server: Server) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\n")
        exchange.drip(b"X-More: 1\r\n")

    assert sender.failure("ReadTimeout", server.route("/", answer), seconds=SHORT)


@pytest.mark.process
def test_a_body_that_drips_cannot_outlive_the_deadline(sender: Sender, server: Server) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        exchange.drip(b"x")

    assert sender.failure("ReadTimeout", server.route("/", answer), seconds=SHORT)


@pytest.mark.process
def test_a_server_that_does_not_read_cannot_outlive_the_deadline(sender: Sender, server: Server) -> None:
    url = server.route("/", Exchange.hang)
    assert sender.failure("WriteTimeout", url, seconds=SHORT, method="POST", content=bytes(32 << 20))


@pytest.mark.process
@pytest.mark.parametrize("begun", HANDSHAKES, ids=["silent", "dripping"])
def test_a_handshake_cannot_outlive_the_deadline(sender: Sender, begun: bytes) -> None:
    with endless_handshake(begun) as url:
        assert sender.failure("ConnectTimeout" if sender.asynchronous else "ReadTimeout", url, seconds=SHORT)


@pytest.mark.process
def test_a_timeout_of_the_client_that_is_shorter_holds(sender: Sender, server: Server) -> None:
    url = server.route("/", Exchange.hang)
    started = time.monotonic()
    assert sender.failure("ReadTimeout", url, timeout=0.2)
    assert time.monotonic() - started < LONG / 2


@pytest.mark.process
def test_a_name_that_is_still_looked_up_keeps_no_process_from_ending() -> None:
    script = (
        "import asyncio, sys, threading, time, httpx\n"
        "from ferrule.http import AsyncHTTPXTransport\n"
        "async def main():\n"
        "    transport = AsyncHTTPXTransport(time.monotonic() + 0.2, resolver=lambda *_: threading.Event().wait())\n"
        "    async with httpx.AsyncClient(transport=transport) as client:\n"
        "        await client.get('http://slow.example/')\n"
        "try:\n    asyncio.run(main())\n"
        "except httpx.ConnectTimeout:\n    print('late')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30)
    assert (done.stdout, done.stderr) == ("late\n", "")


# ---- the guard


@pytest.mark.process
def test_a_guard_refuses_addresses(sender: Sender, server: Server) -> None:
    with pytest.raises(ToolError, match=r"127\.0\.0\.1 is a loopback address") as refused:
        sender.get(server.page("/", "secret"), guard=AddressGuard())
    assert refused.value.code == "INVALID_URL"
    assert server.requests == []


@pytest.mark.process
@pytest.mark.parametrize("host", ["inside.example", "127.1", "2130706433", "0x7f000001"])
def test_a_guard_refuses_names_that_lead_to_private_addresses(sender: Sender, server: Server, host: str) -> None:
    answers = {"inside.example": ["93.184.216.34", "10.0.0.1"]}
    with pytest.raises(ToolError, match="address"):
        sender.get(
            f"http://{host}:{server.address[1]}/",
            guard=AddressGuard(),
            resolver=lambda name, port: answers.get(name, ["127.0.0.1"]),
        )
    assert server.requests == []


@pytest.mark.process
def test_what_a_guard_has_seen_is_what_is_connected_to(sender: Sender, server: Server) -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    judge = Judge("10.0.0.1")
    server.page("/", "seen")
    url = f"http://changing.example:{server.address[1]}/"
    assert sender.get(url, resolver=lambda name, port: next(answers), guard=judge) == b"seen"
    assert judge.asked == [("changing.example", []), ("changing.example", ["127.0.0.1"])]


@pytest.mark.process
def test_where_a_redirect_leads_is_judged_again(sender: Sender, server: Server) -> None:
    url = server.redirect("/", f"http://inside.example:{server.address[1]}/secret")
    names = {"inside.example": ["10.0.0.1"]}
    with pytest.raises(ToolError, match=r"inside\.example is at an address that is not public"):
        sender.get(
            url,
            follow_redirects=True,
            guard=AddressGuard(["loopback"]),
            resolver=lambda name, port: names.get(name, ["127.0.0.1"]),
        )
    assert [request.target for request in server.requests] == ["/"]


# ---- TLS, proxies, failures


@pytest.mark.process
@pytest.mark.usefixtures("trusted")
def test_the_authorities_of_ssl_cert_file_are_trusted(sender: Sender, secure_server: Server) -> None:
    assert sender.get(secure_server.page("/", "safe" * 50_000)) == b"safe" * 50_000


@pytest.mark.process
def test_a_context_of_the_tools_own_is_used(sender: Sender, authority: trustme.CA, secure_server: Server) -> None:
    import ssl

    context = ssl.create_default_context()
    authority.configure_trust(context)
    assert sender.get(secure_server.page("/", "safe"), tls=context) == b"safe"


@pytest.mark.process
def test_a_certificate_of_an_unknown_authority_is_refused(sender: Sender, secure_server: Server) -> None:
    reason = sender.failure("ConnectError", secure_server.page("/", "safe"))
    assert reason.startswith("TLS certificate verify failed: ")


@pytest.mark.process
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("secure_proxy", [False, True], ids=["http-proxy", "https-proxy"])
def test_https_goes_through_the_tunnel_of_a_proxy(
    sender: Sender,
    secure_proxy: bool,
    authority: trustme.CA,
    secure_server: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Server(server_context(authority) if secure_proxy else None) as proxy:
        proxy.tunnel(secure_server)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        secure_server.page("/page", "through" * 50_000)
        assert sender.get("https://secure.example/page") == b"through" * 50_000
        assert [request.target for request in proxy.requests] == ["secure.example:443"]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.usefixtures("trusted")
def test_a_body_that_drips_through_a_tunnel_cannot_outlive_the_deadline(
    sender: Sender, authority: trustme.CA, secure_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        exchange.drip(b"x")

    secure_server.route("/", answer)
    with Server(server_context(authority)) as proxy:
        proxy.tunnel(secure_server)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert sender.failure("ReadTimeout", "https://secure.example/", seconds=1)


@pytest.mark.process
def test_through_a_proxy_the_host_is_judged_and_the_proxy_is_not(
    sender: Sender, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    server.page("*", "far")
    judge = Judge("10.0.0.1")
    names = {"127.0.0.1": ["127.0.0.1"], "near.example": ["10.0.0.1"], "far.example": ["8.8.8.8"]}
    resolver = lambda host, port: names[host]  # noqa: E731 - one line for one use
    assert sender.get("http://far.example/", guard=judge, resolver=resolver) == b"far"
    with pytest.raises(ToolError, match="refused"):
        sender.get("http://near.example/", guard=judge, resolver=resolver)
    assert [host for host, _ in judge.asked] == ["far.example", "far.example", "near.example", "near.example"]
    assert [request.target for request in server.requests] == ["http://far.example/"]


@pytest.mark.process
def test_a_proxy_that_refuses_is_told(sender: Sender, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    reason = sender.failure("ProxyError", "https://secure.example/")
    assert reason == "The proxy refused to connect: HTTP 403 (through the proxy that HTTPS_PROXY names)"


@pytest.mark.process
def test_a_failure_is_the_librarys_own_without_the_query(sender: Sender, server: Server) -> None:
    refused = sender.failure("ConnectError", f"http://127.0.0.1:{refused_port()}/?key=SECRET")
    assert refused == "Connection refused"
    unknown = sender.failure("ConnectError", f"http://{'x' * 64}.example/?key=SECRET")
    assert unknown.startswith("Could not resolve host ")
    nonsense = sender.failure("RemoteProtocolError", server.route("/?key=SECRET", send_raw(b"nonsense\r\n\r\n")))
    assert nonsense == "The server's answer is not valid HTTP"
    cut = server.page("/cut", b"half", headers={"Content-Length": "100", "Connection": "close"})
    assert sender.failure("RemoteProtocolError", cut) == "Connection closed before the whole body had come"


@pytest.mark.process
def test_a_reset_connection_is_told(sender: Sender, server: Server) -> None:
    def reset(exchange: Exchange) -> None:
        exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        exchange.close_connection = True
        os.close(exchange.connection.detach())  # close() would wait for whoever still holds the socket as a file

    assert sender.failure("ReadError", server.route("/", reset)) == "Connection reset by the server"


@pytest.mark.process
def test_a_host_that_no_certificate_can_name_is_refused(
    sender: Sender, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server() as proxy:
        proxy.tunnel(server)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        reason = sender.failure("ConnectError", "https://.example/?key=SECRET")
    assert reason == "The connection failed (through the proxy that HTTPS_PROXY names)"


@pytest.mark.process
def test_threads_that_begin_at_once_leave_no_connection_open(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    import ferrule.http.connections.connections

    made = []
    both = threading.Barrier(2)

    class SlowPool(httpcore.ConnectionPool):
        def __init__(self, **options: Any) -> None:
            made.append(self)
            time.sleep(0.2)  # in which another thread would make one, too
            super().__init__(**options)

    def get() -> None:
        both.wait()
        client.get(url)

    monkeypatch.setattr(ferrule.http.connections.connections.httpcore, "ConnectionPool", SlowPool)
    url = server.page("/", "once")
    with httpx.Client(transport=HTTPXTransport(time.monotonic() + LONG)) as client:
        threads = [threading.Thread(target=get) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [pool.connections for pool in made] == [[]]


def test_another_scheme_than_http_is_refused(sender: Sender) -> None:
    with pytest.raises(sender.library.TransportError):
        sender.get("ftp://127.0.0.1/")


@pytest.mark.process
def test_the_next_address_is_tried_when_one_is_dead(sender: Sender, server: Server) -> None:
    server.page("/", "alive")
    url = f"http://two.example:{server.address[1]}/"
    assert sender.get(url, resolver=lambda host, port: ["127.0.0.2", "127.0.0.1"]) == b"alive"


# ---- SDKs


MESSAGE = (
    '{"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [{"type": "text", "text": "Hi."}],'
    ' "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}}'
)
COMPLETION = (
    '{"id": "c", "object": "chat.completion", "created": 1, "model": "x", "choices": [{"index": 0, "finish_reason":'
    ' "stop", "message": {"role": "assistant", "content": "Hi."}}]}'
)
ASKED: Any = {"model": "x", "messages": [{"role": "user", "content": "Hello"}]}


def _anthropic(url: str, transport: HTTPXTransport) -> str:
    import anthropic

    with anthropic.Anthropic(
        api_key="k", base_url=url, http_client=httpx2.Client(transport=transport), max_retries=0
    ) as client:
        return str(client.messages.create(max_tokens=10, **ASKED).content[0].text)  # type: ignore[union-attr] # the kind is known here, and another one fails the test


def _openai(url: str, transport: HTTPXTransport) -> str:
    import openai

    with openai.OpenAI(
        api_key="k", base_url=url, http_client=httpx2.Client(transport=transport), max_retries=0
    ) as client:
        return str(client.chat.completions.create(**ASKED).choices[0].message.content)


def _openai_async(url: str, transport: AsyncHTTPXTransport) -> str:
    import openai

    async def ask() -> str:
        async with openai.AsyncOpenAI(
            api_key="k", base_url=url, http_client=httpx2.AsyncClient(transport=transport), max_retries=0
        ) as client:
            return str((await client.chat.completions.create(**ASKED)).choices[0].message.content)

    return asyncio.run(ask())


TOOL_ERROR = "ferrule:ToolError"

# Each with the errors that it raises by then, by name: to import an SDK takes seconds, in each process of a run.
SDKS: list[tuple[Callable[..., str], type, str, str, str, str]] = [
    (_anthropic, HTTPXTransport, "/v1/messages", MESSAGE, "anthropic:APITimeoutError", "anthropic:APIConnectionError"),
    (_openai, HTTPXTransport, "/chat/completions", COMPLETION, "openai:APITimeoutError", TOOL_ERROR),
    (
        _openai_async,
        AsyncHTTPXTransport,
        "/chat/completions",
        COMPLETION,
        "openai:APITimeoutError",
        "ferrule:ToolError",
    ),
]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(("ask", "transport", "path", "answer", "late", "refused"), SDKS)
def test_an_sdk_asks_through_it_within_the_deadline_and_under_the_guard(
    server: Server,
    ask: Callable[..., str],
    transport: type,
    path: str,
    answer: str,
    late: str,
    refused: str,
) -> None:
    server.page(path, answer, "application/json")
    assert ask(server.url, transport(time.monotonic() + LONG, guard=AddressGuard(["loopback"]))) == "Hi."

    error = pkgutil.resolve_name(refused)
    with pytest.raises(error) as failed:
        ask(server.url, transport(time.monotonic() + LONG, guard=AddressGuard()))
    assert isinstance(failed.value if error is ToolError else failed.value.__cause__, ToolError)

    server.route(path, Exchange.hang)
    started = time.monotonic()
    with pytest.raises(pkgutil.resolve_name(late)):
        ask(server.url, transport(started + SHORT))
    assert time.monotonic() - started < SHORT + GRACE


@pytest.mark.process
def test_the_transports_import_no_httpx_and_no_asyncio_before_they_are_needed() -> None:
    script = (
        "import sys, time\n"
        "from ferrule.http import HTTPXTransport\n"
        "HTTPXTransport(time.monotonic()).close()\n"
        "print(*{'httpx', 'httpx2', 'anyio', 'asyncio', 'certifi'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
