"""Addresses as pages spell them: what a browser ignores in them, and which of them can be opened."""

from __future__ import annotations

from urllib.parse import urljoin

from ferrule_fetch.patterns import compile_late

# Besides those of the web: what the HTML standard lets a site name a handler for, since it can do no harm.
_SCHEMES = frozenset(
    {"http", "https", "bitcoin", "ftp", "ftps", "geo", "im", "irc", "ircs", "magnet", "mailto", "matrix", "mms"}
    | {"news", "nntp", "openpgp4fpr", "sftp", "sip", "sms", "smsto", "ssh", "tel", "urn", "webcal", "wtai"}
    | {"xmpp"}
)
_SCHEME = compile_late(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.\-\t\n\r]*):")
_IGNORED = compile_late(r"[\t\n\r]")  # by browsers, anywhere in an address
_BLANKS = "".join(map(chr, range(0x21)))
_ODD = compile_late(r'[\x00-\x20"<>`]')  # what would end an address in markdown, or hide what follows it


def is_openable(href: str) -> bool:
    """Whether an address leads to something that can be opened: by its scheme, or because it has none."""
    scheme = _SCHEME.match(href)
    return scheme is None or _IGNORED.sub("", scheme[1]).lower() in _SCHEMES


def encoded(href: str) -> str:
    """An address without what a browser ignores, and with odd characters encoded."""
    return _ODD.sub(lambda found: f"%{ord(found[0]):02X}", _IGNORED.sub("", href).strip(_BLANKS))


def resolved(base: str, href: str) -> str | None:
    """The whole address, as it is written in markdown; None where it cannot be opened."""
    try:
        url = urljoin(base, encoded(href))
    except ValueError:
        return None
    return url.replace("(", "%28").replace(")", "%29").replace("\\", "%5C") if _has_scheme(url) else None


def _has_scheme(url: str) -> bool:
    return bool(_SCHEME.match(url)) and is_openable(url)
