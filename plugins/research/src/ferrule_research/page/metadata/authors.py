"""The names of authors, taken apart into what a citation needs."""

from __future__ import annotations

import re
from typing import NamedTuple

_PARTICLES = frozenset(
    (
        *("af", "al", "av", "ben", "bin", "da", "das", "de", "del", "dela", "della", "den", "der", "des", "di"),
        *("do", "dos", "du", "el", "ibn", "la", "las", "le", "los", "of", "ten", "ter", "til", "van", "vom"),
        *("von", "zu", "zum", "zur", "'t", "y"),
    )
)
_WRITTEN_LARGE = frozenset(["De", "Del", "Della", "Di", "Du", "La", "Le", "Van", "Von"])
_SUFFIXES = frozenset(["jr", "sr", "ii", "iii", "iv"])
_DEGREES = frozenset(["phd", "ph.d", "md", "m.d", "dr", "prof", "msc", "ba", "ma", "mba", "frs", "rn", "esq"])
_ORGANISATION = re.compile(
    r"\b(?:academy|agency|archives?|association|associates|authority|bank|board|bureau|centers?|centre|college"
    r"|commission|committee|company|consortium|contributors|corporation|council|department|editors?|editorial|team"
    r"|foundation|gmbh|government|group|inc|initiative|institute|institution|journal|laboratory|library|limited|llc|ltd"
    r"|magazine|ministry|museum|network|news|newsroom|office|organi[sz]ation|press|project|service|society|staff"
    r"|times|trust|union|university|writers|foundation|verlag|hospital|community|desk)\b",
    re.I,
)
_AND = re.compile(r"\s*(?:;|\s&\s|,?\s+and\s+|,?\s+und\s+)\s*")
_BY = re.compile(r"(?:by|von|par)\s+(?=[A-Z])", re.I)
_INITIALS = re.compile(r"[^\W\d_]")
MAX_AUTHORS = 100


class Name(NamedTuple):
    """An author. family: all there is where nothing else is known. literal: it is never taken apart or turned round."""

    family: str
    given: str = ""
    suffix: str = ""
    literal: bool = False

    def initials(self) -> str:
        """`J.-P. R.` of `Jean-Paul René`."""
        parts = (part for part in re.split(r"[\s.]+", self.given) if _INITIALS.match(part))
        return " ".join("-".join(f"{piece[0].upper()}." for piece in part.split("-") if piece) for part in parts)

    def full_name(self) -> str:
        """`Given Family`, as it is spoken."""
        return " ".join(filter(None, [self.given, self.family, self.suffix]))

    def inverted_name(self) -> str:
        """`Family, Given`."""
        return ", ".join(filter(None, [self.family, self.given, self.suffix]))


def parse_organisation(name: str) -> Name:
    """An author that is no person."""
    return Name(_trim(name), literal=True)


def parse_person(text: str) -> Name:
    """The name of one author, who may be an organisation all the same; a comma in it means that it is inverted."""
    text = _BY.sub("", _trim(text), count=1)
    parts = [part for part in (part.strip() for part in text.split(",")) if part and not _is_degree(part)]
    if not parts or _ORGANISATION.search(text):
        return Name(text, literal=True)
    suffix = parts.pop() if len(parts) > 1 and parts[-1].lower().rstrip(".") in _SUFFIXES else ""
    if len(parts) > 1:
        return Name(parts[0], " ".join(parts[1:]), suffix)
    return _parse_spoken(parts[0], suffix)


def parse_authors(text: str) -> list[Name]:
    """The authors that one text names: `Ann Lee, Bo Ek and Cy Day`, but `Lee, Ann` is one."""
    if _ORGANISATION.search(text) and ";" not in text:
        return [parse_organisation(text)] if _trim(text) else []
    found: list[Name] = []
    for part in _AND.split(_BY.sub("", _trim(text), count=1)):
        found += _parse_list(part)
    return found[:MAX_AUTHORS]


def _parse_list(text: str) -> list[Name]:
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    whole = [piece for piece in pieces if not _is_degree(piece) and piece.lower().rstrip(".") not in _SUFFIXES]
    if len(whole) > 1 and all(" " in piece for piece in whole):
        return [parse_person(piece) for piece in whole]
    return [parse_person(text)] if whole else []


def _parse_spoken(text: str, suffix: str) -> Name:
    """`Given Family`, where the family's name begins with a particle or is the last word."""
    words = text.split()
    if len(words) > 1 and words[-1].lower().rstrip(".") in _SUFFIXES:
        suffix = words.pop()
    if len(words) == 1:
        return Name(words[0], suffix=suffix)
    begin = next((at for at, word in enumerate(words) if at and _is_particle(word)), len(words) - 1)
    begin = min(begin, len(words) - 1)
    return Name(" ".join(words[begin:]), " ".join(words[:begin]), suffix)


def _is_particle(word: str) -> bool:
    return word in _PARTICLES or word in _WRITTEN_LARGE or word.startswith(("d'", "d’"))


def _is_degree(word: str) -> bool:
    return word.lower().rstrip(".") in _DEGREES


def _trim(text: str) -> str:
    return " ".join(text.split()).strip(" ,;")[:300]
