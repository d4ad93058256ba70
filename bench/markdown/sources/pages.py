"""Real pages: manuals of Debian, and the pages that projects on the package index are tested and documented with."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from markdown.sources.packages import Package, debian, source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SMALLEST, LARGEST = 3_000, 1_000_000  # bytes

# With the number of pages taken from each, which stand at equal distances in the list of all its pages.
# fmt: off
INDEX = {
    Package("newspaper4k", "0.9.6"): 30, Package("sqlalchemy", "2.1.9"): 10, Package("lxml", "6.1.3"): 10,
    Package("docutils", "0.23"): 8, Package("mako", "1.4.3"): 6, Package("alembic", "1.20.1"): 6,
    Package("trafilatura", "2.3.1"): 6, Package("dogpile.cache", "1.5.0"): 3, Package("inscriptis", "2.7.6"): 6,
    Package("html-text", "0.7.1"): 5, Package("justhtml", "3.16.0"): 2,
}
DEBIAN = {
    Package("sqlite3-doc", "3.40.1-2+deb12u2"): 12, Package("git-doc", "1:2.39.5-0+deb12u3"): 6,
    Package("python3.11-doc", "3.11.2-6+deb12u9"): 8, Package("postgresql-doc-15", "15.20-0+deb12u1"): 8,
    Package("debian-policy", "4.6.2.0"): 5, Package("developers-reference", "12.18"): 3,
    Package("debian-faq", "11.1"): 3, Package("exim4-doc-html", "4.96-1"): 5, Package("libcairo2-doc", "1.16.0-7"): 5,
    Package("cmake-doc", "3.25.1-1"): 5, Package("qt5-doc-html", "5.15.8-2"): 5,
    Package("gnuplot-doc", "5.4.4+dfsg1-2"): 4, Package("freetds-doc", "1.3.17+ds-2"): 4,
    Package("r-doc-html", "4.2.2.20221110-2"): 3,
}
# fmt: on


class Page(NamedTuple):
    """A page, decoded, and the address at which it is taken to stand."""

    name: str
    url: str
    html: str


def pages() -> Iterator[Page]:
    """All pages that can be had here, each once."""
    seen = set()
    for packages, fetch in ((INDEX, source), (DEBIAN, debian)):
        for package, number in packages.items():
            try:
                folder = fetch(package)
            except (OSError, subprocess.CalledProcessError) as problem:
                print(f"no pages of {package.name} {package.version}: {problem}", file=sys.stderr)
                continue
            for path in spread(_files(folder), number):
                page = _page(f"{package.name}/{path.relative_to(folder)}", path)
                if page.html not in seen:
                    seen.add(page.html)
                    yield page


def spread(paths: list[Path], number: int) -> Iterable[Path]:
    """So many of the paths, at equal distances."""
    number = min(number, len(paths))
    return [paths[index * len(paths) // number] for index in range(number)]


def decoded(data: bytes) -> str:
    """What nearly all pages are written in."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("windows-1252", "replace")


def _page(name: str, path: Path) -> Page:
    return Page(name, f"http://e.org/{name}", decoded(path.read_bytes()))


def _files(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.suffix in (".html", ".htm", ".xhtml") and path.is_file())
    return sorted(path for path in found if SMALLEST <= path.stat().st_size <= LARGEST and not path.is_symlink())
