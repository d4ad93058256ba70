"""Bytes to text, by the rules that browsers have."""

import codecs
import re

import webencodings

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_PRESCAN = 1024  # bytes in which a page has to say what it is written in
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.S)
_META = re.compile(rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.I)
_XML = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([^"']+)""", re.I)

# Python's codecs of these names know fewer characters than what the web means by them.
_WIDER = {"shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gb18030", "big5": "big5hkscs"}


def decode(body: bytes, charset: str, *, html: bool, complete: bool = True) -> str:
    """Decode a page, without its byte order mark; what cannot be decoded becomes U+FFFD.

    The encoding is that of the byte order mark, else `charset` from the HTTP header, else what the page says
    at its beginning, else UTF-8 where it is that, else windows-1252. Only the WHATWG's labels are known.

    html: the page may say it in a meta element. complete: False where the body may end within a character.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    encoding = webencodings.lookup(charset) or _declared(body, html=html)
    if encoding is None:
        return _guessed(body, complete=complete)
    if encoding.name in _WIDER:
        return body.decode(_WIDER[encoding.name], "replace")
    return encoding.codec_info.decode(body, "replace")[0]


def _declared(body: bytes, *, html: bool) -> webencodings.Encoding | None:
    head = body[:_PRESCAN]
    found = _XML.match(head) or (_META.search(_COMMENT.sub(b"", head)) if html else None)
    encoding = webencodings.lookup(found[1].decode("ascii", "replace")) if found else None
    # what could be read as ASCII up to here is not UTF-16, whatever it says
    return webencodings.UTF8 if encoding and encoding.name.startswith("utf-16") else encoding


def _guessed(body: bytes, *, complete: bool) -> str:
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(body, final=complete)
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")
