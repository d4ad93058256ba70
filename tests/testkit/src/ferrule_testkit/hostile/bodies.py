"""Bodies that are compressed to hurt, or written in what is no character set."""

import gzip
import struct
import zlib
from collections.abc import Callable
from functools import cache

from ferrule_testkit.hostile.case import NEEDLE, NETWORK, PARSE, Case, body, raw
from ferrule_testkit.hostile.transport import OK, drip, flood, trapped

PAGE = f"<title>T</title><p>{NEEDLE}".encode()
UNASKED, DAMAGED = "was not asked for", "not compressed in the way its headers say"
CUT, REST = "before the whole body had come", "The page goes on"
MIB, GIB = 1 << 20, 1 << 30


@cache
def bomb(unit: bytes = b"\0", head: bytes = PAGE) -> bytes:
    """Deflated data, without a header, that grows to `head` and a GiB of one unit more. Its blocks are all the same."""
    packer = zlib.compressobj(9, wbits=-15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(unit * (MIB // len(unit))) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + block * (GIB // MIB) + packer.flush()


@cache
def gzip_bomb(unit: bytes = b"\0", head: bytes = PAGE) -> bytes:
    """The same as gzip."""
    checksum, size = zlib.crc32(head), len(head)
    for _ in range(GIB // MIB):
        checksum = zlib.crc32(unit * (MIB // len(unit)), checksum)
        size += MIB // len(unit) * len(unit)
    return b"\x1f\x8b\x08\0\0\0\0\0\2\xff" + bomb(unit, head) + struct.pack("<II", checksum, size & 0xFFFFFFFF)


def raw_deflate(data: bytes) -> bytes:
    """Deflate without its header."""
    packer = zlib.compressobj(9, wbits=-15)
    return packer.compress(data) + packer.flush()


def packed(name: str, encoding: str, data: object, **expected: object) -> Case:
    """A body with a Content-Encoding."""
    return body(name, data, headers={"Content-Encoding": encoding}, **expected)  # type: ignore[arg-type] # passed on as they are


def head_of(encoding: bytes) -> bytes:
    return OK + b"Content-Encoding: " + encoding + b"\r\n\r\n"


GOOD = gzip.compress(PAGE)


def named() -> bytes:
    """As gzip, with a file name of 3 MB."""
    return b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"n" * 3_000_000 + b"\0" + raw_deflate(PAGE) + GOOD[-8:]


def filled(unit: bytes, times: int) -> Callable[[], bytes]:
    """The page with so many units behind it, made when it is asked for: what is kept costs each fork of a worker."""
    return lambda: PAGE + unit * times


COMPRESSED = [
    packed("is compressed as it should be", "gzip", GOOD, says=NEEDLE),
    packed("is compressed, by an old name", "x-gzip", GOOD, says=NEEDLE),
    packed("is compressed, in capitals", "GZIP", GOOD, says=NEEDLE),
    packed("is deflated", "deflate", zlib.compress(PAGE), says=NEEDLE),
    packed("is deflated without a header", "deflate", raw_deflate(PAGE), says=NEEDLE),
    packed(
        "is compressed in three members",
        "gzip",
        GOOD + gzip.compress(b"<p>second") + gzip.compress(b"<p>third"),
        says=(NEEDLE, "second", "third"),
    ),
    packed("has padding after its last member", "gzip", GOOD + bytes(512), says=NEEDLE),
    packed("has garbage after its last member", "gzip", GOOD + b"garbage", says=NEEDLE),
    packed("is not compressed at all, whatever it says", "identity", PAGE, says=NEEDLE),
    packed("is compressed, and then left as it is", "gzip, identity", GOOD, says=NEEDLE),
    packed("has an empty encoding", " ", PAGE, says=NEEDLE),
    packed("is cut within a member", "gzip", GOOD[:-12], says=("The needle", REST)),
    packed("is cut within a checksum", "gzip", GOOD[:-3], says=(NEEDLE, REST)),
    packed("is cut within a header", "gzip", GOOD[:6], code=NETWORK, says=CUT),
    packed("is compressed to nothing", "gzip", b"", code=PARSE, says="no words"),
    packed("has a wrong checksum", "gzip", GOOD[:-8] + bytes(8), code=NETWORK, says=DAMAGED),
    packed("has a wrong length after its checksum", "gzip", GOOD[:-4] + b"\1\2\3\4", code=NETWORK, says=DAMAGED),
    packed("is damaged within", "gzip", GOOD[:15] + b"\xff\xff\xff\xff" + GOOD[19:], code=NETWORK),
    packed("is said to be compressed and is not", "gzip", PAGE, code=NETWORK, says=DAMAGED),
    packed("is said to be deflated and is not", "deflate", b"<p>" + PAGE, code=NETWORK, says=DAMAGED),
    packed("has reserved flags in its header", "gzip", GOOD[:3] + b"\xe0" + GOOD[4:], code=NETWORK, says=DAMAGED),
    packed("has a file name of 3 MB in its header", "gzip", named, says=NEEDLE),
    packed("is a bomb of 1 GiB", "gzip", gzip_bomb, says=(NEEDLE, "10 MiB")),
    packed("is a bomb of 1 GiB of text", "gzip", lambda: gzip_bomb(b"more and more\n"), says=NEEDLE),
    packed("is a bomb of 1 GiB of tags", "gzip", lambda: gzip_bomb(b"<p>x</p>"), says=NEEDLE),
    packed("is a bomb, deflated", "deflate", bomb, says=NEEDLE),
    packed("is a bomb in two members", "gzip", lambda: GOOD + gzip_bomb(), says=NEEDLE),
    packed("is a million empty members", "gzip", lambda: gzip.compress(b"") * 500_000 + GOOD),
    packed("is a bomb in a bomb", "gzip, gzip", lambda: gzip.compress(gzip_bomb()), code=NETWORK, says=UNASKED),
    packed("is a bomb in a bomb that is not admitted", "gzip", lambda: gzip.compress(gzip_bomb()), code=PARSE),
    packed("is compressed fifty times", ", ".join(["gzip"] * 50), GOOD, code=NETWORK, says=UNASKED),
    packed("is compressed by brotli", "br", bytes(99), code=NETWORK, says=UNASKED),
    packed("is compressed by zstd", "zstd", b"\x28\xb5\x2f\xfd" + bytes(99), code=NETWORK, says=UNASKED),
    packed("is compressed by compress", "compress", b"\x1f\x9d" + bytes(99), code=NETWORK, says=UNASKED),
    packed("is compressed by what nobody knows", "snappy", PAGE, code=NETWORK, says=UNASKED),
    packed("is compressed by gzip and brotli", "gzip, br", GOOD, code=NETWORK, says=UNASKED),
    packed("names an encoding of 60 kB", "x" * 60_000, PAGE, code=NETWORK, says=UNASKED),
    raw(
        "names its encoding in two headers",
        OK + b"Content-Encoding: gzip\r\n" + head_of(b"gzip")[len(OK) :] + GOOD,
        code=NETWORK,
        says=UNASKED,
    ),
    raw("decodes to nothing for ever", head_of(b"gzip"), then=flood(gzip.compress(b"") * 500)),
    trapped("drips a compressed body for ever", head_of(b"gzip") + GOOD[:10], then=drip(b"\0\0\0\xff\xff")),
    raw(
        "hides a bomb behind a redirect",
        b"HTTP/1.1 302 Found\r\nContent-Encoding: br\r\n\r\n" + bytes(99),
        code=NETWORK,
    ),
]


def charset(name: str, label: str, data: bytes | Callable[[], bytes] = PAGE, **expected: object) -> Case:
    """A body with a charset in its Content-Type."""
    return body(name, data, f"text/html; charset={label}", **expected)  # type: ignore[arg-type] # passed on as they are


def meta(label: str) -> bytes:
    return f'<meta charset="{label}">'.encode() + PAGE


ODD = [
    "base64",
    "zlib",
    "bz2",
    "hex",
    "rot13",
    "uu",
    "undefined",
    "idna",
    "punycode",
    "unicode_escape",
    "raw_unicode_escape",
]

CHARSETS = [
    *(charset(f"is written in {label}, a codec of Python's", label, says=NEEDLE) for label in ODD),
    *(
        body(f"says in a meta element that it is written in {label}", meta(label), "text/html", says=NEEDLE)
        for label in ("utf-16", "hex", "unicode_escape")
    ),
    charset("names a charset of 50 kB", "x" * 50_000, says=NEEDLE),
    charset("names a charset with a null in it", "utf-8%00", says=NEEDLE),
    charset("names a charset with a path in it", "../../encodings/rot_13", says=NEEDLE),
    charset(
        "is no UTF-8, whatever it says",
        "utf-8",
        PAGE + b"\xff\xfe\xc0\xaf\xed\xa0\x80\xf8\x88",
        says=(NEEDLE, "\ufffd"),
    ),
    charset("has half a character at its end", "utf-8", PAGE + "漢".encode()[:2], says=NEEDLE),
    charset("has 10 MiB of bytes that are no UTF-8", "utf-8", filled(b"\xff", 10 << 20), says=NEEDLE),
    charset("has an odd number of bytes as UTF-16", "utf-16", (NEEDLE + "x").encode("utf-16-le")[:-1], says=NEEDLE),
    charset(
        "has lone surrogates in UTF-16", "utf-16le", NEEDLE.encode("utf-16-le") + b"\x00\xd8A\x00\x00\xdc", says=NEEDLE
    ),
    charset("has a mark of UTF-8, and says UTF-16", "utf-16", b"\xef\xbb\xbf" + PAGE, says=NEEDLE),
    charset("has a mark of UTF-16, and says UTF-8", "utf-8", b"\xff\xfe" + NEEDLE.encode("utf-16-le"), says=NEEDLE),
    charset("has three byte order marks", "utf-8", b"\xef\xbb\xbf" * 3 + PAGE, says=NEEDLE, never="\ufeff"),
    charset(
        "is UTF-7 with a script in it",
        "utf-7",
        PAGE + b"+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
        says=NEEDLE,
        never="<script>",
    ),
    charset("ends within an escape of ISO-2022-JP", "iso-2022-jp", PAGE + b"\x1b$B", says=NEEDLE),
    charset("is 300 kB of escapes of ISO-2022-JP", "iso-2022-jp", PAGE + b"\x1b$B\x1b(B" * 50_000, says=NEEDLE),
    # Each has a decoder of its own, and the one that takes longest by far is given all that may be given.
    *(
        charset(f"is 10 MiB of bytes that are no {label}", label, filled(b"\xff\x80\x1b", 10 << 18), says=NEEDLE)
        for label in ("gb18030", "shift_jis")
    ),
    *(
        charset(f"is 1 MiB of bytes that are no {label}", label, filled(b"\xff\x80\x1b", 1 << 18), says=NEEDLE)
        for label in ("iso-2022-jp", "big5", "euc-jp")
    ),
    body("is 10 MiB of bytes and names no charset", filled(b"\xe4\xff\x80x", 10 << 18), "text/html", says=NEEDLE),
    charset("is broken Shift_JIS", "shift_jis", PAGE + b"\x81\xff\x80" * 999, says=NEEDLE),
    charset("is broken GB18030", "gb18030", PAGE + b"\x81\x30\x81" * 999, says=NEEDLE),
    charset("is broken Big5", "big5", PAGE + b"\xa1\x00\xff" * 999, says=NEEDLE),
    charset("is in EUC-KR that ends too soon", "euc-kr", PAGE + b"\xb0", says=NEEDLE),
]

KINDS = [
    body("is an image, and says so", b"\x89PNG\r\n\x1a\n" + bytes(99), "image/png", code=PARSE),
    body("is an image, and says HTML", b"\x89PNG\r\n\x1a\n" + bytes(99), code=PARSE),
    body("is a program, and says text", b"\x7fELF" + bytes(999), "text/plain", code=PARSE),
    body("is null characters, and says text", bytes(99_999), "text/plain", code=PARSE),
    body("is null characters, and says nothing", bytes(99_999), "", code=PARSE),
    body("is random bytes, and says text", bytes(range(256)) * 99, "text/plain", code=PARSE),
    body("is an archive, and says nothing", b"PK\x03\x04" + bytes(99), "", code=PARSE),
    body("is a film without end", b"x", "video/mp4", code=PARSE, headers={"Content-Length": str(1 << 40)}),
    body("is broken PDF", b"%PDF-1.7\n" + b"\x00\xff<<>>" * 999, "application/pdf", code=PARSE),
    body("is deep JSON", b"[" * 500_000, "application/json", says="[[["),
    body("is JSON with long numbers", b"[" + b"9" * 500_000 + b"]", "application/json", says="["),
    body(
        "is JSON with what JSON cannot hold", b'{"a": NaN, "b": "\\ud800", "c": 1e999}', "application/json", says="NaN"
    ),
    body("is 10 MiB of JSON", lambda: b"[" + b'{"a": 1},' * (10 << 17) + b"1]", "application/json", says='"a"'),
    body(
        "is XML with a billion laughs",
        b'<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
        b'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><r>&c;</r>',
        "application/xml",
        says="&c;",
        never="haha",
    ),
    body(
        "is XML with a file in it",
        b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>',
        "text/xml",
        says="&a;",
        never="root:",
    ),
    body(
        "is a feed with a billion laughs",
        b'<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;">]><rss><channel><title>&b;</title></channel></rss>',
        "application/rss+xml",
        never="haha",
    ),
    body("is deep XML", b"<a>" * 200_000, "text/xml", says="<a>"),
    body(
        "is a line of 10 MiB of text",
        lambda: NEEDLE.encode() + b"x" * (10 << 20),
        "text/plain",
        says=(NEEDLE, "is cut"),
    ),
    body("is 10 MiB of line ends", lambda: NEEDLE.encode() + b"\n" * (10 << 20), "text/plain", says=NEEDLE),
    body("is 10 MiB of carriage returns", lambda: NEEDLE.encode() + b"\r" * (10 << 20), "text/plain", says=NEEDLE),
    body("is 10 MiB of short lines", lambda: NEEDLE.encode() + b"\nab" * (3 << 20), "text/plain", says=NEEDLE),
    body(
        "is 10 MiB of short lines with carriage returns",
        lambda: NEEDLE.encode() + b"\r\nab" * (5 << 19),
        "text/plain",
        says=NEEDLE,
    ),
    body(
        "is 10 MiB of wide characters",
        lambda: (NEEDLE + "\U0001f600" * (5 << 19)).encode(),
        "text/plain; charset=utf-8",
        says=NEEDLE,
    ),
    body(
        "is 10 MiB of text and one wide character",
        lambda: (NEEDLE + "x\n" * (10 << 19) + "\U0001f600").encode(),
        "text/plain; charset=utf-8",
        says=NEEDLE,
    ),
    body("is 10 MiB of control characters", lambda: NEEDLE.encode() + b"x\x01" * (5 << 20), "text/plain", code=PARSE),
    body("is 10 MiB of what JSON escapes", lambda: NEEDLE.encode() + b'"\\' * (5 << 20), "text/plain", says=NEEDLE),
]

CASES = [case._replace(group="bodies") for group in (COMPRESSED, CHARSETS, KINDS) for case in group]
