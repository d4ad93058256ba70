"""References as RIS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_research.page.metadata.authors import Name
    from ferrule_research.page.metadata.dates import Date
    from ferrule_research.page.metadata.reference import Reference

_KINDS = {  # of CSL
    "article-journal": "JOUR",
    "article": "UNPB",
    "paper-conference": "CPAPER",
    "chapter": "CHAP",
    "book": "BOOK",
    "thesis": "THES",
    "report": "RPRT",
    "dataset": "DATA",
    "webpage": "ELEC",
}
_OTHERS = "GEN"


def write_ris(references: Sequence[Reference]) -> str:
    """The records, in their order, each from `TY` to `ER`."""
    return "\n\n".join(map(write_record, references))


def write_record(reference: Reference) -> str:
    """One record. Its `ID` is the key of the reference, where that has one."""
    return "\n".join(f"{tag}  - {value}" for tag, value in _lines(reference))


def _lines(reference: Reference) -> Iterator[tuple[str, str]]:
    yield "TY", _KINDS.get(reference.kind, _OTHERS)
    first, _, last = reference.pages.replace("–", "-").partition("-")
    fields = [
        ("ID", reference.key),
        ("TI", reference.title),
        *(("AU", _write_name(name)) for name in reference.authors),
        ("PY", str(reference.date.year) if reference.date else ""),
        ("DA", _write_date(reference.date)),
        ("T2", reference.container),
        ("PB", reference.publisher),
        ("VL", reference.volume),
        ("IS", reference.issue),
        ("SP", first.strip()),
        ("EP", last.strip()),
        ("DO", reference.doi),
        ("UR", reference.address),
        ("Y2", _write_date(reference.accessed)),
    ]
    yield from ((tag, " ".join(value.split())) for tag, value in fields if value)
    yield "ER", ""


def _write_name(name: Name) -> str:
    """`Family, Given, Suffix`, without commas in these, which would cut them; an organisation as it is, too."""
    parts = (name.family,) if name.literal or not name.given else (name.family, name.given, name.suffix)
    return ", ".join(part.replace(",", "") for part in parts if part)


def _write_date(date: Date | None) -> str:
    """`YYYY/MM/DD/`, with what is not known left empty."""
    if date is None:
        return ""
    return f"{date.year:04}/{f'{date.month:02}' if date.month else ''}/{f'{date.day:02}' if date.day else ''}/"
