"""The documentation site, built as the workflow builds it, and read in a real browser."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from ferrule_testkit import PROJECT
from ferrule_testkit.serve.browser import chromium, needs_chromium
from ferrule_testkit.serve.service import SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.index, pytest.mark.timeout(900)]

PAGES = sorted(
    path.relative_to(PROJECT).with_suffix(".html")
    for pattern in ("*.md", "docs/**/*.md", "host/README.md", "plugins/*/README.md")
    for path in PROJECT.glob(pattern)
)


LEADING = ("canonical", "index", "search", "next", "prev")  # what a <link> is that a browser does not load


class Elements(HTMLParser):
    """The ids of a page, where it leads, and what it loads by itself."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            self.ids.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        if "src" in found:
            self.loaded.add(found["src"])
        if (
            tag == "link"
            and "href" in found
            and found.get("rel") not in ("canonical", "index", "search", "next", "prev")
        ):
            self.loaded.add(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed; scripts/install-node-programs brings it")
    folder = tmp_path_factory.mktemp("documentation") / "site"
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTHON"))}
    command = ["make", "docs", f"SITE={folder}"]
    done = subprocess.run(command, cwd=PROJECT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def root(site: Path) -> Iterator[str]:
    """The address of the site on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(SECONDS * 1000)
        yield page


def test_every_page_of_the_repository_is_in_the_site(site: Path) -> None:
    assert [str(page) for page in PAGES if not (site / page).is_file()] == []


def test_every_link_and_anchor_of_the_site_leads_somewhere(site: Path) -> None:
    pages = {path: Elements(path) for path in site.rglob("*.html")}
    lost = [
        f"{path.relative_to(site)}: {link}"
        for path, elements in pages.items()
        for link in elements.links | elements.loaded
        if not urlsplit(link).scheme and not leads_somewhere(path, link, pages)
    ]
    assert lost == []


def leads_somewhere(page: Path, link: str, pages: dict[Path, Elements]) -> bool:
    parts = urlsplit(link)
    there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not parts.fragment or there not in pages:
        return there.is_file()
    return unquote(parts.fragment) in pages[there].ids


def test_every_page_is_in_the_sidebar(site: Path) -> None:
    start = site / "README.html"
    reached = {start} | {
        (start.parent / urlsplit(link).path).resolve() for link in Elements(start).links if "://" not in link
    }
    decisions = site / "docs/decisions"
    assert [page for page in PAGES if (site / page) not in reached and (site / page).parent != decisions] == []


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loaded = {one for path in site.rglob("*.html") for one in Elements(path).loaded}
    assert [one for one in loaded if urlsplit(one).netloc] == []


@needs_chromium
def test_diagrams_are_drawn_by_the_site_alone(root: str, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{root}docs/explanation/architecture.html")
    expect(page.locator(".mermaid svg")).to_have_count(3, timeout=SECONDS * 1000)
    assert page.get_by_text("Syntax error in text").count() == 0
    assert [url for url in asked if not url.startswith((root, "data:", "blob:"))] == []


@needs_chromium
def test_the_search_finds_a_page_and_the_first_address_leads_to_the_readme(root: str, page: Page) -> None:
    page.goto(root)
    expect(page.get_by_role("heading", level=1)).to_contain_text("ferrule", timeout=SECONDS * 1000)
    page.get_by_role("textbox", name="Search").first.fill("landlock")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li a")
    expect(found.first).to_be_visible(timeout=SECONDS * 1000)
    found.first.click()
    expect(page.locator("article")).to_contain_text("Landlock", ignore_case=True, timeout=SECONDS * 1000)


@needs_chromium
def test_the_pictures_are_shown(root: str, page: Page) -> None:
    page.goto(f"{root}README.html")
    widths = page.locator("article img").evaluate_all("images => images.map(image => image.naturalWidth)")
    assert len(widths) == 2
    assert all(width > 0 for width in widths)
