"""What a call that cannot answer says, by kinds."""

from collections.abc import Callable
from typing import Any

import pytest

from ferrule import Context, ToolError
from ferrule_dev.testing import Exchange, Server, refused_port
from ferrule_research import page
from ferrule_testkit.runs import run_tool

pytestmark = pytest.mark.process


Scrape = Callable[..., dict[str, Any]]
Problem = Callable[..., ToolError]
MakeContext = Callable[..., Context]
PROSE = "There are some words in this sentence, and it goes on for a while. "


def kind(error: ToolError) -> str:
    assert error.details
    return str(error.details["kind"])


@pytest.mark.parametrize("url", ["", "page", "ftp://host/x", "http://", "http://a b/", "http://10.0.0.1/"])
def test_a_url_that_is_not_fetched_is_a_validation_error(page_error: Problem, url: str) -> None:
    error = page_error(url)
    assert (kind(error), error.code) == ("validation", "INVALID_URL")
    assert error.message.startswith(f"URL rejected for {url}: ")
    assert error.message.endswith(". Provide a valid public http(s) URL.")
    assert error.details is not None
    assert error.details["retryable"] is False


def test_a_password_is_not_quoted(page_error: Problem) -> None:
    error = page_error("http://somebody:secret@host.example/page?key=hidden")
    assert error.message.startswith("URL rejected for http://…@host.example/page?…: ")
    assert "secret" not in error.message


@pytest.mark.parametrize("mode", ["full", "preview", "raw"])
def test_a_url_is_refused_alike_in_every_mode(page_error: Problem, mode: str) -> None:
    assert kind(page_error("http://192.168.0.1/", mode=mode)) == "validation"


@pytest.mark.parametrize("kind", ["image/png", "text/html"])
def test_neither_an_error_nor_the_raw_type_quotes_a_content_type_raw(
    server: Server, scrape: Scrape, page_error: Problem, kind: str
) -> None:
    header = f"{kind}; \x1b[31mred=\u202e\U000e0041{'y' * 60_000}".encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: " + header + b"\r\n\r\nwords"
    url = server.route("/", lambda exchange: exchange.send(head))
    raw = scrape(url, mode="raw")["contentType"]
    told = page_error(url).message if kind == "image/png" else raw
    assert (raw.isprintable(), told.isprintable()) == (True, True)
    assert max(len(raw), len(told)) <= 1 << 10


def test_a_refusal_says_neither_the_address_of_a_name_nor_how_to_allow_it(
    page_error: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("10.1.2.3", 80))])
    message = page_error("http://inside.example/").message
    assert "inside.example is at an address that is not public" in message
    assert "10.1.2.3" not in message
    assert "FERRULE" not in message


