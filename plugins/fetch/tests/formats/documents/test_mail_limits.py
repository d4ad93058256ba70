"""What a mail may cost: the lines and the characters of headers that are looked at do not grow with its size."""

from collections.abc import Callable
from email.feedparser import BytesFeedParser
from email.headerregistry import HeaderRegistry

import pytest

from ferrule_fetch.formats.documents.mail import BEGINNING, read_mail

_SIZE = 1 << 20
_HEAD = b"From: a@b.example\nSubject: Report\n"
_MIXED = _HEAD + b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
_FIRST = b"--x\n\nwords that are read\n"


def repeat(piece: bytes) -> bytes:
    return piece * (_SIZE // len(piece))


class Work:
    """What the parsers of the standard library are given."""

    def __init__(self) -> None:
        self.lines = self.header_chars = self.headers = 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    counted = Work()
    feed, parse = BytesFeedParser.feed, HeaderRegistry.__call__

    def count_lines(parser: BytesFeedParser, data: bytes) -> None:
        counted.lines += data.count(b"\n")
        feed(parser, data)

    def count_header(registry: HeaderRegistry, name: str, value: str) -> object:
        counted.headers += 1
        counted.header_chars += len(value)
        return parse(registry, name, value)

    monkeypatch.setattr(BytesFeedParser, "feed", count_lines)
    monkeypatch.setattr(HeaderRegistry, "__call__", count_header)
    return counted


@pytest.mark.parametrize(
    "body",
    [
        lambda: _HEAD + b"To: " + repeat(b"a@b.example, ") + b"\n\nwords",
        lambda: _HEAD + b"To: " + repeat(b"g:;") + b"\n\nwords",
        lambda: _HEAD + b"Cc: " + repeat(b"<") + b"\n\nwords",
        lambda: _HEAD + b"Content-Type: text/plain" + repeat(b"; a*0=b") + b"\n\nwords",
        lambda: _MIXED + _FIRST + repeat(b"--x\nContent-Disposition: attachment; filename=a\n\na\n"),
        lambda: _MIXED + _FIRST + repeat(b"--x\n\na\n"),
        lambda: _HEAD + repeat(b"To: a@b.example\n") + b"\nwords",
        lambda: _HEAD + b"Date: " + repeat(b"1 ") + b"\n\nwords",
    ],
    ids=["addresses", "groups", "brackets", "parameters", "attachments", "parts", "headers", "date"],
)
def test_a_mail_does_not_make_its_size_the_work(work: Work, body: Callable[[], bytes]) -> None:
    text = read_mail(body(), "").text
    assert "**Subject:** Report" in text
    assert work.header_chars < 60_000
    assert work.headers < 1_500
    assert work.lines < 100_000
    assert text.endswith("words") or "words that are read" in text or BEGINNING in text


@pytest.mark.process
def test_lines_count_once_more_for_each_multipart_around_them(work: Work) -> None:
    depth = 60
    heads = (f"Content-Type: multipart/mixed; boundary=x{at}\n\n--x{at}\n" for at in range(depth))
    text = read_mail(_HEAD + "".join(heads).encode() + b"\nwords\n" + repeat(b"more\n"), "").text
    assert work.lines * depth < 1_500_000
    assert text.endswith(BEGINNING)


@pytest.mark.process
def test_a_mail_of_usual_size_is_read_to_its_end() -> None:
    attachment = b"--x\nContent-Disposition: attachment; filename=%d.bin\nContent-Transfer-Encoding: base64\n\n"
    lines = (b"A" * 76 + b"\n") * 20_000
    body = _MIXED + _FIRST + b"".join(attachment % at + lines for at in range(3)) + b"--x--\n"
    text = read_mail(body, "").text
    assert "words that are read" in text
    assert text.endswith("- 0\\.bin\n- 1\\.bin\n- 2\\.bin")


def test_a_header_that_its_parser_fails_on_costs_that_header() -> None:
    text = read_mail(_HEAD + b"To: " + b"(" * 5_000 + b"\n\nwords", "").text
    assert text.endswith("words")
