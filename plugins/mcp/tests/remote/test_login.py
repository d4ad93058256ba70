"""A login at a server that wants tokens, with a real authorization server and a person at a browser."""

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest

from ferrule import ToolError
from ferrule.http import AsyncHTTPXTransport
from ferrule_dev.testing import Exchange, Server, refused_port
from ferrule_mcp.remote.oauth.account import HEADERS, LoginCredentials
from ferrule_mcp.remote.oauth.loopback import LoopbackRedirect
from ferrule_mcp.remote.oauth.paste import PastedRedirect
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.programs.mcp_servers import SECOND, AuthorizationServer, authorize, browse, serve

pytestmark = pytest.mark.slow


def log_in(*arguments: Any, **options: Any) -> Any:
    """The function of that name, with which the SDK is imported."""
    from ferrule_mcp.remote.oauth import login

    return login.log_in(*arguments, **options)


COMMAND = "ferrule mcp login notes"


class Place(NamedTuple):
    """A server that wants tokens, and the authorization server that gives them."""

    url: str
    authority: AuthorizationServer


@pytest.fixture
def place() -> Iterator[Place]:
    with authorize() as authority, serve(SECOND, authority.issuer) as url:
        yield Place(url, authority)


class Person:
    """Opens the address of a login in a browser, and follows it to the end. change: of the address at the end."""

    def __init__(self, change: Callable[[str], str] = str, *, consents: bool = True) -> None:
        self._change = change
        self._consents = consents
        self.opened: list[str] = []
        self.answers: list[httpx.Response] = []
        self._threads: list[threading.Thread] = []

    def open(self, url: str) -> None:
        self.opened.append(url)
        self._threads.append(threading.Thread(target=self._go, args=(url,)))
        self._threads[-1].start()

    def _go(self, url: str) -> None:
        self.answers.append(httpx.get(self._change(browse(url, consents=self._consents))))

    def wait(self) -> None:
        for thread in self._threads:
            thread.join()


def by_loopback(url: str, person: Person, **options: Any) -> dict[str, Any]:
    try:
        with LoopbackRedirect(person.open) as redirect:
            return log_in(url, redirect, command=COMMAND, **{"seconds": PATIENCE_SECONDS, **options})
    finally:
        person.wait()


