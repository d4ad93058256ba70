"""Pages that scripts write, read by a real browser, by the installed executable with all that holds it."""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_fetch.library import ContentType, Page
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


@pytest.mark.parametrize(
    ("program", "why"),
    [("/nowhere/browser", "No such file or directory"), ("/bin/false", "exit code 1"), ("/bin/true", "exit code 0")],
)
def test_a_browser_that_does_not_start_is_said_with_the_reason(
    server: Server, scrape_as_installed: Scrape, program: str, why: str
) -> None:
    setting = f"browser = '{program}'"
    answer = scrape_as_installed(write_app(server), setting)
    assert answer["error_code"] == "NO_CONTENT"
    assert f"the browser could not be started: {why}" in answer["error"]
    url = server.page("/words", f"<p>{SENTENCE} {SENTENCE}</p>")
    answer = scrape_as_installed(url, setting, 'browser_use = "first"')
    assert (answer["extractedBy"], answer["browserFailure"]) == ("html", f"The browser could not be started: {why}.")
    assert "browserFailure" not in scrape_as_installed(url, setting)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("echo '[12:34:1127/01.5:ERROR:a/b.cc:1] No socket' >&2; echo last >&2; exit 3", ": No socket"),
        ("echo first >&2; echo 'lib.so: cannot open' >&2; exit 127", ": lib.so: cannot open"),
        ("kill -TRAP $$", ": SIGTRAP"),
        ("exec sleep 1000", " in time"),
    ],
)
def test_what_a_program_says_at_its_end_is_why_it_could_not_be_started(
    make_context: Any, tmp_path: Path, text: str, why: str
) -> None:
    path = tmp_path / "browser"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    page = Page("http://page.example/", ContentType("text/html", "utf-8"), b"<p>words")
    seconds = 1 if "sleep" in text else 60
    with pytest.raises(rendition.NotRendered, match=f"^could not be started{why}$"):
        rendition.render(page, str(path), make_context(seconds=seconds))


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
    with contextlib.suppress(rendition.NotRendered):  # a page may go away while it is read
        assert "<html" in rendition.render(page, browser, within).html
    assert list(folder.iterdir()) == []
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(folder) in _read(path)]


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # it has ended meanwhile
        return ""
