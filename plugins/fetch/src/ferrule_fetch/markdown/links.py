"""Where links and images lead."""

import re
from typing import NamedTuple
from urllib.parse import urljoin

from ferrule_fetch.markdown import escaping

# Besides those of the web: what the HTML standard lets a site name a handler for, since it can do no harm.
_SCHEMES = frozenset(
    [
        "http",
        "https",
        "bitcoin",
        "ftp",
        "ftps",
        "geo",
        "im",
        "irc",
        "ircs",
        "magnet",
        "mailto",
        "matrix",
        "mms",
        "news",
        "nntp",
        "openpgp4fpr",
        "sftp",
        "sip",
        "sms",
        "smsto",
        "ssh",
        "tel",
        "urn",
        "webcal",
        "wtai",
        "xmpp",
    ]
)
_SIMPLE = re.compile(r"((?!//)(?:[A-Za-z0-9_.-]*/)*)([A-Za-z0-9_-][A-Za-z0-9_.-]*(?:\#[A-Za-z0-9_.:-]*)?)")
_ABSOLUTE = re.compile(
    r"https?://[a-z0-9.-]+(?::[0-9]+)?/(?:[A-Za-z0-9_~%=&?+,:-]++/?|\.(?![./]))*+(?:\#[A-Za-z0-9_.:-]*)?"
)
_ODD = re.compile(r"""[\x00-\x20"<>`{}|\\^\x7f-\x9f()]|&(?=\#?\w+;)""")
_UNFIT_FOR_AUTOLINK = re.compile(r"[\x00-\x20<>\\`&]")
_IGNORED = re.compile(r"[\t\n\r]")


class Address(NamedTuple):
    """A whole address, and what is written for it in markdown."""

    url: str
    written: str


class Target:
    """Where a link leads.

    title: what a browser shows when it is pointed at. label: its name, where it has no text. here: whether it is only
    another place of the same page.
    """

    __slots__ = ("_closing", "_spelt_out", "here", "label")

    def __init__(self, address: Address, title: str = "", label: str = "", *, here: bool = False) -> None:
        self.label = label
        self.here = here
        self._closing = f"]({written(address, title)})"
        self._spelt_out = "" if title or _UNFIT_FOR_AUTOLINK.search(address.url) else address.url

    def around(self, text: str) -> str:
        """The link with a text, which is markdown. An address that is its own text is written once."""
        if text[:4] == self._spelt_out[:4] and text.replace("\\", "") == self._spelt_out:
            return f"<{self._spelt_out}>"
        return f"[{text}{self._closing}"


def written(address: Address, title: str) -> str:
    """Address and title as they stand between the parentheses of a link or image."""
    return f"{address.written} {escaping.title(title)}" if title else address.written


class Links:
    """Resolves addresses against the page's own and its `<base>`."""

    def __init__(self, url: str) -> None:
        self._page = url
        self._known: dict[str, Address | None] = {}
        self._rebase(url)

    def use_base(self, href: str) -> None:
        """Resolve what follows against a `<base>`."""
        self._known.clear()
        self._rebase(_joined(self._page, href) or self._page)

    def resolve(self, href: str) -> Address | None:
        """The whole address; None where it leads to nothing that can be opened, such as a script."""
        if href not in self._known:
            url = self._resolved(href)
            self._known[href] = None if url is None else Address(url, _destination(url))
        return self._known[href]

    def _rebase(self, base: str) -> None:
        self._base = base
        self._folders: dict[str, str | None] = {}

    def _resolved(self, href: str) -> str | None:
        if _ABSOLUTE.fullmatch(href):
            return href
        simple = _SIMPLE.fullmatch(href)
        if simple:
            folder = self._folder(simple[1])
            return None if folder is None else folder + simple[2]
        if href.startswith("#"):
            return self._openable(self._base.partition("#")[0] + href.rstrip(_BLANK))
        return self._openable(_joined(self._base, href))

    def _folder(self, path: str) -> str | None:
        """The whole address of a folder; None where there is none to be opened."""
        if path not in self._folders:
            self._folders[path] = self._openable(_joined(self._base, path or "."))
        return self._folders[path]

    def _openable(self, url: str | None) -> str | None:
        return url if url is not None and url.partition(":")[0].lower() in _SCHEMES else None


def _joined(base: str, href: str) -> str | None:
    """What a browser makes of an address, without the checks that it takes to open it."""
    href = _IGNORED.sub("", href).strip(_BLANK)
    try:
        return urljoin(base, href)
    except ValueError:
        return None


_BLANK = "".join(map(chr, range(0x21)))


def _destination(url: str) -> str:
    if not _ODD.search(url):
        return url
    balanced = _is_balanced(url)
    return _ODD.sub(lambda found: _written(found[0], balanced=balanced), url)


def _written(character: str, *, balanced: bool) -> str:
    if character in "()":
        return character if balanced else f"\\{character}"
    return "&amp;" if character == "&" else f"%{ord(character):02X}"


def _is_balanced(url: str) -> bool:
    depth = 0
    for letter in re.findall(r"[()]", url):
        depth += 1 if letter == "(" else -1
        if not 0 <= depth <= 30:
            return False
    return depth == 0
