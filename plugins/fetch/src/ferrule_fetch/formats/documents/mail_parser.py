"""The parser of e-mails: the one of the standard library, with a limit on the work that a mail may make for it.

Work is counted in lines that are looked at. The parser holds each line against the boundary of every multipart that
may be open, so a line counts once more for each of them.
"""

from __future__ import annotations

from email import policy
from email.feedparser import BytesFeedParser
from email.message import EmailMessage
from typing import NamedTuple

_MAX_WORK_LINES = 800_000  # a mail of 25 MiB with attachments in one multipart has 700,000
_MAX_PARTS = 300
_MAX_HEADERS = 5_000  # of all parts together
_MAX_HEADER_CHARS = 2_000
_MAX_HEADERS_CHARS = 40_000  # of the headers that are kept, in all parts together
_CHUNK_BYTES = 1 << 13

_OF_PARTS = frozenset(
    {"mime-version", "content-type", "content-disposition", "content-id", "content-transfer-encoding"}
)
_OF_THE_MAIL = _OF_PARTS | {"from", "to", "cc", "date", "subject"}


class ParsedMail(NamedTuple):
    """message: with the headers that are needed alone. is_whole: False where it makes more work than it may."""

    message: EmailMessage
    is_whole: bool


class _TooManyHeaders(Exception):
    """The parser is given up within a head; what it has made so far stays."""


class _Work:
    """What the parts of one mail have cost."""

    def __init__(self) -> None:
        self.parts: list[EmailMessage] = []
        self.headers = self.header_chars = self.multiparts = self.lines = 0

    def is_too_much(self) -> bool:
        """Whether no more is to be read."""
        return self.lines > _MAX_WORK_LINES or len(self.parts) > _MAX_PARTS


class _Part(EmailMessage):
    """A part that keeps the headers that are needed. Each is parsed once, and cut before that.

    The standard library parses a header whenever it is asked for, in time that grows with the square of its length.
    """

    def __init__(self, work: _Work) -> None:
        super().__init__(policy.default)
        self._work = work
        work.parts.append(self)
        self._kept = _OF_THE_MAIL if len(work.parts) == 1 else _OF_PARTS

    def set_raw(self, name: str, value: str) -> None:
        """Take a header from the parser. Raises _TooManyHeaders."""
        work = self._work
        work.headers += 1
        if work.headers > _MAX_HEADERS:
            raise _TooManyHeaders
        if name.lower() not in self._kept or name in self or work.header_chars > _MAX_HEADERS_CHARS:
            return
        value = value[:_MAX_HEADER_CHARS]
        work.header_chars += len(value)
        try:
            # From here on the object is given back as it is, and not parsed again.
            parsed = self.policy.header_fetch_parse(name, value)
        except Exception:  # noqa: BLE001 - the parser of headers fails on malformed ones in every way that Python knows
            return
        if name.lower() == "content-type" and value.lstrip().lower().startswith("multipart/"):
            work.multiparts += 1
        super().set_raw(name, parsed)


def parse_mail(body: bytes) -> ParsedMail:
    """Parse an e-mail, or its beginning. Raises what the module email raises."""
    work = _Work()
    parser = BytesFeedParser(lambda: _Part(work), policy=policy.default)
    fed = 0
    try:
        while fed < len(body) and not work.is_too_much():
            chunk = body[fed : fed + _CHUNK_BYTES]
            parser.feed(chunk)
            work.lines += (1 + work.multiparts) * (chunk.count(b"\n") + chunk.count(b"\r") + 1)
            fed += len(chunk)
        return ParsedMail(parser.close(), fed >= len(body))
    except _TooManyHeaders:
        for part in work.parts:
            if part.get_payload() is None:
                part.set_payload("")
        return ParsedMail(work.parts[0], False)
