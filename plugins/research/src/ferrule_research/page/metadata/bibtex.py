"""References as BibTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_research.page.metadata.authors import Name
    from ferrule_research.page.metadata.reference import Reference

_KINDS = {  # of CSL: the type of BibTeX, and its field for the container
    "article-journal": ("article", "journal"),
    "paper-conference": ("inproceedings", "booktitle"),
    "chapter": ("incollection", "booktitle"),
    "book": ("book", "series"),
    "thesis": ("phdthesis", "school"),
    "report": ("techreport", "institution"),
}
_OTHERS = ("misc", "howpublished")
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
}


def write_bibtex(references: Sequence[Reference]) -> str:
    """The entries, in their order. What TeX takes for a command is escaped."""
    return "\n\n".join(map(write_entry, references))


def write_entry(reference: Reference) -> str:
    """One entry, under the key of the reference."""
    kind, container = _KINDS.get(reference.kind, _OTHERS)
    date, accessed = reference.date, reference.accessed
    fields = {
        "author": " and ".join(map(_write_name, reference.authors)),
        "title": "{" + escape_tex(reference.title) + "}",
        container: escape_tex(reference.container),
        "publisher": escape_tex(reference.publisher),
        "volume": escape_tex(reference.volume),
        "number": escape_tex(reference.issue),
        "pages": escape_tex(reference.pages.replace("--", "-").replace("–", "-").replace("-", "--")),
        "year": str(date.year) if date else "",
        "month": str(date.month) if date and date.month else "",
        "doi": _verbatim(reference.doi),
        "url": _verbatim(reference.address),
        "urldate": accessed.iso() if accessed else "",
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{kind}{{{reference.key},\n" + ",\n".join(lines) + "\n}"


def escape_tex(text: str) -> str:
    """A text of one line, in which TeX finds no command."""
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))


def _write_name(name: Name) -> str:
    if name.literal or not name.given:
        return "{" + escape_tex(name.family) + "}"
    return ", ".join(_write_part(part) for part in (name.family, name.suffix, name.given) if part)


def _write_part(text: str) -> str:
    """A part of a name, in braces where BibTeX would find two parts or two names in it."""
    part = escape_tex(text)
    return f"{{{part}}}" if "," in part or "and" in part.lower().split() else part


def _verbatim(text: str) -> str:
    """An address or a DOI, in which nothing is escaped, and which may not end the field."""
    return "".join(text.split()).replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D")
