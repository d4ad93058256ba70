"""Pages that fill the memory: what the browser has of it is bounded, and the answer says what has happened."""

import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_research.page.browser import program, rendition
from ferrule_research.page.browser.program import DATA_MIB, Browser
from ferrule_research.page.browser.rendition import NotRendered, Rendition
from ferrule_testkit.web.fake_internet import Internet

pytestmark = [pytest.mark.process, pytest.mark.slow]

Render = Callable[..., Rendition]
Scrape = Callable[..., dict[str, Any]]

PAGE = "http://page.example/"
WORDS = "The page has said this before it did what it did, and a reader has to have it."
SHELL = '<div id="root"></div>'

BOMBS = {
    "buffers": "const all = []; for (;;) all.push(new Uint8Array(64 << 20).fill(1));",
    "objects": "const all = []; for (;;) all.push({words: [1, 2, 3]});",
    "elements": "for (;;) document.body.append('x'.repeat(100_000), document.createElement('p'));",
    "text": "let text = 'x'; const all = []; for (;;) all.push([...(text = (text + text).slice(0, 1 << 20))]);",
    "canvas": "const all = []; for (;;) { const it = document.createElement('canvas'); it.width = it.height = 8000;"
    " it.getContext('2d').fillRect(0, 0, 9, 9); all.push(it); }",
    "blobs": "const all = []; for (;;) all.push(new Blob([new Uint8Array(64 << 20).fill(1)]));",
    "memory": "const all = []; for (;;) all.push(new WebAssembly.Memory({initial: 9_000}),"
    " new Uint8Array(all.at(-1)?.buffer ?? 9).fill(1));",
}

OF_EACH_PROCESS = ("text", "elements", "blobs")
"""One that its script is refused, one that ends the process of the page, one that is kept by the browser's own."""
IN_A_CALL = [pytest.param(bomb, marks=[] if bomb in OF_EACH_PROCESS else pytest.mark.full) for bomb in BOMBS]


def write_bomb(bomb: str, body: str) -> str:
    return f"{body}<script>setTimeout(() => {{ {BOMBS[bomb]} }})</script>"


def read_or_explain(render: Render, html: str) -> str:
    """The page as the browser reads it, or why it does not."""
    try:
        return render(PAGE, html, seconds=1_200).html
    except NotRendered as error:
        return str(error)


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch) -> list[Browser]:
    """The browsers that a test starts, which have as much time as they want."""
    found: list[Browser] = []

    @contextmanager
    def run(*arguments: Any) -> Iterator[Browser]:
        with program.run_browser(*arguments) as browser:
            found.append(browser)
            yield browser

    monkeypatch.setattr(rendition, "run_browser", run)
    monkeypatch.setattr(rendition, "MAX_SECONDS", 600)
    return found


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_page_that_fills_the_memory_gets_no_more_than_there_is_for_the_browser(
    render: Render, internet: Internet, browsers: list[Browser], bomb: str
) -> None:
    said = read_or_explain(render, write_bomb(bomb, f"<p>{WORDS}</p>"))
    # A script that is refused memory may end by that, and the page goes on.
    assert WORDS in said or f"{DATA_MIB:,} MiB" in said
    assert len(browsers) == 1
    assert browsers[0].most_mib < DATA_MIB


def test_what_a_page_lost_by_its_bomb_is_said_with_the_memory(
    render: Render, internet: Internet, browsers: list[Browser]
) -> None:
    with pytest.raises(NotRendered, match="has ended, because the page wanted more memory than it may have"):
        render(PAGE, write_bomb("elements", SHELL), seconds=1_200)


@pytest.mark.parametrize("bomb", IN_A_CALL)
def test_a_page_that_fills_the_memory_is_one_error_of_the_call(
    server: Server, scrape_as_installed: Scrape, browser: str, bomb: str
) -> None:
    answer = scrape_as_installed(server.page("/", write_bomb(bomb, SHELL)), browser=browser)
    assert (answer.get("success"), answer["error_code"]) == (False, "NO_CONTENT"), answer


@pytest.mark.parametrize("bomb", IN_A_CALL)
def test_a_page_with_words_that_fills_the_memory_is_read(
    server: Server, scrape_as_installed: Scrape, browser: str, bomb: str
) -> None:
    url = server.page("/", write_bomb(bomb, f"<p>{WORDS} {WORDS}</p>"))
    answer = scrape_as_installed(url, 'browser_use = "first"', browser=browser)
    assert WORDS in answer.get("content", ""), answer


def test_a_call_that_may_have_less_than_the_browser_wants_ends_with_the_memory_named(
    server: Server, scrape_as_installed: Scrape, browser: str
) -> None:
    url = server.page("/", write_bomb("elements", SHELL))
    answer = scrape_as_installed(url, "memory = 300", browser=browser)
    assert answer.get("success") is False
    # Whichever comes first: the host ends the call, or the browser comes to its own limit.
    is_ended = answer["error_code"] == "OUT_OF_MEMORY"
    assert is_ended or "the page wanted more memory than it may have" in answer["error"], answer


@pytest.mark.parametrize("odd_bytes", [0, 4_096, 12_345])
def test_the_browser_starts_with_whatever_limit_is_inherited(
    render: Render, internet: Internet, monkeypatch: pytest.MonkeyPatch, odd_bytes: int
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, ((1_000 << 20) + odd_bytes, hard))
    try:
        assert WORDS in render(PAGE, f"<p>{WORDS}</p>", seconds=300).html
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def test_browsers_that_start_at_once_all_start(server: Server, scrape_as_installed: Scrape, browser: str) -> None:
    words = "Written by a script, and long enough to be taken for the page. " * 3
    url = server.page("/", f"{SHELL}<script>root.append('{words}')</script>")

    def scrape(_: int) -> dict[str, Any]:
        return scrape_as_installed(url, browser=browser)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(scrape, range(8)))
    assert [answer.get("extractedBy") for answer in answers] == ["browser"] * 8, answers