@pytest.mark.parametrize("address", ["64:ff9b::a00:1", "2002:a00:1::", "2001::1", "fec0::1", "::10.0.0.1", "::1"])
def test_addresses_that_lead_inside_by_ipv6_are_refused(
    page_error: Problem, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.delenv("FERRULE_FETCH_ALLOW")
    assert kind(page_error(f"http://[{address}]/")) == "validation"


@pytest.mark.parametrize(
    ("status", "expected", "retryable"),
    [
        (401, "auth_required", False),
        (402, "auth_required", False),
        (403, "blocked", False),
        (404, "not_found", False),
        (408, "network", True),
        (410, "not_found", False),
        (418, "validation", False),
        (429, "rate_limited", True),
        (451, "blocked", False),
        (500, "network", True),
        (503, "network", True),
    ],
)
def test_a_status_has_its_kind(
    server: Server, page_error: Problem, status: int, expected: str, retryable: bool
) -> None:
    error = page_error(server.page("/429/401", "login captcha quota", status=status))
    assert error.details is not None
    assert (kind(error), error.details["retryable"]) == (expected, retryable)


def test_the_sentences_are_the_specified_ones(server: Server, page_error: Problem) -> None:
    def message(status: int) -> str:
        return page_error(server.page(f"/{status}", "x", status=status)).message

    url = server.url
    assert message(403) == (
        f"Blocked: {url}/403 refuses this request (HTTP 403). It does not say why. Try an alternative source."
    )
    assert message(402) == f"Payment required: {url}/402 answers HTTP 402."
    assert message(408).endswith("the same call may work.")
    assert message(418) == f"Request rejected for {url}/418: HTTP 418: I'm a Teapot. The server refuses this request."
    assert message(404) == (f"Not found: {url}/404 returned 404/410 — the page does not exist. Check the URL.")
    assert message(401) == f"Auth required: {url}/401 is behind a login wall."
    assert message(429) == f"Rate limited on {url}/429. Retry in 60 seconds."
    assert message(500).startswith(f"Network error on {url}/500: HTTP 500: Internal Server Error")
    assert message(500).endswith("The server has a fault of its own; the same call may work later.")
    assert message(451) == (f"Blocked: {url}/451 is withheld for legal reasons (HTTP 451). Try an alternative source.")


@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_is_the_one_that_the_server_names(server: Server, page_error: Problem, status: int) -> None:
    error = page_error(server.page("/", "x", status=status, headers={"Retry-After": "17"}))
    assert error.details is not None
    assert error.details["retryAfterSeconds"] == 17
    assert error.details["suggestedAction"] == "retry_after_delay"
    assert status == 503 or "Retry in 17 seconds" in error.message


def test_no_wait_is_made_up(server: Server, page_error: Problem) -> None:
    error = page_error(server.page("/", "x", status=429))
    assert error.details is not None
    assert "retryAfterSeconds" not in error.details


def test_a_challenge_is_a_wall_whatever_its_status(server: Server, page_error: Problem) -> None:
    assert kind(page_error(server.page("/", "x", status=503, headers={"cf-mitigated": "challenge"}))) == "blocked"


def test_a_refused_connection_is_of_the_network(page_error: Problem) -> None:
    error = page_error(f"http://127.0.0.1:{refused_port()}/?key=SECRET#f")
    assert (kind(error), error.code) == ("network", "NETWORK_ERROR")
    assert "Connection refused" in error.message
    assert "SECRET" not in str(error.facts())


def test_a_server_that_says_nothing_is_of_the_network(
    server: Server, page_error: Problem, make_context: MakeContext
) -> None:
    error = page_error(server.route("/", Exchange.hang), within=make_context(seconds=0.4))
    assert kind(error) == "network"


@pytest.mark.parametrize(
    "html",
    [
        "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue</p>",
        "<title>Attention Required! | Cloudflare</title><p>Sorry, you have been blocked</p>",
        "<script>window._cf_chl_opt={}</script><p>Please wait",
        "<p>Request unsuccessful. Incapsula incident ID: 443-1</p>",
        "<p>Verify you are human by completing the action below.</p>",
        '<p>x</p><iframe src="https://geo.captcha-delivery.com/captcha/?a=b"></iframe>',
    ],
)
def test_a_wall_against_robots_is_told_as_one(server: Server, page_error: Problem, html: str) -> None:
    assert kind(page_error(server.page("/", html))) == "blocked"


def test_a_long_page_about_walls_is_none(server: Server, scrape: Scrape) -> None:
    html = f"<p>It says: Enable JavaScript and cookies to continue.</p><p>{PROSE * 40}</p>"
    assert scrape(server.page("/", html))["extractionQuality"] == "complete"


def test_a_short_page_about_captchas_is_none(server: Server, scrape: Scrape) -> None:
    html = f"<h1>What a captcha is</h1><p>A captcha asks whether you are a robot. {PROSE * 2}</p>"
    assert "captcha" in scrape(server.page("/", html))["content"]


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("", "an empty page"),
        (
            "<title>App</title><div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>",
            "without them it says only",
        ),
        ("<title>App</title><div id=app>Loading</div>" + "<script src=/a.js></script>" * 40, "the shell of an app"),
        ("<meta http-equiv=refresh content='0;url=https://other.example/'>", "fetch that"),
    ],
    ids=["nothing", "script wanted", "loading", "elsewhere"],
)
def test_a_shell_without_text_is_no_content(server: Server, page_error: Problem, html: str, why: str) -> None:
    error = page_error(server.page("/", html))
    assert (kind(error), error.code) == ("content_empty", "NO_CONTENT")
    assert error.message.startswith(f"No content extracted from {server.url}/: ")
    assert error.message.endswith(". May need browser rendering.")
    assert error.details is not None
    assert why in error.details["detail"]


def test_a_shell_with_some_text_is_partial(server: Server, scrape: Scrape) -> None:
    html = f"<p>{PROSE * 2}</p>" + "<script src=/a.js></script>" * 400
    assert scrape(server.page("/", html))["extractionQuality"] == "partial"


