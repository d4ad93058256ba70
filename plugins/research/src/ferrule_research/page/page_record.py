"""A page that was read, as bytes, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from ferrule.text import strict_json
from ferrule_research.page.content import PageContent
from ferrule_research.page.metadata.authors import Name
from ferrule_research.page.metadata.bibliography import Bibliography, Place
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.metadata.embedded import EmbeddedData

if TYPE_CHECKING:
    from ferrule import JSONObject

_TESTS: dict[str, Callable[[object], bool]] = {  # by the types of fields; others are put together here
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: type(value) is int and 0 <= value < 10_000,
    "list[object]": lambda value: isinstance(value, list),
    "list[str]": lambda value: isinstance(value, list) and _are_texts(value),
    "dict[str, str]": lambda value: isinstance(value, dict) and _are_texts(value.values()),
    "frozenset[str]": lambda value: isinstance(value, frozenset) and _are_texts(value),
}
_MONTHS, _DAYS = 12, 31

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
        return PageRecord(content, float(document["instant"])) if _is_sound(content) else None
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


def _is_sound(content: PageContent) -> bool:
    """Whether every field is of its type; where not, something else has written the bytes, and answers would fail."""
    work = content.bibliography
    date = work.date or Date(1)
    parts: tuple[tuple[object, ...], ...] = (content, work, work.place, content.embedded, date, *work.authors)
    return all(map(_has_types, parts)) and date.month <= _MONTHS and date.day <= _DAYS


def _has_types(part: tuple[object, ...]) -> bool:
    kinds = type(part).__annotations__.values()  # typing wraps those that are written as texts
    tests = (_TESTS.get(str(getattr(kind, "__forward_arg__", kind))) for kind in kinds)
    return all(test is None or test(value) for value, test in zip(part, tests, strict=True))


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(one, str) for one in values)
