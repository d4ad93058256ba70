"""How much a supervised child may say: of each kind of message so many, of so many bytes together.

What the parent does with a message takes time in which nothing else is looked at, such as the deadline. So the sum of
all that a child can make it do is bounded here, and a child that says more is ended.

How deeply a message is nested is bounded, too. Python reads and writes JSON by recursion, as deeply as its stack leaves
room for: what can just be read here could not be written where more functions are being called.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

_KIB = 1 << 10

# By the letter of the kind: how many, how many bytes together (0: what an answer may have, each), and what they are.
LIMITS: Mapping[bytes, tuple[int, int, str]] = {
    b"s": (200, 64 * _KIB, "secrets"),
    b"e": (10_000, 16 << 20, "events"),
    b"f": (20, 0, "failures"),  # the first that is one ends the call
    b"r": (20, 0, "results"),  # as above
    b"w": (10_000, 1 << 20, "names of wrappers"),
    b"k": (4, 0, "preliminary results"),
    b"m": (1, 128 * _KIB, "lists of imported modules"),
    b"l": (1, 64, "listeners"),
    b"d": (20, 512 * _KIB, "lists of what was denied"),
    b"q": (300, 16 << 20, "questions"),
    b"u": (1, 64, "words on its further use"),
}
_OTHERS = 1_000, 1 << 20, "lines that are no message"
KEPT_EVENTS, KEPT_EVENT_BYTES = 100, 8 << 20  # of those that nobody takes as they come
_MAX_NESTING = 500  # objects and lists in one another; about half of what Python's stack has room for
_HOLDERS = (dict, list, tuple)
_LARGEST_SECRET_BYTES = 16 * _KIB
_SECRET = b"s"


def is_nested_too_deeply(document: bytes, value: object) -> bool:
    """Whether more objects and lists are in one another than a message may have. document: the value as JSON."""
    if document.count(b"[") + document.count(b"{") <= _MAX_NESTING or not isinstance(value, _HOLDERS):
        return False
    level = [value]
    for _ in range(_MAX_NESTING):
        members = (one.values() if isinstance(one, dict) else one for one in level)
        level = [inner for those in members for inner in those if isinstance(inner, _HOLDERS)]
        if not level:
            return False
    return True


class MessageCount:
    """What one child has said. size_limit: bytes that an answer may have."""

    __slots__ = ("_bytes", "_counts", "_size_limit")

    def __init__(self, size_limit: int) -> None:
        self._size_limit = size_limit
        self._counts: dict[bytes, int] = {}
        self._bytes: dict[bytes, int] = {}

    def add(self, kind: bytes, size: int) -> str | None:
        """Count a message; why it is too much, as a sentence, or None. size: bytes of its document."""
        name = kind if kind in LIMITS else b""
        number, total, what = LIMITS.get(name, _OTHERS)
        count = self._counts[name] = self._counts.get(name, 0) + 1
        said = self._bytes[name] = self._bytes.get(name, 0) + size
        if count > number:
            return f"The tool's process sent the host more than {number:,} {what}."
        most = total or count * (self._size_limit + 1)  # a preliminary result has the letter of its kind
        if said > most:
            return f"The tool's process sent the host more than {most:,} bytes of {what}."
        if name == _SECRET and size > _LARGEST_SECRET_BYTES:
            return f"The tool's process named a secret of more than {_LARGEST_SECRET_BYTES:,} bytes."
        return None