def test_a_little_text_in_much_html_is_an_answer(server: Server, scrape: Scrape) -> None:
    answer = scrape(server.page("/", "<p>The needle is here.</p>" + "<div>" * 10_000))
    assert (answer["content"], answer["extractionQuality"]) == ("The needle is here.", "partial")


def test_a_page_that_is_honestly_short_is_an_answer(server: Server, scrape: Scrape) -> None:
    answer = scrape(server.page("/", "<h1>It works!</h1>"))
    assert (answer["content"], answer["extractionQuality"]) == ("# It works!", "partial")


def test_the_frames_of_a_page_without_text_are_read(server: Server, scrape: Scrape) -> None:
    for number in range(3):
        server.page(f"/frame{number}", f"<p>Frame {number}. {PROSE * 2}</p><iframe src=/deeper></iframe>")
    html = "".join(f"<iframe src=/frame{number}></iframe>" for number in range(3))
    answer = scrape(server.page("/", html))
    assert "Frame 0." in answer["content"]
    assert "Frame 1." in answer["content"]
    assert [request.target for request in server.requests] == ["/", "/frame0", "/frame1"]


@pytest.mark.slow
def test_a_frame_that_never_comes_does_not_take_all_the_time(server: Server, make_context: MakeContext) -> None:
    server.route("/frame", lambda exchange: exchange.hang())
    url = server.page("/", "<p>Little.</p><iframe src=/frame></iframe><iframe src=/frame></iframe>")
    context = make_context(seconds=9)
    assert page.execute({"url": url}, context)["content"].startswith("Little.\n\n[Embedded page]")
    assert context.remaining() > 3


def test_a_page_that_breaks_off_is_partial(server: Server, scrape: Scrape) -> None:
    headers = {"Content-Length": "99999", "Connection": "close"}
    answer = scrape(server.page("/", f"<p>{PROSE * 3}", headers=headers))
    assert answer["extractionQuality"] == "partial"


@pytest.mark.parametrize(
    ("body", "content_type", "what"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "image/png", "a PNG image"),
        (b"%PDF-1.7\nnothing", "application/pdf", "a malformed PDF"),
    ],
)
def test_what_has_no_text_is_no_content_and_says_what_it_is(
    server: Server, page_error: Problem, body: bytes, content_type: str, what: str
) -> None:
    error = page_error(server.page("/", body, content_type))
    assert kind(error) == "content_empty"
    assert what in error.message


def test_what_no_browser_could_read_is_not_said_to_need_one(server: Server, page_error: Problem) -> None:
    assert "browser" not in page_error(server.page("/", b"\x89PNG\r\n\x1a\n" + bytes(200), "image/png")).message


@pytest.mark.parametrize(("free", "quality"), [("false", "partial"), ('"False"', "partial"), ("true", "complete")])
def test_a_page_that_not_all_can_read_is_partial(server: Server, scrape: Scrape, free: str, quality: str) -> None:
    said = f'{{"@type": "NewsArticle", "headline": "H", "isAccessibleForFree": {free}}}'
    html = f'<script type="application/ld+json">{said}</script><p>{"Words of the beginning. " * 20}</p>'
    assert scrape(server.page("/", html))["extractionQuality"] == quality


def test_the_executable_writes_the_kind_beside_the_message(server: Server) -> None:
    url = server.page("/", "x", status=429, headers={"Retry-After": "5"})
    run = run_tool("scrape_page", {"url": url})
    assert run.document == {
        "success": False,
        "error": f"Rate limited on {url}. Retry in 5 seconds.",
        "error_code": "RATE_LIMIT",
        "kind": "rate_limited",
        "retryable": True,
        "retryAfterSeconds": 5,
        "suggestedAction": "retry_after_delay",
        "detail": run.document["detail"],
    }
    assert run.document["detail"].startswith("HTTP 429: Too Many Requests")


def test_what_the_host_finds_has_a_kind_as_well() -> None:
    run = run_tool("scrape_page", {"url": 5})
    assert (run.document["error_code"], run.document["kind"]) == ("INVALID_INPUT", "validation")


def test_robots_txt_is_honoured_where_it_is_wanted(
    server: Server, page_error: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_FETCH_ROBOTS", "1")
    server.page("/robots.txt", "User-agent: *\nDisallow: /private", "text/plain")
    error = page_error(server.page("/private/a", "x"))
    assert kind(error) == "validation"
    assert "robots.txt" in error.message
