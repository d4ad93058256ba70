"""A page that was read, as bytes, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.text import strict_json
from ferrule_research.page.content import PageContent
from ferrule_research.page.metadata.authors import Name
from ferrule_research.page.metadata.bibliography import Bibliography, Place
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.metadata.embedded import EmbeddedData

if TYPE_CHECKING:
    from ferrule import JSONObject

SHAPE = 1
"""The version of the bytes; a change of the types above is another one."""


class PageRecord(NamedTuple):
    """What the bytes hold. instant: of the wall's clock, at which the page was read."""

    content: PageContent
    instant: float


def write_content(content: PageContent, instant: float) -> bytes:
    """The bytes of a page. Raises ValueError where it holds what JSON cannot."""
    work = content.bibliography
    facts = {
        **content._asdict(),
        "bibliography": {**work._asdict(), "types": sorted(work.types)},
        "embedded": content.embedded._asdict(),
    }
    return strict_json.dumps({"shape": SHAPE, "instant": instant, "page": facts})


def read_content(data: bytes) -> PageRecord | None:
    """The page that bytes hold; None for bytes of another shape, and for what is none."""
    try:
        document = strict_json.loads_object(data)
        if document["shape"] != SHAPE:
            return None
        page: JSONObject = document["page"]
        embedded = EmbeddedData(**page["embedded"])
        content = PageContent(**{**page, "bibliography": _read_work(page["bibliography"]), "embedded": embedded})
        return PageRecord(content, float(document["instant"]))
    except (ValueError, TypeError, LookupError):
        return None


def _read_work(facts: JSONObject) -> Bibliography:
    read = {
        "authors": [Name(*one) for one in facts["authors"]],
        "date": Date(*facts["date"]) if facts["date"] else None,
        "types": frozenset(facts["types"]),
        "place": Place(*facts["place"]),
    }
    return Bibliography(**{**facts, **read})
