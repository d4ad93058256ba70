"""How the tool behaves towards servers, and what it makes of their refusals."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib.metadata import version
from typing import Any

import pytest

import ferrule_fetch
from ferrule import Context, ToolError
from ferrule_dev.testing import Exchange, Server, context, refused_port
from ferrule_fetch.transfer.request_policy import USER_AGENT, VERSION, RequestPolicy

Fetch = Callable[..., dict[str, Any]]
Error = Callable[..., tuple[str, str]]
MakeContext = Callable[..., Context]


@pytest.fixture
def robots(monkeypatch: pytest.MonkeyPatch) -> None:
    """The administrator has asked for robots.txt to be honoured."""
    monkeypatch.setenv("FERRULE_FETCH_ROBOTS", "1")


def _asked(server: Server) -> list[str]:
    return [request.target for request in server.requests]


def test_the_version_that_servers_are_told_is_that_of_the_distribution() -> None:
    assert version("ferrule-fetch") == VERSION
    assert f"ferrule-fetch/{VERSION};" in USER_AGENT


@pytest.mark.process
def test_a_server_is_told_who_asks(server: Server, fetch: Fetch) -> None:
    fetch(server.page("/", "x"))
    assert server.requests[0].headers["user-agent"] == USER_AGENT


@pytest.mark.process
def test_the_administrator_sets_what_a_server_is_told(
    server: Server, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.page("/", "x")
    ferrule_fetch.execute({"url": url}, context("web_fetch", settings={"user_agent": "OurAgent/2 (us@host.example)"}))
    monkeypatch.setenv("FERRULE_FETCH_USER_AGENT", " Other/3 ")
    ferrule_fetch.execute({"url": url}, context("web_fetch", settings={"user_agent": "OurAgent/2"}))
    told = [request.headers["user-agent"] for request in server.requests]
    assert told == ["OurAgent/2 (us@host.example)", "Other/3"]


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "ünï", "x" * 501, 5, ["a"], True])
def test_a_user_agent_that_cannot_be_sent_is_an_error_that_names_the_setting(value: object) -> None:
    with pytest.raises(ToolError) as raised:
        RequestPolicy.from_context(context("web_fetch", settings={"user_agent": value}))
    assert raised.value.code == "NETWORK_ERROR"
    assert "FERRULE_FETCH_USER_AGENT" in raised.value.message


@pytest.mark.parametrize(
    ("value", "robots"),
    [
        (True, True),
        (False, False),
        (1, True),
        ("yes", True),
        ("TRUE", True),
        ("0", False),
        ("off", False),
        (None, False),
    ],
)
def test_robots_is_a_setting(value: object, robots: bool) -> None:
    assert RequestPolicy.from_context(context("web_fetch", settings={"robots": value})).robots is robots


@pytest.mark.parametrize("value", ["maybe", 2, [True], ""])
def test_robots_is_yes_or_no(value: object) -> None:
    with pytest.raises(ToolError, match="FERRULE_FETCH_ROBOTS"):
        RequestPolicy.from_context(context("web_fetch", settings={"robots": value}))


@pytest.mark.process
def test_robots_txt_is_not_asked_for_unless_it_is_wanted(server: Server, fetch: Fetch) -> None:
    server.page("/robots.txt", "User-agent: *\nDisallow: /", "text/plain")
    assert fetch(server.page("/page", "seen"))["content"] == "seen"
    assert _asked(server) == ["/page"]


RULES = """User-agent: *
Disallow: /private
Allow: /private/open
Disallow: /*.cgi$

User-agent: ferrule-fetch
Disallow: /not-for-ferrule
"""


@pytest.mark.process
@pytest.mark.usefixtures("robots")
def test_a_page_that_robots_txt_does_not_allow_is_not_asked_for(server: Server, error: Error) -> None:
    server.page("/robots.txt", "User-agent: *\nDisallow: /private", "text/plain")
    code, message = error(server.page("/private/page", "secret"))
    host = server.url.removeprefix("http://")
    assert code == "INVALID_URL"
    assert message == f"Invalid URL: robots.txt of {host} does not allow this page to be fetched."
    assert _asked(server) == ["/robots.txt"]
    assert server.requests[0].headers["user-agent"] == USER_AGENT


@pytest.mark.process
@pytest.mark.usefixtures("robots")
@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        ("", "/page", True),
        ("", "/not-for-ferrule", False),
        ("", "/private", True),  # only the group that names the agent counts
        ("Other/1.0", "/not-for-ferrule", True),
        ("Other/1.0", "/private/page", False),
        ("Other/1.0", "/private/open", True),
        ("Other/1.0", "/a.cgi", False),
        ("Other/1.0", "/a.cgi?b", True),
        ("Mozilla/5.0 (compatible; FERRULE-FETCH/9)", "/not-for-ferrule", False),
    ],
)
def test_the_group_of_robots_txt_that_names_the_agent_decides(
    server: Server, fetch: Fetch, monkeypatch: pytest.MonkeyPatch, agent: str, path: str, allowed: bool
) -> None:
    monkeypatch.setenv("FERRULE_FETCH_USER_AGENT", agent)
    server.page("/robots.txt", RULES, "text/plain")
    url = server.page(path, "seen")
    if allowed:
        assert fetch(url)["content"] == "seen"
    else:
        with pytest.raises(ToolError, match="does not allow"):
            fetch(url)


@pytest.mark.process
@pytest.mark.usefixtures("robots")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429])
def test_a_site_without_robots_txt_allows_everything(server: Server, fetch: Fetch, status: int) -> None:
    server.page("/robots.txt", "User-agent: *\nDisallow: /", status=status)
    assert fetch(server.page("/page", "seen"))["content"] == "seen"


@pytest.mark.process
@pytest.mark.usefixtures("robots")
@pytest.mark.parametrize("body", ["", "<!doctype html><p>Disallow: /", b"\xff\xfe\0\0", "User-agent: *\nDisallow:\n"])
def test_a_robots_txt_without_rules_allows_everything(server: Server, fetch: Fetch, body: str | bytes) -> None:
    server.page("/robots.txt", body, "text/plain")
    assert fetch(server.page("/page", "seen"))["content"] == "seen"


@pytest.mark.process
@pytest.mark.usefixtures("robots")
@pytest.mark.parametrize(("status", "told"), [(500, "500: Internal Server Error"), (503, "503: Service Unavailable")])
def test_a_site_that_cannot_say_what_it_allows_is_not_fetched_from(
    server: Server, error: Error, status: int, told: str
) -> None:
    server.page("/robots.txt", "", status=status)
    code, message = error(server.page("/page", "unseen"))
    assert code == "HTTP_ERROR"
    assert message.startswith(f"HTTP {told}. This is the answer for robots.txt of 127.0.0.1:")
    assert _asked(server) == ["/robots.txt"]


@pytest.mark.process
@pytest.mark.usefixtures("robots")
def test_a_site_that_cannot_be_reached_is_told_of_with_robots_txt(error: Error) -> None:
    code, message = error(f"http://127.0.0.1:{refused_port()}/")
    assert code == "NETWORK_ERROR"
    assert message.startswith("Failed to fetch URL: Connection refused. So it is for robots.txt of 127.0.0.1:")


@pytest.mark.process
@pytest.mark.usefixtures("robots")
def test_robots_txt_may_be_elsewhere(server: Server, error: Error) -> None:
    with Server() as other:
        other.page("/rules", "User-agent: *\nDisallow: /page", "text/plain")
        server.redirect("/robots.txt", f"{other.url}/rules")
        assert error(server.page("/page", "unseen"))[0] == "INVALID_URL"


@pytest.mark.process
@pytest.mark.usefixtures("robots")
def test_after_five_redirects_there_is_no_robots_txt(server: Server, fetch: Fetch) -> None:
    server.redirect("/robots.txt", "/robots.txt")
    assert fetch(server.page("/page", "seen"))["content"] == "seen"
    assert _asked(server) == ["/robots.txt"] * 6 + ["/page"]


@pytest.mark.process
@pytest.mark.usefixtures("robots")
def test_every_site_that_a_redirect_leads_to_is_asked_once(server: Server, fetch: Fetch, error: Error) -> None:
    with Server() as other:
        other.page("/robots.txt", "User-agent: *\nDisallow: /private", "text/plain")
        other.page("/page", "seen")
        server.redirect("/a", "/b")
        server.redirect("/b", f"{other.url}/page")
        assert fetch(f"{server.url}/a")["content"] == "seen"
        assert _asked(server) == ["/robots.txt", "/a", "/b"]
        server.redirect("/c", f"{other.url}/private")
        assert error(f"{server.url}/c")[0] == "INVALID_URL"
        assert _asked(other) == ["/robots.txt", "/page", "/robots.txt"]


@pytest.mark.process
@pytest.mark.usefixtures("robots")
def test_of_a_robots_txt_without_end_the_beginning_counts(server: Server, error: Error) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nUser-agent: *\nDisallow: /page\n")
        exchange.send(b"# and so on\n" * 100_000)

    server.route("/robots.txt", answer)
    assert error(server.page("/page", "unseen"))[0] == "INVALID_URL"


@pytest.mark.process
@pytest.mark.usefixtures("robots")
def test_robots_txt_shares_the_deadline_of_the_page(server: Server, error: Error, make_context: MakeContext) -> None:
    server.route("/robots.txt", Exchange.hang)
    code, message = error(server.page("/page", "unseen"), within=make_context(seconds=0.4))
    assert code == "NETWORK_ERROR"
    assert message.startswith("Failed to fetch URL: Connection timeout. So it is for robots.txt of ")


@pytest.mark.process
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "HTTP 400: Bad Request. The server does not understand this URL; "),
        (401, "HTTP 401: Unauthorized. The page needs a login, "),
        (403, "HTTP 403: Forbidden. The server does not give this page to this tool, "),
        (404, "HTTP 404: Not Found. There is no page at this URL; "),
        (410, "HTTP 410: Gone. The page has been taken away for good; "),
        (418, "HTTP 418: I'm a Teapot. The server refuses this request."),
        (429, "HTTP 429: Too Many Requests. The server has had too many requests; "),
        (451, "HTTP 451: Unavailable For Legal Reasons. The page is withheld for legal reasons; "),
        (500, "HTTP 500: Internal Server Error. The server has a fault of its own; "),
        (503, "HTTP 503: Service Unavailable. The server is overloaded or being repaired; "),
        (599, "HTTP 599. The server has a fault of its own; "),
    ],
)
def test_a_status_of_400_and_above_is_an_error_that_says_what_to_do(
    server: Server, error: Error, status: int, message: str
) -> None:
    code, told = error(server.page("/", "no", status=status))
    assert code == "HTTP_ERROR"
    assert told.startswith(message)
    assert told.endswith(".")


@pytest.mark.process
def test_a_check_for_persons_is_told_from_a_page_that_is_forbidden(server: Server, error: Error) -> None:
    url = server.page("/", "Just a moment", status=403, headers={"cf-mitigated": "challenge"})
    assert "only browsers with a person" in error(url)[1]


@pytest.mark.process
@pytest.mark.parametrize("status", [403, 429, 503])
@pytest.mark.parametrize(("header", "seconds"), [("120", 120), ("0", 0), ("1.5", 2), (" 7 ", 7)])
def test_retry_after_is_told_in_seconds(
    server: Server, make_context: MakeContext, status: int, header: str, seconds: int
) -> None:
    url = server.page("/", "no", status=status, headers={"Retry-After": header})
    with pytest.raises(ToolError, match=f"It says when: in {seconds} seconds") as raised:
        ferrule_fetch.execute({"url": url}, make_context())
    assert raised.value.retry_after == seconds


@pytest.mark.process
def test_retry_after_may_be_a_date(server: Server, make_context: MakeContext) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    url = server.page("/", "no", status=503, headers={"Retry-After": later})
    with pytest.raises(ToolError) as raised:
        ferrule_fetch.execute({"url": url}, make_context())
    assert raised.value.retry_after is not None
    assert 3_000 < raised.value.retry_after <= 3_600


@pytest.mark.process
@pytest.mark.parametrize("header", ["", "soon", "-5", "99999999999", "1e3", "Mon, 99 Foo 2020"])
def test_a_retry_after_that_says_nothing_is_left_out(server: Server, make_context: MakeContext, header: str) -> None:
    url = server.page("/", "no", status=429, headers={"Retry-After": header})
    with pytest.raises(ToolError) as raised:
        ferrule_fetch.execute({"url": url}, make_context())
    assert raised.value.retry_after is None
    assert "It says when" not in raised.value.message
