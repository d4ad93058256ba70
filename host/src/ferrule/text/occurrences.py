"""Where any of several texts stands in a longer one, found in one pass, however many they are."""

from __future__ import annotations

from itertools import islice

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ahocorasick_rs import BytesAhoCorasick

    Span = tuple[int, int]  # of bytes: the first, and the one behind the last

MAX_PLACES = 50_000  # that are told one by one
_FEW = 64  # texts, for which looking for each takes less than importing what finds them in one pass
_MAX_ROUNDS = 4
_NO_TEXT = b"\xff"  # a byte that no text has


class Occurrences:
    """Finds texts, none of which is empty: a few one after the other, and many by one automaton."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._texts = list(dict.fromkeys(texts))
        self._automaton: BytesAhoCorasick | None = None

    def find(self, data: bytes) -> list[Span]:
        """All places, in order; those that overlap are one. From MAX_PLACES on, one place that holds all of them."""
        if len(self._texts) <= _FEW:
            spans = list(islice((span for text in self._texts for span in _places(text, data)), MAX_PLACES))
            return _joined(spans) if len(spans) < MAX_PLACES else [(0, len(data))]
        if self._automaton is None:
            from ahocorasick_rs import BytesAhoCorasick, MatchKind

            self._automaton = BytesAhoCorasick(self._texts, matchkind=MatchKind.LeftmostLongest)
        spans = []
        for _ in range(_MAX_ROUNDS):
            new = [(start, end) for _, start, end in self._automaton.find_matches_as_indexes(data)]
            if not new:
                break
            spans += new
            if len(spans) >= MAX_PLACES:
                return [(0, len(data))]
            data = _without_first_bytes(data, new)  # what overlaps with what was found, and begins behind it
        return _joined(spans)


def _places(text: bytes, data: bytes) -> Iterable[Span]:
    at = data.find(text)
    while at >= 0:
        yield at, at + len(text)
        at = data.find(text, at + len(text))


def _without_first_bytes(data: bytes, spans: Sequence[Span]) -> bytes:
    changed = bytearray(data)
    for start, _ in spans:
        changed[start : start + 1] = _NO_TEXT
    return bytes(changed)


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
