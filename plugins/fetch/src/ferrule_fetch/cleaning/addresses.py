"""Addresses are whole, and lead to something that can be opened."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from ferrule_fetch.cleaning.edits import replace, unwrap
from ferrule_fetch.hrefs import encoded, is_openable
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule_fetch.tree.nodes import Document, Element

_ODD = ' \n<>"`'  # what would end an address in markdown or hide what follows it
_WHOLE = ("#", "https:", "http:", "mailto:")  # these are left as they are
_BASE = compile_late(r"(https?://[^/?#\\\s]+)((?:/(?!\.)[^/?#;\\\s]+)*)/[^/?#;\\\s]*(?:\Z|[?#])")
# A path, perhaps a query and a place. All other addresses are left to `urljoin`, which is slower.
_SIMPLE = compile_late(
    r"(?!\Z|[?#]|//(?:[/?#]|\Z)|[^/?#]*:)([^\x00-\x20\x7f;\\?#]*/)?(?!\.\.?(?:[?#]|\Z))[^\x00-\x20\x7f;\\?#/]*"
    r"(?:\?[^\x00-\x20\x7f#]+)?(?:#[^\x00-\x20\x7f]+)?"
)


def make_whole(tree: Document, url: str) -> None:
    """Resolve the addresses of a page found at `url`, against its `<base>` if it has one.

    Links within the page stay as they are. Where an address cannot be opened, the text of a link stays, and what an
    image is said to show.
    """
    links, images = tree.select("a[href]"), tree.select("img[src]")
    hrefs, sources = [link.attr("href") or "" for link in links], [image.attr("src") or "" for image in images]
    some_are_odd = any(map("\0".join((*hrefs, *sources)).__contains__, _ODD))
    resolved = _Resolved(base_of(tree.find_all("base"), url), some_are_odd=some_are_odd)
    for link, written in zip(links, hrefs, strict=True):
        href = resolved[written]
        if href is None:
            unwrap(link)
        elif href != written:
            link.attrs["href"] = href
    for image, written in zip(images, sources, strict=True):
        source = resolved[written]
        if source is None:
            replace(image, Text(image.attr("alt") or ""))
        elif source != written:
            image.attrs["src"] = source


def base_of(bases: Iterable[Element], url: str) -> str:
    """What the addresses of a page found at `url` are relative to: the first of its `<base>` that says so, or `url`."""
    href = next((href for base in bases if (href := base.attr("href")) is not None), None)
    if href is None:
        return url
    try:
        return urljoin(url, href.strip())
    except ValueError:
        return url


class _Resolved(dict[str, str | None]):
    """Whole addresses, by those that are resolved against one base; None for what cannot be opened.

    some_are_odd: whether any of them holds what has to be encoded.
    """

    def __init__(self, base: str, *, some_are_odd: bool) -> None:
        super().__init__()
        self._some_are_odd = some_are_odd
        self._base = base
        found = _BASE.match(base)
        self._root, path = (found[1], found[2]) if found else ("", "")
        self._above = [part for part in path.split("/") if part]
        self._folders: dict[str, str] = {}  # the whole address of each by how it is written

    def __missing__(self, address: str) -> str | None:
        is_odd = self._some_are_odd and any(map(address.__contains__, _ODD))
        written = encoded(address) if is_odd else address
        whole = self[address] = written if written.startswith(_WHOLE) else self._resolve(written)
        return whole

    def _resolve(self, address: str) -> str | None:
        found = _SIMPLE.fullmatch(address)
        if found is None:
            return self._join(address) if is_openable(address) else None
        folder = found[1] or ""
        if folder not in self._folders:
            self._folders[folder] = self._folder(folder)
        return self._folders[folder] + address[len(folder) :]

    def _folder(self, folder: str) -> str:
        if not self._root or "//" in folder:
            return self._join(f"{folder}x")[:-1]
        above = [] if folder[:1] == "/" else self._above.copy()
        for part in folder.split("/"):
            if part == "..":
                del above[-1:]
            elif part and part != ".":
                above.append(part)
        return "/".join((self._root, *above, ""))

    def _join(self, address: str) -> str:
        try:
            return urljoin(self._base, address)
        except ValueError:
            return address
