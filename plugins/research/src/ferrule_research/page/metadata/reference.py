"""A reference, whoever writes it and in whatever format, and as CSL-JSON has it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from ferrule.text.invisible import without_invisible
from ferrule_research.hosts import host_of

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.page.metadata.authors import Name
    from ferrule_research.page.metadata.dates import Date

JOURNAL, PREPRINT, WEBPAGE = "article-journal", "article", "webpage"
_SMALL_WORDS = frozenset(["a", "an", "the", "on", "of", "in", "and", "for", "to", "der", "die", "das", "la", "le"])
_KEY_CHARS = 30
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Reference(NamedTuple):
    """What a reference is written from. What is not known is empty or None.

    kind: a type of CSL. container: the journal, the book or the site. accessed: when a page was read, if that is said.
    """

    title: str
    authors: Sequence[Name] = ()
    date: Date | None = None
    container: str = ""
    kind: str = JOURNAL
    doi: str = ""
    url: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    accessed: Date | None = None
    key: str = ""

    @property
    def address(self) -> str:
        """The DOI's address, else the URL."""
        return f"https://doi.org/{self.doi}" if self.doi else self.url

    def cleaned(self) -> Self:
        """The reference without characters that are not seen, and without authors of no name."""
        return self._replace(
            authors=[one for one in map(_clean_name, self.authors) if one.family],
            title=_clean(self.title),
            container=_clean(self.container),
            doi=_clean(self.doi),
            url=_clean(self.url),
            volume=_clean(self.volume),
            issue=_clean(self.issue),
            pages=_clean(self.pages),
            publisher=_clean(self.publisher),
        )

    def as_csl(self) -> JSONObject:
        """The item of CSL-JSON."""
        item: JSONObject = {"id": self.key, "type": self.kind, "title": self.title}
        names = [_csl_name(name) for name in self.authors]
        if names:
            item["author"] = names
        for name, date in (("issued", self.date), ("accessed", self.accessed)):
            if date:
                item[name] = {"date-parts": [[part for part in date if part]]}
        texts = {
            "container-title": self.container,
            "volume": self.volume,
            "issue": self.issue,
            "page": self.pages,
            "publisher": self.publisher,
            "DOI": self.doi,
            "URL": self.address,
        }
        return item | {name: value for name, value in texts.items() if value}


def sort_by_key(references: Sequence[Reference]) -> list[Reference]:
    """The references with keys such as `lecun2015deep`, each once, in the order of keys and then of addresses."""
    return name_keys(sorted(references, key=lambda one: (_make_key(one), one.address)))


def name_keys(references: Iterable[Reference]) -> list[Reference]:
    """The references in their order, each with a key that no other one has."""
    made = [(one, _make_key(one)) for one in (reference.cleaned() for reference in references)]
    taken, numbers = {key for _, key in made}, dict.fromkeys((key for _, key in made), 1)
    found = []
    for one, key in made:
        unique = key + _suffix(numbers[key])
        while numbers[key] > 1 and unique in taken:  # what another title makes by itself
            numbers[key] += 1
            unique = key + _suffix(numbers[key])
        numbers[key] += 1
        taken.add(unique)
        found.append(one._replace(key=unique))
    return found


def _clean(text: str) -> str:
    """A text on one line, as every format has it."""
    return " ".join(without_invisible(text).split())


def _clean_name(name: Name) -> Name:
    """A name on one line; what is given alone is all there is of it."""
    family, given, suffix = _clean(name.family), _clean(name.given), _clean(name.suffix)
    return name._replace(family=family or given, given=given if family else "", suffix=suffix)


def _suffix(number: int) -> str:
    """Nothing, a, b, …, z, then z1, z2, …"""
    if number == 1:
        return ""
    place = number - 2
    return _LETTERS[place] if place < len(_LETTERS) else f"z{place - len(_LETTERS) + 1}"


def _make_key(reference: Reference) -> str:
    who = _as_key(reference.authors[0].family) if reference.authors else ""
    words = [word for word in re.findall(r"\w+", reference.title) if word.lower() not in _SMALL_WORDS]
    year = str(reference.date.year) if reference.date else ""
    who = who or ("" if reference.doi else _as_key(host_of(reference.url)))
    return f"{who or 'anon'}{year}{_as_key(words[0]) if words else ''}"


def _as_key(text: str) -> str:
    """Letters and digits of ASCII. Letters of other scripts, which have none, give their code."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ø", "o").replace("Ø", "O"))
    letters = [one for one in plain.lower() if one.isalnum() and not unicodedata.combining(one)]
    return "".join(one if one.isascii() else f"{ord(one):x}" for one in letters)[:_KEY_CHARS]


def _csl_name(name: Name) -> JSONObject:
    if name.literal or not name.given:
        return {"literal": name.family}
    return {"family": name.family, "given": name.given, **({"suffix": name.suffix} if name.suffix else {})}
