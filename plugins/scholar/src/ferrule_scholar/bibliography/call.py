"""One bibliography: the sources are completed, and written in a style."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ferrule.errors import ToolError
from ferrule_scholar.bibliography.sources import doi_of, read_sources
from ferrule_scholar.bibliography.styles import STYLES, write_style
from ferrule_scholar.works.reference import Reference, refer_to, sort_by_key

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping

TRUST = "untrusted-external-content"
DEFAULT_STYLE = "apa"
_BIBTEX, _RIS, _CSL = "bibtex", "ris", "csl-json"


def format_sources(arguments: JSONMapping, context: Context) -> JSONObject:
    """The answer to a call. Raises ToolError where a DOI without a title cannot be looked up, or a session is gone."""
    style, session = arguments.get("style", DEFAULT_STYLE), arguments.get("sessionId", "").strip()
    sources = list(arguments.get("sources") or [])
    named = {doi_of(one) for one in sources}
    if session:
        from ferrule_scholar.session_record import list_sources

        sources = [*list_sources(session), *sources]
    references = _complete(read_sources(sources), named, context)
    answer: JSONObject = {"style": style, "entryCount": len(references), **_write(references, style), "trust": TRUST}
    if session:
        answer["sessionId"] = session
    if context.size(answer) > context.max_bytes:
        raise _too_long(len(references))
    return answer


def _write(references: Sequence[Reference], style: str) -> JSONObject:
    if style in STYLES:
        return {"bibliography": "\n".join(write_style(references, style))}
    references = sort_by_key(references)
    if style == _CSL:
        return {"bibliography": json.dumps([one.as_csl() for one in references], ensure_ascii=False, indent=2)}
    if style == _RIS:
        from ferrule_scholar.bibliography.ris import write_ris

        return {"bibliography": write_ris(references)}
    from ferrule_scholar.bibliography.bibtex import write_bibtex

    return {"bibliography": write_bibtex(references)}


def _complete(references: Sequence[Reference], named: Collection[str], context: Context) -> list[Reference]:
    """The references with what Crossref has of those that have no title.

    named: the DOIs that the call itself names. One of these that is unknown is an error; a page in a session may have
    any DOI, so there its address stands for the title.
    """
    unknown = [one.doi for one in references if not one.title and one.doi]
    if not unknown:
        return list(references)
    from ferrule_scholar.asking.client import ScholarClient
    from ferrule_scholar.asking.settings import patience_of
    from ferrule_scholar.scholars.crossref import Crossref

    deadline = time.monotonic() + patience_of(context)
    with ScholarClient(Crossref.service, context, deadline) as client:
        known = {one.doi: refer_to(one) for one in Crossref().find_many(unknown, client)}
    missing = [doi for doi in unknown if doi not in known and doi in named]
    if missing:
        raise _unknown(missing)
    return [_join(one, known.get(one.doi)) for one in references]


def _join(given: Reference, known: Reference | None) -> Reference:
    """What the caller says of a reference, and what is known of it."""
    if given.title:
        return given
    if known is None:
        return given._replace(title=given.address)
    parts = {name: value for name, value in given._asdict().items() if value and name not in ("kind", "url")}
    return known._replace(**parts)


def _unknown(dois: Sequence[str]) -> ToolError:
    message = f"Crossref has no record of these DOIs: {', '.join(dois[:10])}."
    hint = "Check them with verify_citation, or give the title, the authors and the date of each."
    details = {"kind": "not_found", "retryable": False, "suggestedAction": "inform_user"}
    return ToolError("NOT_FOUND", message, hint=hint, details=details)


def _too_long(number: int) -> ToolError:
    details = {"kind": "validation", "retryable": False, "suggestedAction": "inform_user"}
    message = f"The bibliography of {number} sources is longer than the client reads."
    return ToolError("INVALID_INPUT", message, hint="Ask for fewer sources at a time.", details=details)
