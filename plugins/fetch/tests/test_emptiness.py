"""A page without words is an error that says why, and what to do."""

from collections.abc import Callable
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_fetch.emptiness.reasons import find_reason

Error = Callable[..., tuple[str, str]]

URL = "https://site.example/page"
SHELL = "<title>App</title><div id=root></div><script src=/app.js></script>"


@pytest.mark.process
@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("", "the server sent an empty page"),
        (SHELL, "the shell of an app"),
        (
            f'{SHELL}<script id="__NEXT_DATA__" type="application/json">{{"text":"Words."}}</script>',
            "the shell of an app",
        ),
        ("<div id=app>Loading...</div>" + "<script></script>" * 99, "the shell of an app"),
        (f"{SHELL}<noscript>Please <b>enable</b> JavaScript.</noscript>", 'it says only "Please enable JavaScript."'),
        ("<meta http-equiv=Refresh content='0; URL=/next?a=1&amp;b=2'>", "/next?a=1&b=2; fetch that"),
        ("<script>window.location.href = '/next';</script>", "/next; fetch that"),
        ("<form><input type=password></form>", "a form to log in"),
        ("<frameset><frame src=menu.html><frame src=text.html></frameset>", "/menu.html"),
        ("<textarea>Words.</textarea>", "in a field"),
        ("<img src=a.png>", "pictures alone"),
        ("<script>window._cf_chl_opt={}</script>", "to keep robots out"),
        ("<div hidden></div><nav></nav>", "nothing on it is text"),
        (
            '<div id="cookie-consent"><p>We use cookies. Accept them?</p><button>Accept</button></div>',
            "asks for consent to cookies",
        ),
    ],
)
def test_a_page_without_words_is_an_error_that_says_why(server: Server, error: Error, html: str, why: str) -> None:
    code, message = error(server.page("/", html))
    assert code == "PARSE_ERROR"
    assert message.startswith("Failed to parse HTML: the page")
    assert why in message


@pytest.mark.process
@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_words_is_one_too(server: Server, error: Error, text: str) -> None:
    code, message = error(server.page("/", text, "text/plain"))
    assert (code, "no words" in message) == ("PARSE_ERROR", True)


@pytest.mark.process
def test_the_error_has_the_title_of_the_page(server: Server, error: Error) -> None:
    assert 'the page "App" has no words' in error(server.page("/", SHELL))[1]


@pytest.mark.process
@pytest.mark.parametrize(
    ("page", "content"),
    [
        (("<p>x</p>" + "<script></script>" * 99, "text/html"), "x"),
        (("<p>Loading docks of the harbour", "text/html"), "Loading docks of the harbour"),
        (("Loading", "text/plain"), "Loading"),
        (("<iframe src=https://other.example/></iframe>", "text/html"), "Embedded page"),
        (("<p>You accept cookies at the bakery.", "text/html"), "bakery"),
    ],
)
def test_a_page_that_says_little_is_none(
    server: Server, fetch: Callable[..., dict[str, Any]], page: tuple[str, str], content: str
) -> None:
    assert content in fetch(server.page("/", *page))["content"]


@pytest.mark.parametrize(
    "html",
    [
        "<meta http-equiv=refresh content='0;url=javascript:go()'>",
        "<meta http-equiv=refresh content='30'>",
        f"<meta http-equiv=refresh content='5;url={URL}'>",
        f"<meta http-equiv=refresh content='0;url=/{'a' * 900}'>",
    ],
)
def test_a_page_that_leads_to_no_other_page_is_not_said_to(html: str) -> None:
    assert "fetch that" not in find_reason(html, URL, "", "")


@pytest.mark.parametrize("piece", ["<noscript>", "<meta http-equiv=refresh content=", "<script>location=", "<a b='"])
def test_the_reason_is_found_on_a_page_that_is_made_to_cost_time(piece: str) -> None:
    assert len(find_reason(piece * (400_000 // len(piece)), URL, "", "")) < 1_000
