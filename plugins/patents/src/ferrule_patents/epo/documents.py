"""A patent as the EPO's JSON has it: made of XML, so that what may be a list is one thing if it is alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ferrule_patents.arguments import date_of

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

_PAGE = "https://worldwide.espacenet.com/patent/search?q=pn%3D"
_COUNTRY = re.compile(r"\s*\[[A-Z]{2}\]\s*\Z")  # behind a name


def list_documents(document: JSONMapping) -> list[JSONObject]:
    """The patents of an answer, with the fields of a hit. Raises LookupError where it is no answer to a search."""
    found = document["ops:world-patent-data"]["ops:biblio-search"].get("ops:search-result") or {}
    groups = _all(found.get("exchange-documents"))
    return [_as_hit(one) for group in groups for one in _all(group.get("exchange-document"))]


def _as_hit(one: JSONMapping) -> JSONObject:
    data = one.get("bibliographic-data") or {}
    number = f"{one.get('@country')}{one.get('@doc-number')}{one.get('@kind')}"
    published = _date(data.get("publication-reference"))
    return {
        "title": _pick_english(data.get("invention-title")),
        "url": _PAGE + number if number.isalnum() else "",
        "snippet": _pick_english(one.get("abstract")),
        "published": published,
        "number": number,
        "assignee": _names(data, "applicant"),
        "inventor": _names(data, "inventor"),
        "filed": _date(data.get("application-reference")),
        # Kinds that begin with B are grants, and what is published of them is the grant.
        "granted": published if str(one.get("@kind")).startswith("B") else "",
    }


def _all(value: object) -> list[JSONMapping]:
    every = value if isinstance(value, list) else [value]
    return [one for one in every if isinstance(one, dict)]


def _text(value: object) -> str:
    """The text of an element: its own, or that of its paragraphs."""
    if isinstance(value, dict):
        return str(value.get("$") or "") or " ".join(filter(None, map(_text, _all(value.get("p")))))
    return ""


def _pick_english(value: object) -> str:
    """The English one of several, else the first."""
    every = _all(value)
    english = [one for one in every if one.get("@lang") == "en"]
    return next((_text(one) for one in [*english, *every]), "")


def _date(reference: object) -> str:
    dates = (date_of(_text(one.get("date"))) for part in _all(reference) for one in _all(part.get("document-id")))
    return next(filter(None, dates), "")


def _names(data: JSONMapping, role: str) -> str:
    """The names of all who have a role, each once; the EPO tells them in two spellings."""
    parties = data.get("parties") or {}
    found = [*_all((parties.get(f"{role}s") or {}).get(role))]
    spelled = [one for one in found if one.get("@data-format") == "epodoc"] or found
    names = (_COUNTRY.sub("", name).strip(" ,") for one in spelled for name in _name(one, role))
    return "; ".join(dict.fromkeys(filter(None, names)))


def _name(party: JSONMapping, role: str) -> Iterator[str]:
    for named in _all(party.get(f"{role}-name")):
        yield _text(named.get("name")).replace("\u2002", " ")
