"""What a keeper and those that have calls made say to each other: frames of a letter, a size and bytes.

A caller begins with HELLO and waits for ACCEPTED before it reads its input, so that a call which the keeper does not
take can still be made without it.
"""

from __future__ import annotations

import resource
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERSION = b"1"

HELLO, INPUT, INPUT_END, SIGNAL, PING = b"H", b"D", b"E", b"S", b"P"  # of callers
FACTS, STOP = b"F", b"X"  # of `ferrule keep`
ACCEPTED, REFUSED, BEGUN, PONG, ANSWER, EVENT = b"A", b"R", b"B", b"Q", b"O", b"V"  # of the keeper

MAX_FRAME_BYTES = 1 << 20
_HEAD = struct.Struct("<cI")
_SIZE = struct.Struct("<I")
_LIMITS = 16  # resources that the kernel has


class FrameMalformed(ValueError):
    """What came is not what this version says."""


class Hello(NamedTuple):
    """What a caller says of itself.

    orders: as `ferrule link` has written them, JSON. limits: `soft:hard,…`. wants_events: as they happen, each a frame.
    """

    orders: bytes
    folder: str
    umask: int
    is_terminal: bool
    limits: str
    environ: dict[str, str]
    wants_events: bool = False


class FrameReader:
    """Takes frames out of bytes that come in pieces."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The frames that are whole now, each as its letter and its bytes. Raises FrameMalformed."""
        self._data += data
        while len(self._data) >= _HEAD.size:
            kind, size = _HEAD.unpack_from(self._data)
            if size > MAX_FRAME_BYTES:
                raise FrameMalformed("a frame is too large")
            end = _HEAD.size + size
            if len(self._data) < end:
                return
            payload = bytes(self._data[_HEAD.size : end])
            del self._data[:end]
            yield kind, payload


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    """One frame."""
    return _HEAD.pack(kind, len(payload)) + payload


def answer_frame(exit_code: int, document: bytes, text: bytes) -> bytes:
    """The frame of an answer: what goes to stdout, without a newline, and to stderr."""
    return frame(ANSWER, bytes([exit_code]) + _SIZE.pack(len(document)) + document + text)


def split_answer(payload: bytes) -> tuple[int, bytes, bytes]:
    """What an answer holds: the exit code, the document, and the text for stderr. Raises FrameMalformed."""
    if len(payload) < 1 + _SIZE.size:
        raise FrameMalformed("an answer is cut off")
    (size,) = _SIZE.unpack_from(payload, 1)
    begin = 1 + _SIZE.size
    if begin + size > len(payload):
        raise FrameMalformed("a document is cut off")
    return payload[0], payload[begin : begin + size], payload[begin + size :]


def limits_text() -> str:
    """The limits of this process, as a caller sends them."""
    pairs = (resource.getrlimit(number) for number in range(_LIMITS))
    return ",".join(f"{soft}:{hard}" for soft, hard in pairs)


def hello_frame(hello: Hello) -> bytes:
    """The frame with which a caller begins."""
    fields = [
        VERSION,
        hello.orders,
        hello.folder.encode(errors="surrogateescape"),
        f"{hello.umask:o}".encode(),
        (b"t" if hello.is_terminal else b"") + (b"v" if hello.wants_events else b""),
        hello.limits.encode(),
        *(f"{name}={value}".encode(errors="surrogateescape") for name, value in hello.environ.items()),
    ]
    return frame(HELLO, b"".join(_SIZE.pack(len(field)) + field for field in fields))


def parse_hello(payload: bytes) -> Hello:
    """What a caller says of itself. Raises FrameMalformed, also for another version."""
    fields = _split(payload)
    if not fields or fields[0] != VERSION:
        raise FrameMalformed("another version of the protocol")
    try:
        _, orders, folder, umask, flags, limits, *variables = fields
        pairs = (one.decode(errors="surrogateescape").partition("=") for one in variables)
        environ = {name: value for name, separator, value in pairs if separator and name}
        text = folder.decode(errors="surrogateescape")
        is_terminal, wants_events = b"t" in flags, b"v" in flags
        return Hello(orders, text, int(umask, 8) & 0o777, is_terminal, limits.decode("ascii"), environ, wants_events)
    except ValueError:
        raise FrameMalformed("a field is malformed") from None


def _split(payload: bytes) -> Sequence[bytes]:
    fields, at = [], 0
    while at < len(payload):
        if at + _SIZE.size > len(payload):
            raise FrameMalformed("a size is cut off")
        (size,) = _SIZE.unpack_from(payload, at)
        at += _SIZE.size
        if at + size > len(payload):
            raise FrameMalformed("a field is cut off")
        fields.append(payload[at : at + size])
        at += size
    return fields
