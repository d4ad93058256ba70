"""One verification: what the citation names is looked up, compared, and held against a claim."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ferrule_scholar.asking.failure import raise_if_none_answered
from ferrule_scholar.enrichment import enrich
from ferrule_scholar.verification.comparison import HIGH, MEDIUM, MISMATCH, NONE, NOT_CHECKED, compare
from ferrule_scholar.verification.records import Evidence, find_candidates, find_record
from ferrule_scholar.works.identifiers import DOI, TITLE, Identifier, parse_identifier

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_scholar.verification.page import Place
    from ferrule_scholar.works.work import Work

TRUST = "untrusted-external-content"
CONFIRMED, UNCERTAIN, NOT_FOUND = "confirmed", "uncertain", "not_found"
_URL = re.compile(r"https?://\S+", re.I)
_IDENTIFIERS = re.compile(r"https?://\S+|(?:doi:\s*)?10\.\d{4,9}/\S+|(?:arxiv|pmid|pmcid):?\s*\S+", re.I)
_BARE = "The identifier alone was given: compare title and authors with the text that cites it."
_OTHER = "The identifier leads to a work with another title, author or year than the citation has."
_NO_RECORD = "The DOI is registered, and no service that was asked has a record of it."
_NO_PROOF = "No record was found by these services, which is no proof that there is no such work."


class _Finding(NamedTuple):
    """What is known in the end. work: the work that the citation is of, or may be of. facts: of the answer."""

    status: str
    facts: JSONObject
    work: Work | None = None
    text: str = ""


def verify(arguments: JSONMapping, context: Context) -> JSONObject:
    """The answer to a call. Raises ToolError where no service answered."""
    citation = " ".join(arguments["citation"].split())
    identifier = parse_identifier(citation)
    address = _URL.search(citation)
    if identifier.kind == TITLE and address:
        kind, finding = "url", _verify_address(_trim(address[0]), citation, context)
    elif identifier.kind == TITLE:
        kind, finding = "reference", _verify_reference(citation, context)
    else:
        kind = "doi" if identifier.kind == DOI else "reference"
        finding = _verify_identifier(identifier, citation, context)
    answer: JSONObject = {
        "input": citation,
        "inputType": kind,
        "exists": finding.status == CONFIRMED or bool(finding.facts.pop("isThere", False)),
        "verificationStatus": finding.status,
        **finding.facts,
    }
    answer |= _examine_claim(arguments.get("claim", ""), finding, context)
    if arguments.get("sessionId"):
        answer["ignoredParameters"] = [{"name": "sessionId", "why": "a search belongs to no session here"}]
    answer["trust"] = TRUST
    if any(one["state"] in ("failed", "partial", "skipped") for one in answer["provenance"]):
        answer["_meta"] = {"cacheable": False}  # what is missing may be there the next time
    return answer


def _trim(url: str) -> str:
    """An address without the punctuation of its sentence; brackets that it opens itself stay."""
    while url.endswith((".", ",", ";")) or (url.endswith(")") and url.count(")") > url.count("(")):
        url = url[:-1]
    return url


def _verify_identifier(identifier: Identifier, citation: str, context: Context) -> _Finding:
    evidence = find_record(identifier, context)
    facts: JSONObject = {"provenance": evidence.provenance}
    if identifier.kind == DOI:
        facts["detectedDoi"] = identifier.value
    if not evidence.works:
        return _judge_missing(evidence, facts)
    work = _look_for_notice(evidence.works[0], facts, context)
    fit = compare(_IDENTIFIERS.sub(" ", citation), work)
    is_compared = fit.title != NOT_CHECKED
    facts |= {"matchedRecord": work.as_json(), "matchConfidence": HIGH, "titleMatch": fit.title, "isThere": True}
    facts |= {"authorMatch": fit.author if is_compared else NOT_CHECKED, "yearMatch": fit.year}
    is_other = is_compared and MISMATCH in (fit.title, fit.author, fit.year)
    if is_other or not is_compared:
        facts["authenticityCaveat"] = _OTHER if is_other else _BARE
    _add_notice(facts, work)
    return _Finding(UNCERTAIN if is_other else CONFIRMED, facts, work)


def _judge_missing(evidence: Evidence, facts: JSONObject) -> _Finding:
    """Nothing has a record: the registry says whether there is one somewhere."""
    if evidence.is_registered:
        facts |= {"isThere": True, "matchConfidence": NONE, "authenticityCaveat": _NO_RECORD}
        return _Finding(UNCERTAIN, facts)
    if evidence.is_registered is None:
        raise_if_none_answered(evidence.opinions, [])
    facts |= {"matchConfidence": NONE, "authenticityCaveat": _NO_PROOF}
    failed = any(one.error for one in evidence.opinions)
    is_known = evidence.is_registered is False or not failed
    return _Finding(NOT_FOUND if is_known else UNCERTAIN, facts)


def _verify_reference(citation: str, context: Context) -> _Finding:
    evidence = find_candidates(citation, context)
    raise_if_none_answered(evidence.opinions, [])
    facts: JSONObject = {"provenance": evidence.provenance}
    fits = [(compare(citation, work), work) for work in evidence.works]
    fit, work = max(fits, key=lambda pair: pair[0].rank, default=(None, None))
    if fit is None or work is None or fit.confidence == NONE:
        failed = any(one.error for one in evidence.opinions)
        facts |= {"matchConfidence": NONE, "authenticityCaveat": _NO_PROOF}
        return _Finding(UNCERTAIN if failed else NOT_FOUND, facts)
    work = _look_for_notice(work, facts, context)
    facts |= {"matchConfidence": fit.confidence, "titleMatch": fit.title}
    facts |= {"authorMatch": fit.author, "yearMatch": fit.year}
    facts["matchedRecord" if fit.confidence == HIGH else "possibleMatch"] = work.as_json()
    _add_notice(facts, work)
    if fit.confidence == HIGH:
        return _Finding(CONFIRMED, facts, work)
    facts["authenticityCaveat"] = _OTHER.replace("identifier leads to", "nearest record is of")
    return _Finding(UNCERTAIN if fit.confidence == MEDIUM else NOT_FOUND, facts, work)


def _verify_address(url: str, citation: str, context: Context) -> _Finding:
    from ferrule_scholar.verification.page import find_copy, visit

    place = visit(url, context)
    facts: JSONObject = {"provenance": [{"name": "page", "state": "answered" if place.status else "failed"}]}
    if place.status:
        facts["httpStatus"] = place.status
    if place.error:
        facts["provenance"][0]["error"] = place.error
    if place.doi:
        found = _verify_identifier(Identifier(DOI, place.doi), citation, context)
        facts["provenance"] += found.facts.pop("provenance")
        return found._replace(facts={**found.facts, **facts}, text=place.text)
    if place.work is not None:
        return _describe_page(place, facts)
    if place.status == 200:
        return _Finding(CONFIRMED, {**facts, "isThere": True, "matchConfidence": NONE})
    if copy := find_copy(url, context):
        facts["archivedUrl"] = copy
    facts |= {"matchConfidence": NONE}
    return _Finding(NOT_FOUND if place.is_gone else UNCERTAIN, facts)


def _describe_page(place: Place, facts: JSONObject) -> _Finding:
    """A page that is about no paper: that it is there is all that is confirmed."""
    work = place.work
    record = work.as_json() if work else {}
    facts |= {"matchedRecord": {**record, "source": "page"}, "matchConfidence": HIGH, "titleMatch": NOT_CHECKED}
    return _Finding(CONFIRMED, facts, work, place.text)


def _look_for_notice(work: Work, facts: JSONObject, context: Context) -> Work:
    """The work with its retraction; what came of the check is added to the provenance."""
    enriched = enrich([work], context, has_access=False)
    facts["provenance"].append({"name": "retractions", **enriched.checks["retractions"]})
    return enriched.works[0]


def _add_notice(facts: JSONObject, work: Work) -> None:
    if work.notice is not None:
        facts["retractionStatus"] = dict(work.notice)


def _examine_claim(written: str, finding: _Finding, context: Context) -> JSONObject:
    from ferrule_scholar.verification.claims import cut_claim, judge_claim

    claim = cut_claim(written)
    if not claim:
        return {"claimCheckSkipped": True, "claimCheckSkippedReason": "no claim was given"}
    work = finding.work
    if work is None:
        return {"claim": claim, "claimSupport": "source_unavailable"}
    text, source, error = finding.text, work.address, ""
    for url in [one for one in dict.fromkeys((work.pdf_url, work.address)) if one and not text]:
        from ferrule_scholar.verification.page import visit

        place = visit(url, context)
        text, source, error = place.text, url, place.error[:200]
    whole = " ".join(filter(None, (work.abstract, text)))
    facts: JSONObject = {"claim": claim, "claimSourceUrl": source}
    if error:
        facts["claimFetchError"] = error
    return facts | (judge_claim(claim, whole) if whole else {"claimSupport": "source_unavailable"})
