"""The browser of this machine, and the tool as it is installed."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule import Context
from ferrule_fetch.library import ContentType, Page
from ferrule_research.page.browser import program, rendition
from ferrule_research.page.browser.rendition import Rendition
from ferrule_testkit.attacks import ordinary_user
from ferrule_testkit.web.fake_internet import Internet

# Debian's is a script that starts this one; no shell may be run in a call.
_INSTALLED = Path("/usr/lib/chromium/chromium-headless-shell")

Scrape = Callable[..., dict[str, Any]]
Render = Callable[..., Rendition]


@pytest.fixture(scope="session")
def browser() -> str:
    """The path of the browser."""
    found = str(_INSTALLED) if _INSTALLED.exists() else shutil.which("chromium-headless-shell")
    if not found:
        pytest.skip("chromium-headless-shell is not installed")
    return found


@pytest.fixture
def render(browser: str, make_context: Callable[..., Context], monkeypatch: pytest.MonkeyPatch) -> Render:
    """Have the browser read a page in this process: at a URL, with this source. seconds: of the call."""
    monkeypatch.setattr(program, "is_confined", lambda: True)  # or root could not start it

    def render(url: str, source: str, seconds: float = 40) -> Rendition:
        html = f"<!DOCTYPE html><body>{source}"
        page = Page(url, ContentType("text/html", "utf-8"), html.encode(), content_type="text/html; charset=utf-8")
        return rendition.render(page, browser, make_context(seconds=seconds))

    return render


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Internet]:
    """An internet of which every host is public, and nothing else is allowed."""
    monkeypatch.delenv("FERRULE_FETCH_ALLOW")
    with Internet() as internet:
        yield internet


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may read."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def scrape_as_installed(open_folder: Path) -> Scrape:
    """Call the executable. settings: lines of its table in config.toml. user: an ordinary one, where root runs this."""

    def scrape(url: str, *settings: str, browser: str = "", user: int | None = None) -> dict[str, Any]:
        home = open_folder / "home"
        folder = home / ".config" / "ferrule"
        folder.mkdir(parents=True, exist_ok=True)
        settings += (f"browser = '{browser}'",) if browser else ()
        reading = [f"[tools.scrape_page.permissions.added]\nread = ['{Path(browser).parent}']\n"] if browser else []
        lines = ["[tools.scrape_page]", 'allow = ["loopback"]', *settings, *reading]
        (folder / "config.toml").write_text("\n".join(lines))
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "FERRULE_WRAPPERS": ""}
        python, more = sys.executable, {}
        if user is not None:
            python = str(ordinary_user.interpreter(open_folder))
            environment["PYTHONPATH"] = os.pathsep.join(ordinary_user.search_path())
            more = {"user": user, "group": user, "extra_groups": []}
            for path in (home, *home.rglob("*")):
                os.chown(path, user, user)
        run = subprocess.run(
            [python, "-m", "ferrule", "run", "scrape_page"],
            input=json.dumps({"url": url}),
            env=environment,
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
            **more,
        )
        answer: dict[str, Any] = json.loads(run.stdout)
        return answer

    return scrape