def failed(act: Callable[[], object]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        act()
    return caught.value


def with_query(url: str, **changes: str) -> str:
    return str(httpx.URL(url).copy_merge_params(changes))


def test_a_login_by_a_redirect_gives_a_token_for_this_server(place: Place) -> None:
    person = Person()
    token = by_loopback(place.url, person)
    assert person.answers[0].text == "You are logged in. This page can be closed."
    asked = {name: values[0] for name, values in parse_qs(urlsplit(person.opened[0]).query).items()}
    assert asked["code_challenge_method"] == "S256"
    assert asked["resource"] == place.url
    assert asked["redirect_uri"].startswith("http://127.0.0.1:")
    assert len(asked["state"]) > 40
    assert place.authority.grants("authorization_code") == [
        {"outcome": "success", "grant": "authorization_code", "resource": place.url}
    ]
    assert token.pop("access_token")
    assert token.pop("refresh_token")
    assert token.pop("client_id") == asked["client_id"]
    assert 3500 < token.pop("expires_at") - time.time() <= 3600
    assert token == {
        "token_endpoint": f"{place.authority.issuer}/token",
        "auth_method": "none",
        "resource": place.url,
        "scope": "tools",
        "issuer": place.authority.issuer,
        "networks": ["loopback"],
        "login": COMMAND,
    }


def test_a_login_opens_the_server_to_an_interview(place: Place) -> None:
    from ferrule_mcp.remote.interview import interview

    refused = failed(lambda: interview(place.url))
    assert refused.code == "AUTH_MISSING"
    assert "--login" in str(refused.hint)
    found = interview(place.url, headers=HEADERS, credentials=LoginCredentials(by_loopback(place.url, Person())))
    assert len(found.tools) == 5


def test_a_client_that_the_user_has_registered_is_used(place: Place) -> None:
    person = Person()
    token = by_loopback(place.url, person, client_id="known", client_secret="known-secret-4711")
    assert token["client_id"] == "known"
    assert token["client_secret"] == "known-secret-4711"
    assert token["auth_method"] == "client_secret_basic"


@pytest.mark.parametrize("form", ["address", "query"])
def test_a_login_by_what_is_pasted(place: Place, form: str) -> None:
    led: list[str] = []
    redirect = PastedRedirect(
        lambda url: led.append(browse(url)), lambda: led[0] if form == "address" else urlsplit(led[0]).query
    )
    token = log_in(place.url, redirect, command=COMMAND)
    assert token["access_token"]
    assert led[0].startswith(redirect.uri)


def test_a_code_alone_is_refused_where_the_server_names_itself(place: Place) -> None:
    """The issuer stands in the address, and without it nobody knows whose code it is (RFC 9207)."""
    led: list[str] = []
    redirect = PastedRedirect(lambda url: led.append(browse(url)), lambda: parse_qs(urlsplit(led[0]).query)["code"][0])
    error = failed(lambda: log_in(place.url, redirect, command=COMMAND))
    assert error.code == "LOGIN_FAILED"
    assert "missing iss" in error.message


def test_an_address_of_another_login_is_refused_when_it_is_pasted(place: Place) -> None:
    led: list[str] = []
    redirect = PastedRedirect(lambda url: led.append(browse(url)), lambda: with_query(led[0], state="another"))
    error = failed(lambda: log_in(place.url, redirect, command=COMMAND))
    assert (error.code, error.message) == ("LOGIN_FAILED", "The address that was pasted belongs to another login.")
    assert place.authority.grants("authorization_code") == []


def test_another_state_is_refused_and_leaves_the_login_as_it_is(place: Place) -> None:
    class Intruder(Person):
        def _go(self, url: str) -> None:
            led = browse(url)
            self.answers.append(httpx.get(with_query(led, state="another")))
            self.answers.append(httpx.get(led))

    person = Intruder()
    assert by_loopback(place.url, person)["access_token"]
    assert [one.status_code for one in person.answers] == [400, 200]


def test_an_answer_of_another_issuer_is_refused(place: Place) -> None:
    person = Person(lambda url: with_query(url, iss="https://evil.example.com"))
    error = failed(lambda: by_loopback(place.url, person))
    assert error.code == "LOGIN_FAILED"
    assert "iss mismatch: https://evil.example.com" in error.message
    assert place.authority.grants("authorization_code") == []


def test_a_person_who_does_not_consent_ends_the_login(place: Place) -> None:
    error = failed(lambda: by_loopback(place.url, Person(consents=False)))
    assert error.code == "LOGIN_FAILED"
    assert "access_denied" in error.message


def test_a_server_that_registers_nobody_wants_a_client_id() -> None:
    with authorize(registers=False) as authority, serve(SECOND, authority.issuer) as url:
        error = failed(lambda: by_loopback(url, Person()))
    assert error.code == "LOGIN_FAILED"
    assert "--client-id" in str(error.hint)


def test_a_server_that_wants_no_token() -> None:
    with serve(SECOND) as url:
        assert failed(lambda: by_loopback(url, Person())).code == "LOGIN_NOT_NEEDED"


def test_no_secret_of_a_login_is_printed(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    token = by_loopback(place.url, Person())
    error = failed(lambda: by_loopback(place.url, Person(lambda url: with_query(url, iss="https://e.example"))))
    shown = "".join(capfd.readouterr()) + json.dumps(error.facts())
    assert token["access_token"] not in shown
    assert token["refresh_token"] not in shown


class Metadata:
    """A server and its authorization server as documents alone, each as a test wants it."""

    def __init__(self, server: Server) -> None:
        self.base = server.url.rstrip("/")
        self.url = f"{self.base}/mcp"
        self._server = server
        server.route("/mcp", self._refuse)
        self.resource: dict[str, Any] = {"resource": self.url, "authorization_servers": [self.base]}
        self.authority: dict[str, Any] = {
            "issuer": self.base,
            "authorization_endpoint": f"{self.base}/authorize",
            "token_endpoint": f"{self.base}/token",
            "registration_endpoint": f"{self.base}/register",
            "code_challenge_methods_supported": ["S256"],
        }

    def publish(self) -> None:
        self._say("/.well-known/oauth-protected-resource/mcp", self.resource)
        self._say("/.well-known/oauth-authorization-server", self.authority)
        self._say("/register", {"client_id": "new", "token_endpoint_auth_method": "none"})

    def _say(self, path: str, document: dict[str, Any]) -> None:
        self._server.route(path, lambda exchange: _answer(exchange, document))

    def _refuse(self, exchange: Exchange) -> None:
        exchange.read_body()
        exchange.answer(b"", status=401)


def _answer(exchange: Exchange, document: dict[str, Any]) -> None:
    exchange.read_body()
    exchange.answer(json.dumps(document).encode(), "application/json")


@pytest.fixture
def metadata() -> Iterator[Metadata]:
    with Server() as server:
        yield Metadata(server)


@pytest.mark.parametrize(
    ("part", "changes", "words"),
    [
        ("resource", {"resource": "https://other.example.com/mcp"}, "does not match"),
        ("resource", {"authorization_servers": ["http://10.0.0.1/"]}, "not https"),
        ("resource", {"authorization_servers": ["https://10.0.0.1/"]}, "10.0.0.1 is a private address"),
        ("resource", {"authorization_servers": ["https://169.254.169.254/"]}, "metadata service"),
        ("authority", {"issuer": "https://other.example.com"}, "issuer mismatch"),
        ("authority", {"code_challenge_methods_supported": ["plain"]}, "PKCE with S256"),
        ("authority", {"code_challenge_methods_supported": None}, "PKCE with S256"),
        ("authority", {"authorization_endpoint": "http://login.example.com/"}, "not https"),
        ("authority", {"registration_endpoint": "https://192.168.1.1/register"}, "192.168.1.1 is a private address"),
        ("resource", {"authorization_servers": [f"https://127.0.0.1:{refused_port()}/"]}, "Connection refused"),
    ],
)
def test_metadata_that_must_not_be_followed(metadata: Metadata, part: str, changes: dict[str, Any], words: str) -> None:
    getattr(metadata, part).update(changes)
    metadata.publish()
    person = Person()
    error = failed(lambda: by_loopback(metadata.url, person))
    assert words in error.message, error.facts()
    assert person.opened == []


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "10.0.0.1", "[::1]", "169.254.169.254"])
def test_a_public_server_leads_to_no_address_of_the_own_network(
    monkeypatch: pytest.MonkeyPatch, metadata: Metadata, address: str
) -> None:
    """A stand-in answers for the public server, since no test reaches one; all else passes the real transport."""
    metadata.publish()
    port = urlsplit(metadata.url).port

    class Transport(AsyncHTTPXTransport):
        async def handle_async_request(self, request: Any) -> Any:
            if request.url.host != "mcp.example.com":
                return await super().handle_async_request(request)
            challenge = f'Bearer resource_metadata="https://{address}:{port}/.well-known/oauth-protected-resource/mcp"'
            return httpx2.Response(401, headers={"www-authenticate": challenge})

    from ferrule_mcp.remote.oauth import login

    monkeypatch.setattr(login, "AsyncHTTPXTransport", Transport)
    error = failed(lambda: by_loopback("https://mcp.example.com/mcp", Person()))
    assert error.code == "INVALID_URL"
    assert "Invalid URL: " in error.message


def test_nobody_logs_in_for_too_long(metadata: Metadata) -> None:
    metadata.publish()
    shown: list[str] = []
    with LoopbackRedirect(shown.append) as redirect:
        error = failed(lambda: log_in(metadata.url, redirect, command=COMMAND, seconds=0.1))
    assert error.code == "TIMEOUT"
    assert "--paste" in str(error.hint)
    assert re.match(rf"{metadata.base}/authorize\?", shown[0])


def test_a_port_that_is_taken_is_an_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        error = failed(LoopbackRedirect(print, taken.getsockname()[1]).__enter__)
    assert error.code == "LOGIN_FAILED"


def test_a_request_before_the_login_has_begun_is_refused() -> None:
    with LoopbackRedirect(print) as redirect:
        assert httpx.get(f"{redirect.uri}?code=1&state=").status_code == 400
        assert httpx.get(f"{redirect.uri}/other").status_code == 404
