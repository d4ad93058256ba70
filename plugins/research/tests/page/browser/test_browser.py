"""Pages that scripts write, read by a real browser, by the installed executable with all that holds it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_research.page.browser import program, rendition
from ferrule_testkit.attacks import ordinary_user

pytestmark = [pytest.mark.process, pytest.mark.slow]

SENTENCE = (
    "Four oak gates were lifted out of the river on Monday, a century after they were hung, and hundreds watched."
)

Scrape = Callable[..., dict[str, Any]]


def write_app(server: Server, script: str = "") -> str:
    """A page whose script fetches its words."""
    server.page("/words.json", json.dumps({"title": "Gates", "text": SENTENCE}), "application/json")
    server.page(
        "/app.js",
        f"""\
      export const show = async () => {{
        const words = await (await fetch("/words.json")).json();
        document.body.innerHTML = `<h1>${{words.title}}</h1><p>${{words.text}}</p>`;
        {script}
      }}""",
        "text/javascript",
    )
    source = '<div id="root"></div><script type="module">import {show} from "/app.js"; await show();</script>'
    return server.page("/", f"<title>App</title>{source}")


@pytest.mark.parametrize("user", [None, ordinary_user.NOBODY], ids=["same-user", "ordinary-user"])
def test_a_page_that_scripts_write_is_read_as_they_write_it(
    server: Server, scrape_as_installed: Scrape, browser: str, user: int | None
) -> None:
    if user is not None and os.geteuid() != 0:
        pytest.skip("only root can become an ordinary user")
    answer = scrape_as_installed(write_app(server), browser=browser, user=user)
    assert answer.get("content") == f"# Gates\n\n{SENTENCE}", answer
    assert (answer["extractedBy"], answer["extractionQuality"]) == ("browser", "complete")
    assert [request.target for request in server.requests] == ["/", "/app.js", "/words.json"]


def test_a_page_with_words_is_read_by_the_browser_only_where_it_comes_first(
    server: Server, scrape_as_installed: Scrape, browser: str
) -> None:
    words = f"<p>{SENTENCE} {SENTENCE}</p>"
    url = server.page("/", f"{words}<script>document.body.append('And the script adds this sentence.')</script>")
    assert scrape_as_installed(url, browser=browser)["extractedBy"] == "html"
    answer = scrape_as_installed(url, 'browser_use = "first"', browser=browser)
    assert answer["extractedBy"] == "browser"
    assert "And the script adds this sentence." in answer["content"]


def test_without_a_browser_that_starts_a_page_is_read_as_it_is(server: Server, scrape_as_installed: Scrape) -> None:
    url = write_app(server)
    for settings in ([], ['browser = "/nowhere/browser"'], ['browser = "/bin/true"']):
        assert scrape_as_installed(url, *settings)["error_code"] == "NO_CONTENT"


def test_a_setting_that_cannot_be_understood_is_said(server: Server, scrape_as_installed: Scrape) -> None:
    for setting in ('browser = "chromium"', "browser = 3", 'browser_use = "always"'):
        assert setting.split()[0] in scrape_as_installed(write_app(server), setting)["error"]


@pytest.mark.parametrize(
    "script", ["while (true);", "setInterval(() => fetch('/words.json'), 1);", "setInterval(() => location = '/', 9);"]
)
def test_a_page_that_never_ends_is_ended_with_all_its_processes(
    server: Server, make_context: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, browser: str, script: str
) -> None:
    from ferrule_fetch.library import fetch

    monkeypatch.setattr(program, "is_confined", lambda: True)  # or root could not start it
    folder = tmp_path / "browser"
    folder.mkdir()
    monkeypatch.setattr(program.tempfile, "tempdir", str(folder))
    within = make_context(seconds=8)
    page = fetch(write_app(server, script), within)
    written = rendition.render(page, browser, within)
    assert written is None or "<html" in written.html  # none of a page that goes away while it is read
    assert list(folder.iterdir()) == []
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(folder) in _read(path)]


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # it has ended meanwhile
        return ""
