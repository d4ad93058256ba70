"""Bytes to text, by the rules that browsers have."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule import ToolError

if TYPE_CHECKING:
    import webencodings

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

# Python's codecs of these names know fewer characters than what the web means by them.
_WIDER = {"shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gb18030", "gb18030": "gb18030", "big5": "big5hkscs"}
_FAR_FROM_PYTHON = frozenset({"big5", "euc-jp", "iso-2022-jp"})  # no codec of Python is near what the web means
_ONE_BYTE_EURO = "ferrule_fetch.euro"
_UTF_8 = ("utf-8", "utf8")
_BEGINNING_BYTES = 1 << 16
_MIN_CONFIDENCE = 0.6  # in a guess, where several encodings of the same letters are at stake
_MIN_LETTERS = 3  # of which none is another; a sign for pounds alone can be a letter elsewhere


def decode(body: bytes, charset: str, *, html: bool, complete: bool = True, url: str = "") -> str:
    """Decode a page, without its byte order mark; what cannot be decoded becomes U+FFFD.

    The encoding is that of the byte order mark, else `charset` from the HTTP header, else what the page says at its
    beginning, else UTF-8 where it is that, else what its letters look like, else windows-1252. Only the WHATWG's labels
    are known.

    Args:
        html: the page may say it in a meta element.
        complete: False where the body may end within a character.
        url: where it comes from; the country may tell what the letters are.

    Raises:
        ToolError PARSE_ERROR for an encoding that the web has given up.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return _whole(body[len(mark) :].decode(codec, "replace"), complete)
    if (
        charset.lower() in _UTF_8
    ):  # as nearly all servers say, and it takes neither the table of labels nor a look inside
        return _whole(body.decode("utf-8", "replace"), complete)
    from webencodings import lookup

    from ferrule_fetch.text.prescan import declared

    encoding = lookup(charset) or declared(body, html=html)
    if encoding is None:
        return _undeclared(body, complete, url)
    if encoding.name == "replacement":
        written = f"written in {charset or 'a character set'}, which browsers refuse to read"
        raise ToolError("PARSE_ERROR", f"Failed to parse HTML: the page is {written}")
    return _whole(_decode(body, encoding), complete)


def _decode(body: bytes, encoding: webencodings.Encoding) -> str:
    if encoding.name in _FAR_FROM_PYTHON:
        try:
            import turbohtml.detect  # noqa: F401 - registers the codecs of the standard

            return body.decode(f"whatwg-{encoding.name}")
        except ImportError:  # it is compiled, and not to be had everywhere
            pass
    codec = _WIDER.get(encoding.name)
    if codec is None:
        return encoding.codec_info.decode(body, "replace")[0]
    return body.decode(codec, _ONE_BYTE_EURO if codec == "gb18030" else "replace")


def _with_one_byte_euro(error: UnicodeError) -> tuple[str, int]:
    """The euro sign that Windows added to GBK in one byte, and Python never did."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    is_euro = error.object[error.start] == 0x80
    return ("€", error.start + 1) if is_euro else ("\ufffd", error.end)


codecs.register_error(_ONE_BYTE_EURO, _with_one_byte_euro)


def _undeclared(body: bytes, complete: bool, url: str) -> str:
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(body, final=complete)
    except UnicodeDecodeError:
        pass
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if len(text) - len(text.encode("ascii", "ignore")) > 20 * broken:  # UTF-8 with a slip in it
        return _whole(text, complete)
    guessed = _guessed(body, url)
    return _whole(_decode(body, guessed) if guessed else body.decode("cp1252", "replace"), complete)


def _guessed(body: bytes, url: str) -> webencodings.Encoding | None:
    """The encoding that the letters look like, as browsers guess it; None where they look like nothing."""
    try:
        from turbohtml.detect import Detection, detect
    except ImportError:
        return None
    from webencodings import lookup

    country = (urlsplit(url).hostname or "").rstrip(".").rpartition(".")[2]
    is_known = country.isascii() and (country.isalpha() or country.startswith("xn--"))
    guess = detect(body, Detection(tld=country if is_known else None))
    found = lookup(guess.encoding or "")
    if found and (guess.language or (guess.confidence >= _MIN_CONFIDENCE and _has_letters(body, found))):
        return found
    return None


def _has_letters(body: bytes, encoding: webencodings.Encoding) -> bool:
    beginning = set(_decode(body[:_BEGINNING_BYTES], encoding))
    return sum(letter.isalpha() and not letter.isascii() for letter in beginning) >= _MIN_LETTERS


def _whole(text: str, complete: bool) -> str:
    return text if complete else text.rstrip("\ufffd")
