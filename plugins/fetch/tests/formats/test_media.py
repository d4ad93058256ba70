"""What a body is taken for, and what is said of one that is no text."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_fetch.formats.magic_bytes import kind_by_signature
from ferrule_fetch.formats.media import ContentType, Format, format_of, parse_content_type

Fetch = Callable[..., dict[str, Any]]
Error = Callable[..., tuple[str, str]]

HTML, TEXT, XML, JSON, PDF = Format.HTML, Format.TEXT, Format.XML, Format.JSON, Format.PDF


@pytest.mark.parametrize(
    ("header", "media", "charset"),
    [
        ("", "", ""),
        ("text/html", "text/html", ""),
        ("TEXT/HTML; CHARSET=UTF-8", "text/html", "UTF-8"),
        ('text/html;charset="utf-8"', "text/html", "utf-8"),
        ("text/html; charset='utf-8'", "text/html", "utf-8"),
        ("text/html ;  charset = koi8-r ; x=y", "text/html", "koi8-r"),
        ("text/html charset=utf-8", "", ""),
        ("text/html; x-charset=nonsense; charset=utf-8", "text/html", "utf-8"),
        ("text/html; charset=utf-8; charset=koi8-r", "text/html", "utf-8"),
        ("text/html; charset=", "text/html", ""),
        ("text/plain, text/html; charset=gbk", "text/html", "gbk"),
        ("text/html; charset=gbk, text/html", "text/html", "gbk"),
        ("text/html; charset=gbk, text/plain", "text/plain", ""),
        ("text/html, */*", "text/html", ""),
        ("html", "", ""),
        ("; charset=utf-8", "", "utf-8"),
        ("text/html; charset=utf-8" + ", x" * 100_000, "text/html", "utf-8"),
        ("image/\x1b[31mpng", "", ""),
        ("image/\u202epng, text/\U000e0041", "", ""),
        ("image/" + "x" * 128, "", ""),
    ],
)
def test_a_content_type_is_read_however_it_is_written(header: str, media: str, charset: str) -> None:
    assert parse_content_type(header) == ContentType(media, charset)


@pytest.mark.parametrize(
    ("media", "body", "form"),
    [
        ("text/html", b"plain words", HTML),
        ("application/xhtml+xml", b"<html/>", HTML),
        ("text/plain", b"<!DOCTYPE html><p>shown as it is", TEXT),
        ("text/markdown", b"<h1>markdown</h1>", TEXT),
        ("text/html", b"%PDF-1.4", PDF),
        ("text/html", b"<?xml version='1.0'?><!-- x --> <rss version='2.0'>", XML),
        ("text/html", b"<feed xmlns='x'>", XML),
        ("text/html", b"<p><rss>", HTML),
        ("", b"\n%PDF-1.4", PDF),
        ("application/octet-stream", b"%PDF-1.4", PDF),
        ("text/plain", b"%PDF-1.4", PDF),
        ("application/pdf", b"%PDF-1.4", PDF),
        ("application/pdf", b"<html><p>Log in first", HTML),
        ("application/pdf", b"no PDF", TEXT),
        ("", b"<!doctype HTML>", HTML),
        ("", b"\xef\xbb\xbf \n<html lang=en>", HTML),
        ("", b"<!-- a comment --> <!-- another --><p>", HTML),
        ("application/octet-stream", b"<body>", HTML),
        ("", b"<pre>", TEXT),
        ("", b"<?xml version='1.0'?><a/>", XML),
        ("", b"<?xml version='1.0'?><html xmlns='x'>", HTML),
        ("", b'{"a": 1}', JSON),
        ("", b"{ not json }", TEXT),
        ("", b"[1]", JSON),
        ("text/xml", b"<a/>", XML),
        ("image/svg+xml", b"<svg/>", XML),
        ("application/problem+json", b"{}", JSON),
        ("text/json", b"{}", JSON),
        ("", b"words", TEXT),
        ("", b"", TEXT),
    ],
)
def test_how_a_body_is_read(media: str, body: bytes, form: Format) -> None:
    assert format_of(ContentType(media, ""), body, "http://host/page") is form


@pytest.mark.parametrize("name", ["README.md", "a.markdown", "notes.TXT", "b.md?raw=1#part"])
def test_a_name_that_is_one_of_text_keeps_markdown_from_being_read_as_html(name: str) -> None:
    assert format_of(ContentType("", ""), b"<h1 align=center>Logo</h1>\n\n# Title", f"http://host/{name}") is TEXT


def _zip(*names: str, media: str = "") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("mimetype",) * bool(media) + names:
            archive.writestr(name, media or "<x/>" * 50)
    return file.getvalue()


BINARIES = [
    (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
    (b"GIF89a\1\0", "a GIF image"),
    (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
    (b"RIFF\1\0\0\0WEBPVP8 ", "a WebP image"),
    (b"\0\0\0\x1cftypavif\0", "an AVIF image"),
    (b"\0\0\0\x1cftypheic\0", "an HEIF image"),
    (b"BM\x36\0\0\0\0\0\0\0", "a BMP image"),
    (b"II*\0\x08", "a TIFF image"),
    (b"\0\0\1\0\1", "an icon"),
    (b"ID3\4\0", "an MP3 audio file"),
    (b"\xff\xfb\x90\0", "an MP3 audio file"),
    (b"OggS\0\2", "an Ogg audio or video file"),
    (b"fLaC\0", "a FLAC audio file"),
    (b"RIFF\1\0\0\0WAVEfmt ", "a WAV audio file"),
    (b"\0\0\0\x18ftypisom", "an MP4 video"),
    (b"\x1a\x45\xdf\xa3\1", "a WebM or Matroska video"),
    (_zip("a.txt"), "a ZIP archive"),
    (_zip("META-INF/MANIFEST.MF"), "a Java archive"),
    (b"\x1f\x8b\x08\0", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c\0", "a 7-Zip archive"),
    (b"Rar!\x1a\x07\1\0", "a RAR archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"x" * 257 + b"ustar\0", "a tar archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "an old Microsoft Office document"),
    (b"%!PS-Adobe-3.0\n", "a PostScript document"),
    (b"{\\rtf1\\ansi words}", "an RTF document"),
    (b"wOF2\0\1", "a WOFF2 font"),
    (b"\0\1\0\0\0\x0c", "a TrueType font"),
    (b"\0asm\1\0\0\0", "a WebAssembly module"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF\2\1\1\0", "a Linux program"),
    (b"MZ\x90\0", "a Windows program"),
    (b"\xcf\xfa\xed\xfe\7\0", "a macOS program"),
]


@pytest.mark.process
@pytest.mark.parametrize(("body", "kind"), BINARIES, ids=[kind for _, kind in BINARIES])
@pytest.mark.parametrize("media", ["text/html", ""])
def test_a_binary_is_refused_by_its_first_bytes_whatever_it_is_called(
    server: Server, error: Error, media: str, body: bytes, kind: str
) -> None:
    called = f" ({media})" if media else ""
    message = f"Failed to parse HTML: the server sent {kind}{called}, {len(body)} bytes, which is not text"
    assert error(server.page("/", body, media)) == ("PARSE_ERROR", message)


@pytest.mark.process
@pytest.mark.parametrize("text", [b"MZ is no program", b"BMW", b"ID3 tags", b"PAR1S", b"RIFFs", b"GIF89a", b"fLaC"])
def test_text_that_begins_like_a_binary_is_text(server: Server, fetch: Fetch, text: bytes) -> None:
    assert kind_by_signature(text) is None
    assert fetch(server.page("/", text, "text/plain"))["content"] == text.decode()


@pytest.mark.process
@pytest.mark.parametrize(
    ("media", "told"),
    [
        ("image/png", "a PNG image (image/png), 24.3 kB"),
        ("image/x-tiny", "an image (image/x-tiny), 24.3 kB"),
        ("video/mp4", "a video (video/mp4), 24.3 kB"),
        ("application/zip", "a ZIP archive (application/zip), 24.3 kB"),
        ("application/vnd.ms-fontobject", "a file (application/vnd.ms-fontobject), 24.3 kB"),
    ],
)
def test_a_binary_is_refused_by_its_type_with_its_size(server: Server, error: Error, media: str, told: str) -> None:
    expected = ("PARSE_ERROR", f"Failed to parse HTML: the server sent {told}, which is not text")
    assert error(server.page("/", b"<" * 24_310, media)) == expected


@pytest.mark.process
@pytest.mark.parametrize(
    ("length", "told"),
    [("", ""), ("999", ", 999 bytes"), ("5400000000", ", 5.4 GB"), ("1500000", ", 1.5 MB")],
)
def test_the_size_of_a_binary_is_what_the_server_announces(
    server: Server, error: Error, length: str, told: str
) -> None:
    url = server.page("/", b"", "video/mp4", headers={"Content-Length": length, "Connection": "close"})
    _, message = error(url)
    assert message == f"Failed to parse HTML: the server sent a video (video/mp4){told}, which is not text"


@pytest.mark.process
@pytest.mark.parametrize("body", [b"\0\1\2\3", b"words\0words", b"\1\2\3words" * 10])
def test_bytes_that_are_no_text_are_refused(server: Server, error: Error, body: bytes) -> None:
    code, message = error(server.page("/", body, "text/plain"))
    assert code == "PARSE_ERROR"
    assert message.startswith("Failed to parse HTML: the server sent binary data (text/plain), ")


@pytest.mark.process
def test_a_control_character_does_not_make_a_text_binary(server: Server, fetch: Fetch) -> None:
    url = server.page("/", b"a log \x1b[31min red\x1b[0m and \x02 more", "text/plain")
    assert fetch(url)["content"].startswith("a log")
