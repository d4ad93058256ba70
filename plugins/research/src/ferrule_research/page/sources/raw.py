"""The bytes of a page as they came."""

from __future__ import annotations

import codecs
from binascii import b2a_base64
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.library import FetchOptions, fetch
from ferrule_research.page.metadata.embedded import cut, one_line

if TYPE_CHECKING:
    from ferrule import Context

_MAX_TYPE_BYTES = 1 << 10  # of a header that may have any length
# Charsets of Python's own, and transformations of bytes or text that have the names of charsets
_NO_CHARSETS = frozenset(
    (
        *("zlib", "bz2", "hex", "base64", "quopri", "uu", "rot13", "rot-13", "punycode", "idna", "undefined"),
        *("unicode_escape", "raw_unicode_escape", "unicode-escape", "raw-unicode-escape"),
    )
)


class RawPage(NamedTuple):
    """What a server sent. encoding: "base64" where JSON cannot hold it as text, "" where `content` is the text."""

    url: str
    content_type: str
    content: str
    truncated: bool
    encoding: str


def read_raw(url: str, context: Context, max_bytes: int) -> RawPage:
    """Fetch `max_bytes` at most, under every guard of a fetch. Raises ToolError."""
    page = fetch(url, context, options=FetchOptions("*/*", lambda _: max_bytes, lambda _: True), is_page=True)
    text, encoding = _as_text(page.body, page.type.charset, whole=not page.missing), ""
    if text is None:
        text, encoding = b2a_base64(page.body, newline=False).decode(), "base64"
    content_type = cut(one_line(page.content_type), _MAX_TYPE_BYTES)
    return RawPage(page.url, content_type, text, bool(page.missing), encoding)


def _as_text(body: bytes, charset: str, *, whole: bool) -> str | None:
    """The text that is these bytes in UTF-8, or in the charset that the server names; None where neither says it.

    The end of a body that was cut may be a part of a character, which is left out.
    """
    for name in ("utf-8", charset):
        text = _decoded(body, name, whole=whole)
        if text is not None and "\0" not in text:
            return text
    return None


def _decoded(body: bytes, charset: str, *, whole: bool) -> str | None:
    """The text, if there is one. Not all that Python decodes is a charset: `zlib` would unpack gigabytes."""
    try:
        name = codecs.lookup(charset).name if charset else ""
        if not name or name in _NO_CHARSETS or name.endswith("_codec"):
            return None
        text = codecs.getincrementaldecoder(name)().decode(body, final=whole)
        text.encode()  # which a half of a surrogate pair cannot be
    except (LookupError, ValueError, TypeError, AttributeError):
        return None
    return text
