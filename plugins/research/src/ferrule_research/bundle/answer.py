"""The answer: the pages with their scores, their texts as one, and what could not be read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_research.bundle.combination import combine
from ferrule_research.page.budget import largest, truncate
from ferrule_research.search.call import TRUST

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_research.bundle.pages import Failure, Source
    from ferrule_research.bundle.ranks import Ranked, Ranking
    from ferrule_research.bundle.request import Request

_SIZES = ((5_000, "small"), (20_000, "medium"), (50_000, "large"))
_KEY_SENTENCES = 5
_SENTENCE_CHARS = 500
_RECOMMENDED = 3
_LEAST_OVERALL = 0.6
_SLACK_BYTES = 256  # for numbers that change with the texts, and for what says that they were cut
_NOTE = "None of the pages that were found could be read; scrapeFailures says why."


# Long by its parameters, which are all that a call has found out.
def build_answer(
    request: Request,
    search: JSONObject,
    read: Sequence[Source],
    failures: Sequence[Failure],
    ranking: Ranking,
    started: float,
    context: Context,
) -> JSONObject:
    """The answer of a call.

    Args:
        search: the answer of `web_search`.
        read: all pages that were read, those that were left out later included.
        started: the instant at which the call has begun.
    """
    status = "complete" if not failures else "partial" if read else "failed"
    answer: JSONObject = {
        "query": request.query,
        "status": status,
        **({"sources": [_describe(one, request) for one in ranking.ranked]} if request.has_sources else {}),
        "combinedContent": _join(ranking.ranked, request.total_bytes),
        **({"scrapeFailures": [one.facts for one in failures]} if failures else {}),
        **({"note": _NOTE} if status == "failed" else {}),
        "summary": {
            "urlsSearched": len(search["results"]),
            "urlsScraped": len(read),
            "urlsKept": sum(one.is_kept for one in read),
            "urlsFailed": len(failures),
            "urlsLate": sum(one.is_late for one in failures),
            "urlsFiltered": ranking.filtered,
            "urlsRepeated": len(read) - ranking.filtered - len(ranking.ranked),
            "sparseSources": ranking.sparse,
            "repeatedParagraphs": ranking.repeated_paragraphs,
            "processingTimeMs": 0,
        },
        "sizeMetadata": {},
        **_recommend(ranking.ranked),
        **({"hints": search["hints"]} if "hints" in search else {}),
        **_list_ignored(request),
        "trust": TRUST,
        "_meta": {**search["_meta"], **({"cacheable": False} if request.unrecorded else {})},
    }
    answer = _fit(answer, ranking.ranked, request, context)
    answer["sizeMetadata"] = _measure(answer, context)
    answer["summary"]["processingTimeMs"] = round((time.monotonic() - started) * 1000)
    return answer


def _describe(one: Ranked, request: Request) -> JSONObject:
    source = one.source
    published = source.date or source.found.get("published", "")
    described: JSONObject = {
        "url": source.url,
        **({"title": title} if (title := source.title or source.found.get("title", "")) else {}),
        **({"author": source.authors} if source.authors else {}),
        **({"publishedAt": published} if published else {}),
        "content": source.text,
        **source.facts,
        "trust": TRUST,
        "scores": one.scores._asdict(),
        "wordCount": one.words,
    }
    return {**described, **_find_evidence(request.claim, source.text)} if request.claim else described


def _find_evidence(claim: str, text: str) -> JSONObject:
    """`{"claimSignal", "keySentences"}`: what the page says about the claim, "" and none where it says nothing."""
    from ferrule_research.page.addresses import remove_addresses
    from ferrule_research.search.claims import find_claim_signal, find_key_sentences

    plain = remove_addresses(text)
    sentences = find_key_sentences(claim, plain, _KEY_SENTENCES)
    return {
        "claimSignal": find_claim_signal(claim, plain)[:_SENTENCE_CHARS],
        "keySentences": [sentence[:_SENTENCE_CHARS] for sentence in sentences],
    }


def _join(ranked: Sequence[Ranked], max_bytes: int, each_bytes: int | None = None) -> str:
    """The texts as one, each below its address. each_bytes: of the text of each page, where that is less."""
    texts = [one.source.text if each_bytes is None else truncate(one.source.text, each_bytes) for one in ranked]
    return combine([f"[{one.source.url}]\n\n{text}" for one, text in zip(ranked, texts, strict=True)], max_bytes)


def _fit(answer: JSONObject, ranked: Sequence[Ranked], request: Request, context: Context) -> JSONObject:
    """The answer in what the client reads: where it is larger, the text of each page is cut to the same size."""
    limit = context.max_bytes - _SLACK_BYTES
    if context.size(answer) <= limit:
        return answer

    def cut(size: int) -> JSONObject:
        shorter = {**answer, "combinedContent": _join(ranked, request.total_bytes, size)}
        if request.has_sources:
            shorter["sources"] = [_cut_source(one, size) for one in answer["sources"]]
        return shorter

    size = largest(request.source_bytes, lambda size: context.size(cut(size)) <= limit)
    hint = "The texts are cut to what an answer holds; include_sources false, or fewer pages, leave more of each."
    return {**cut(size), "truncationHint": hint}


def _cut_source(source: JSONObject, size: int) -> JSONObject:
    text = truncate(source["content"], size)
    return source if text == source["content"] else {**source, "content": text, "truncated": True}


def _measure(answer: JSONObject, context: Context) -> JSONObject:
    """The bytes of the joined text, and the tokens of the whole answer."""
    size = len(answer["combinedContent"].encode())
    category = next((name for limit, name in _SIZES if size < limit), "very_large")
    return {"totalLength": size, "estimatedTokens": context.size(answer) // 4, "sizeCategory": category}


def _recommend(ranked: Sequence[Ranked]) -> JSONObject:
    """The pages to read first, with the score and what speaks for each."""
    good = [one for one in ranked if one.scores.overall >= _LEAST_OVERALL][:_RECOMMENDED]
    found = [
        {
            "url": one.source.url,
            **({"title": one.source.title} if one.source.title else {}),
            "score": one.scores.overall,
            "reason": f"high {one.scores.best}",
        }
        for one in good
    ]
    return {"recommendations": found} if found else {}


def _list_ignored(request: Request) -> JSONObject:
    ignored: JSONObject = {}
    if request.asked_pages > request.pages:
        ignored["requestedNumResults"] = request.asked_pages
    if request.unrecorded:
        ignored["ignoredParameters"] = [{"name": "sessionId", "why": request.unrecorded}]
    return ignored
