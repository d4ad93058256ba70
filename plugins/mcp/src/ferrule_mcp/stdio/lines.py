"""Bytes of a pipe as lines: whole ones of stdout, bounded, and the last ones of stderr."""

from __future__ import annotations

MAX_LINE_BYTES = 32 << 20  # of one message; in base64, that is a file of 24 MiB
MAX_OUTPUT_BYTES = 128 << 20  # of all that a server writes to stdout in one session
_TAIL_BYTES = 8 << 10
_MAX_LINE_CHARS = 500  # of a line of stderr in a failure


class OutputTooLarge(Exception):
    """A server writes more than it may. The text says what, as the end of a sentence."""


class LineReader:
    """Whole lines, without their ends, of what is read in pieces."""

    __slots__ = ("_count", "_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._count = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that end in this piece. Raises OutputTooLarge."""
        self._count += len(data)
        if self._count > MAX_OUTPUT_BYTES:
            raise OutputTooLarge(f"has written more than {MAX_OUTPUT_BYTES >> 20} MiB to stdout")
        self._pieces.append(data)
        self._size += len(data)
        lines: list[bytes] = []
        if b"\n" in data:  # a long line comes in many pieces, and only the last one ends it
            *lines, rest = b"".join(self._pieces).split(b"\n")
            self._pieces, self._size = [rest], len(rest)
        if max(self._size, *map(len, lines), 0) > MAX_LINE_BYTES:
            raise OutputTooLarge(f"has written a line of more than {MAX_LINE_BYTES >> 20} MiB to stdout")
        return lines

    def renew(self) -> None:
        """Count anew what comes: for the next call."""
        self._count = 0

    def take_rest(self) -> bytes:
        """What has come since the last end of a line, once nothing follows any more."""
        rest, self._pieces, self._size = b"".join(self._pieces), [], 0
        return rest


class Tail:
    """The last of what a server writes to stderr. size: bytes of all that it wrote."""

    __slots__ = ("_kept", "size")

    def __init__(self) -> None:
        self._kept = bytearray()
        self.size = 0

    def feed(self, data: bytes) -> None:
        """Take a piece."""
        self.size += len(data)
        self._kept += data
        if len(self._kept) > 2 * _TAIL_BYTES:
            del self._kept[:-_TAIL_BYTES]

    def renew(self) -> None:
        """Forget what came so far: for the next call."""
        self.size = 1 if self._kept and not self._kept.endswith(b"\n") else 0  # what follows is half a line then
        self._kept.clear()

    def last_lines(self, most: int) -> list[str]:
        """The last lines that are not blank, without colours and control characters.

        The first one that was kept is left out where its beginning was not: half a credential could stand there.
        """
        data = bytes(self._kept)
        if len(data) < self.size:
            data = data.partition(b"\n")[2]
        lines = clean_text(data.decode(errors="replace")).split("\n")
        return [line.rstrip() for line in lines if line.strip()][-most:]


def clean_text(text: str) -> str:
    """Text of a program without what moves a terminal's cursor or colours it; line ends and tabs stay."""
    if "\x1b" in text or "\x9b" in text:
        import re

        text = re.sub(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]?", "", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isprintable():
        return text
    return "".join(letter for letter in text if letter in "\n\t" or letter.isprintable())


def shorten_line(line: str) -> str:
    """A line as a failure shows it. Credentials are taken out of it before: half of one would not be found."""
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…"


def fit_text(text: str, most_chars: int) -> str:
    """A text that is not too long, else how long it is. It is not cut: the host could not find half a credential."""
    return text if len(text) <= most_chars else f"({len(text):,} characters)"
