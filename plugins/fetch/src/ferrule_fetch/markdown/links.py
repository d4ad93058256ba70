"""Where links and images lead."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urljoin

from ferrule_fetch.markdown import escapes

# Besides those of the web: what the HTML standard lets a site name a handler for, since it can do no harm.
_SCHEMES = frozenset(
    {"http", "https", "bitcoin", "ftp", "ftps", "geo", "im", "irc", "ircs", "magnet", "mailto", "matrix", "mms"}
    | {"news", "nntp", "openpgp4fpr", "sftp", "sip", "sms", "smsto", "ssh", "tel", "urn", "webcal", "wtai"}
    | {"xmpp"}
)
_SIMPLE = re.compile(r"((?!//)(?:[A-Za-z0-9_.-]*/)*)([A-Za-z0-9_-][A-Za-z0-9_.-]*(?:\#[A-Za-z0-9_.:-]*)?)")
_ABSOLUTE = re.compile(
    r"https?://[a-z0-9.-]+(?::[0-9]+)?/(?:[A-Za-z0-9_~%=&?+,:-]++/?|\.(?![./]))*+(?:\#[A-Za-z0-9_.:-]*)?"
)
_ROOTED = re.compile(r"/(?:[A-Za-z0-9_~%=&+,:-]++/?|[.?](?=[A-Za-z0-9_-]))*+(?:\#[A-Za-z0-9_.:-]+)?")
_FRAGMENT = re.compile(r"\#[A-Za-z0-9_.:-]*")
_ODD = re.compile(r"""[\x00-\x20"<>`{}|\\^\x7f-\x9f()]|&(?=\#?\w+;)""")
_UNFIT = re.compile(r"[\x00-\x20<>\\`&]")  # to be written as an autolink
_BLANK = "".join(map(chr, range(0x21)))
_IGNORED = re.compile(r"[\t\n\r]")


class Address(NamedTuple):
    """A whole address, and what is written for it in markdown."""

    url: str
    markdown: str


class Target:
    """Where a link leads.

    title: what a browser shows when it is pointed at. label: its name, where it has no text. here: whether it is only
    another place of the same page.
    """

    __slots__ = ("_alone", "_target", "here", "label")

    def __init__(self, address: Address, title: str = "", label: str = "", *, here: bool = False) -> None:
        self.label = label
        self.here = here
        self._alone = "" if title else address.url
        self._target = write_target(address, title) if title else address.markdown

    def around(self, text: str) -> str:
        """The link with a text, which is markdown. An address that is its own text is written once."""
        alone = self._alone
        if text[:4] == alone[:4] and text and text.replace("\\", "") == alone and not _UNFIT.search(alone):
            return f"<{alone}>"
        return f"[{text}]({self._target})"


def write_target(address: Address, title: str) -> str:
    """Address and title as they stand between the parentheses of a link or image."""
    return f"{address.markdown} {escapes.title(title)}" if title else address.markdown


class Links:
    """Resolves addresses against the page's own and its `<base>`."""

    def __init__(self, url: str) -> None:
        self._page = url
        self._rebase(url)

    def use_base(self, href: str) -> None:
        """Resolve what follows against a `<base>`."""
        self._rebase(_join(self._page, href) or self._page)

    def resolve(self, href: str) -> Address | None:
        """The whole address; None where it leads to nothing that can be opened, such as a script."""
        if href not in self._known:
            self._known[href] = self._resolve(href)
        return self._known[href]

    def _rebase(self, base: str) -> None:
        self._base = base
        self._here = self._openable(base.partition("#")[0])
        self._known: dict[str, Address | None] = {}
        self._folders: dict[str, Address | None] = {}

    def _resolve(self, href: str) -> Address | None:
        # what one of the patterns matches is written as it is
        if _ABSOLUTE.fullmatch(href):
            return Address(href, href)
        if _FRAGMENT.fullmatch(href):
            return _within(self._here, href)
        if simple := _SIMPLE.fullmatch(href):
            return _within(self._folder(simple[1] or "."), simple[2])
        if _ROOTED.fullmatch(href):
            return _within(self._folder("/"), href[1:])
        if href.startswith("#"):
            return self._openable(self._base.partition("#")[0] + href.rstrip(_BLANK))
        return self._openable(_join(self._base, href))

    def _folder(self, path: str) -> Address | None:
        """The whole address of a folder; None where there is none to be opened."""
        if path not in self._folders:
            self._folders[path] = self._openable(_join(self._base, path))
        return self._folders[path]

    def _openable(self, url: str | None) -> Address | None:
        if url is None or url.partition(":")[0].lower() not in _SCHEMES:
            return None
        return Address(url, _destination(url))


def _within(place: Address | None, name: str) -> Address | None:
    return place and Address(place.url + name, place.markdown + name)


def _join(base: str, href: str) -> str | None:
    """What a browser makes of an address, without the checks that it takes to open it."""
    href = _IGNORED.sub("", href).strip(_BLANK)
    try:
        return urljoin(base, href)
    except ValueError:
        return None


def _destination(url: str) -> str:
    if not _ODD.search(url):
        return url
    balanced = escapes.is_balanced(re.findall(r"[()]", url), "(", deepest=30)
    return _ODD.sub(lambda found: _encode(found[0], balanced=balanced), url)


def _encode(character: str, *, balanced: bool) -> str:
    if character in "()":
        return character if balanced else f"\\{character}"
    return "&amp;" if character == "&" else f"%{ord(character):02X}"
