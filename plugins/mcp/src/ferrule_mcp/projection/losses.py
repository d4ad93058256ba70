"""What a projection changes or cannot keep, collected by kind, and a sentence for each of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

_MAX_PLACES = 8  # that a sentence names
_ROOT = "the arguments"

UNCHECKED = "unchecked"
COMBINATION = "combination"
TEXT = "text"
NAME = "name"
CUT = "cut"
TYPE = "type"
REFERENCE = "reference"
DEEP = "deep"
FOLDED = "folded"
IMPOSSIBLE = "impossible"
VALUE = "value"
LINK = "link"

_SENTENCES = {
    COMBINATION: "Which values go together is checked by the server alone: {}.",
    TEXT: "Written as text that holds JSON: {}.",
    NAME: "Renamed, because a provider refuses the name: {}.",
    CUT: "Descriptions are cut: {}.",
    TYPE: "No type is said; the one that the keywords suggest is taken: {}.",
    REFERENCE: "A reference leads out of the schema or to nothing, so any value is taken: {}.",
    DEEP: "What is nested too deeply is not read: {}.",
    FOLDED: "Given in one argument as a JSON object, for lack of room: {}.",
    IMPOSSIBLE: "Left out, because no value fits the schema: {}.",
    LINK: "Linked for a provider, its schema has more bytes than a client reads: {}.",
    VALUE: "Values that JSON cannot hold are left out: {}.",
}


class Loss(NamedTuple):
    """kind: a constant of this module. place: as in `filter.tags[]`. keyword: what is unchecked, else the change."""

    kind: str
    place: str
    keyword: str = ""


class Losses:
    """Every loss of one projection, each once."""

    def __init__(self, details: Iterable[Loss] = ()) -> None:
        self._details = dict.fromkeys(details)

    @property
    def details(self) -> list[Loss]:
        """Each loss, in the order of their adding."""
        return list(self._details)

    def add(self, kind: str, place: str, keyword: str = "") -> None:
        """Add one, where it is new."""
        self._details.setdefault(Loss(kind, place, keyword))

    def tell(self) -> list[str]:
        """A sentence for each kind, and for each keyword that the server alone checks."""
        grouped: dict[tuple[str, str], list[str]] = {}
        for kind, place, keyword in self._details:
            name = place or _ROOT
            key = (kind, keyword) if kind == UNCHECKED else (kind, "")
            grouped.setdefault(key, []).append(f"{name} {keyword}" if keyword and kind != UNCHECKED else name)
        return [_write_sentence(kind, keyword, places) for (kind, keyword), places in grouped.items()]


def _write_sentence(kind: str, keyword: str, places: list[str]) -> str:
    named = ", ".join(places[:_MAX_PLACES])
    if len(places) > _MAX_PLACES:
        named += f" and {len(places) - _MAX_PLACES:,} more"
    if kind == UNCHECKED:
        return f"{keyword} is checked by the server alone: {named}."
    return _SENTENCES[kind].format(named)
