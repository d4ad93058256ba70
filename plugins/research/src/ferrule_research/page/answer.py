"""The answer: the content, its size, its citation, and what there is to judge it by."""

from __future__ import annotations

import time
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ferrule_research.page.budget.fit import fitted
from ferrule_research.page.budget.truncation import truncated
from ferrule_research.page.metadata.bibliography import facts_of
from ferrule_research.page.metadata.citation import citation
from ferrule_research.page.metadata.classification import classify, is_scholarly
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.metadata.doi import detected_doi
from ferrule_research.page.metadata.embedded import NOTHING
from ferrule_research.page.metadata.forum import forum_signals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule import Context
    from ferrule_research.page.content import Reading
    from ferrule_research.page.request import Request
    from ferrule_research.page.sources.raw import Raw

TRUST = "untrusted-external-content"
_SIZES = ((5_000, "small"), (20_000, "medium"), (50_000, "large"))


def answer_of(reading: Reading, request: Request, context: Context) -> dict[str, Any]:
    """The answer for a page that was read."""
    reading = reading._replace(facts=reading.facts.bounded())
    content = truncated(reading.text, request.max_length)
    answer = {
        **_head(reading.url, content, reading.kind),
        "citation": citation(reading.facts, reading.url, _today(), reading.source.highwire),
        **({"extractedBy": reading.tier} if reading.tier else {}),
        "extractionQuality": reading.quality,
        **_of_the_page(reading),
        **_of_the_source(reading, context),
        **request.remarks(),
    }
    answer, is_cut = fitted(answer, context)
    if answer["content"] == reading.text:
        return _counted(answer, is_cut, "An answer has no room for all that the page says for machines.")
    return _counted(answer, True, _rest(reading, answer["content"], context))


def raw_answer_of(raw: Raw, request: Request, context: Context) -> dict[str, Any]:
    """The answer with the bytes as they came."""
    facts = facts_of(NOTHING, raw.url)
    kind = classify(raw.url, facts, NOTHING)
    answer = {
        **_head(raw.url, raw.content, raw.content_type),
        "citation": citation(facts, raw.url, _today(), {}),
        "raw": True,
        **({"contentEncoding": raw.encoding} if raw.encoding else {}),
        "sourceType": kind.type,
        "authorityTier": kind.tier,
        "domainCategory": kind.category,
        **request.remarks(),
    }
    return _raw_fitted(answer, raw, context)


def _today() -> Date:
    return Date(*time.gmtime()[:3])


def _raw_fitted(answer: dict[str, Any], raw: Raw, context: Context) -> dict[str, Any]:
    """No mark is put into what is to be the server's own; base64 ends after whole groups."""
    content = raw.content
    room = context.max_bytes - 512 - context.size({**answer, "content": ""})
    if context.size(content) - 2 <= room:
        return _counted(answer, raw.truncated, "")
    least, most = 0, len(content)
    while least < most:
        middle = (least + most + 1) // 2
        if context.size(content[:middle]) - 2 <= room:
            least = middle
        else:
            most = middle - 1
    end = least - least % 4 if raw.encoding else least
    why = "An answer has no room for the rest; mode full, or web_fetch with an offset, gives the text in parts."
    return _counted({**answer, "content": content[:end]}, True, why)


def _head(url: str, content: str, kind: str) -> dict[str, Any]:
    sizes = {"contentLength": 0, "truncated": False, "estimatedTokens": 0, "sizeCategory": ""}
    return {"url": url, "content": content, "contentType": kind, "trust": TRUST, **sizes}


def _counted(answer: dict[str, Any], is_truncated: bool, rest: str) -> dict[str, Any]:
    """With the sizes of the content that is in it."""
    size = len(answer["content"].encode())
    category = next((name for most, name in _SIZES if size < most), "very_large")
    counted = {"contentLength": size, "truncated": is_truncated, "estimatedTokens": size // 4, "sizeCategory": category}
    return {**answer, **counted, **({"truncationHint": rest} if is_truncated and rest else {})}


def _of_the_page(reading: Reading) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if reading.facts.title:
        parts["metadata"] = {"title": reading.facts.title, "author": reading.facts.author}
    if data := reading.source.as_structured_data():
        parts["structuredData"] = data
    if signals := forum_signals(reading.source, reading.url):
        parts["forumSignals"] = signals
    return parts


def _of_the_source(reading: Reading, context: Context) -> Mapping[str, Any]:
    kind = classify(reading.url, reading.facts, reading.source)
    parts: dict[str, Any] = {"sourceType": kind.type, "authorityTier": kind.tier, "domainCategory": kind.category}
    if is_scholarly(kind, reading.source, reading.url):
        doi = detected_doi(reading.source, reading.url, reading.text)
        if doi:
            from ferrule_research.page.metadata.retractions import retraction_status

            parts["detectedDoi"] = doi
            if status := retraction_status(doi, context):
                parts["retractionStatus"] = status
    return parts


def _rest(reading: Reading, content: str, context: Context) -> str:
    """How to get what was left out. The lines of the content are those that the fetcher gives."""
    if not reading.same_as_fetched:
        return "Ask for more with max_length, as far as an answer has room."
    both = zip(content.split("\n"), reading.text.split("\n"), strict=False)
    line = 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
    fetcher = context.name_of("web_fetch")
    return f"Call {fetcher} with the same url and offset {line} for what follows, or raise max_length."
