"""One bibliography: the sources are completed, and written in a style."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ferrule.errors import ToolError
from ferrule_research.library import Reference, sort_by_key
from ferrule_scholar.bibliography.sources import doi_of, read_sources
from ferrule_scholar.bibliography.styles import STYLES, write_style
from ferrule_scholar.works.reference import refer_to

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_scholar.bibliography.records import Records

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
    references, failures = _complete(read_sources(sources), named, context)
    answer: JSONObject = {"style": style, "entryCount": len(references), **_write(references, style), "trust": TRUST}
    if failures:
        answer["incomplete"] = " ".join(failures)
    if session:
        answer["sessionId"] = session
    if context.size(answer) > context.max_bytes:
        raise _too_long(len(references))
    return answer


def _write(references: Sequence[Reference], style: str) -> JSONObject:
    if style in STYLES:
        return {"bibliography": "\n".join(write_style([one.cleaned() for one in references], style))}
    references = sort_by_key(references)
    if style == _CSL:
        return {"bibliography": json.dumps([one.as_csl() for one in references], ensure_ascii=False, indent=2)}
    if style == _RIS:
        from ferrule_research.library import write_ris

        return {"bibliography": write_ris(references)}
    from ferrule_research.library import write_bibtex

    return {"bibliography": write_bibtex(references)}


def _complete(
    references: Sequence[Reference], named: Collection[str], context: Context
) -> tuple[list[Reference], list[str]]:
    """The references with what services have of those that have no title, and why some of them gave no answer.

    named: the DOIs that the call itself names. One of these that is unknown is an error; a page in a session may have
    any DOI, so there its address stands for the title.
    """
    unknown = [one.doi for one in references if not one.title and one.doi]
    if not unknown:
        return list(references), []
    from ferrule_scholar.bibliography.records import find_records

    records = find_records(unknown, context)
    known = {doi: refer_to(work) for doi, work in records.works.items()}
    missing = [doi for doi in unknown if doi not in known and doi in named]
    if missing:
        raise _unknown(missing, records)
    return [_join(one, known.get(one.doi)) for one in references], records.failures


def _join(given: Reference, known: Reference | None) -> Reference:
    """What the caller says of a reference, and what is known of it."""
    if given.title:
        return given
    if known is None:
        return given._replace(title=given.address)
    parts = {name: value for name, value in given._asdict().items() if value and name not in ("kind", "url")}
    return known._replace(**parts)


def _unknown(dois: Sequence[str], records: Records) -> ToolError:
    """The error of DOIs without a record: that there is none, or, where a service gave no answer, its failure."""
    asked, failed = [one.label for one in records.opinions], [one for one in records.opinions if one.error]
    listed = ", ".join(dois[:10])
    details: JSONObject = {"kind": "not_found", "retryable": False, "suggestedAction": "inform_user"}
    message = f"{_enumerate(asked)} have no record of these DOIs: {listed}."
    hint = "Check them with verify_citation, or give the title, the authors and the date of each."
    code, retry_after = "NOT_FOUND", None
    if failed:
        error = next((one.error for one in failed if one.error and (one.error.details or {}).get("retryable")), None)
        error = error or failed[0].error
        message = f"No record was found of these DOIs: {listed}. {' '.join(records.failures)}"
        if error:
            code, retry_after = error.code, error.retry_after
            details |= {name: value for name, value in (error.details or {}).items() if name != "provider"}
            details["suggestedAction"] = "retry_after_delay" if details.get("retryable") else "inform_user"
    details["providersAttempted"] = [one.name for one in records.opinions]
    return ToolError(code, message, hint=hint, details=details, retry_after=retry_after)


def _enumerate(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _too_long(number: int) -> ToolError:
    details = {"kind": "validation", "retryable": False, "suggestedAction": "inform_user"}
    message = f"The bibliography of {number} sources is longer than the client reads."
    return ToolError("INVALID_INPUT", message, hint="Ask for fewer sources at a time.", details=details)
