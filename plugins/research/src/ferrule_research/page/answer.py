"""The answer: the content, its size, its citation, and what there is to judge it by."""

from __future__ import annotations

import time
from itertools import takewhile
from typing import TYPE_CHECKING

from ferrule_research.page.addresses import remove_addresses
from ferrule_research.page.budget import fit, keep_short, largest, truncate
from ferrule_research.page.credibility.classification import SourceType, classify, is_scholarly
from ferrule_research.page.credibility.doi import detect_doi
from ferrule_research.page.credibility.forum import forum_signals
from ferrule_research.page.metadata.bibliography import CITED, read_bibliography
from ferrule_research.page.metadata.citation import cite
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.metadata.embedded import NO_DATA
from ferrule_research.page.request import MAX_LENGTH_BYTES

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_research.page.content import PageContent
    from ferrule_research.page.metadata.bibliography import Bibliography
    from ferrule_research.page.request import Request
    from ferrule_research.page.sources.raw import RawPage

TRUST = "untrusted-external-content"
_SIZES = ((5_000, "small"), (20_000, "medium"), (50_000, "large"))
_RAW_SLACK_BYTES = 512


def build_answer(page: PageContent, request: Request, context: Context) -> JSONObject:
    """The answer for a page that was read, with what was asked for."""
    text = page.text if request.links else remove_addresses(page.text)
    page = page._replace(bibliography=page.bibliography.bounded(), text=text)
    source_type = classify(page.url, page.bibliography, page.embedded)
    answer = {
        **_head(page.url, truncate(page.text, request.max_length), page.kind),
        **_make_citation(page.bibliography, page.url, request),
        **({"extractedBy": page.extracted_by} if page.extracted_by else {}),
        "extractionQuality": page.quality,
        **({"browserFailure": page.browser_failure} if page.browser_failure else {}),
        **_make_metadata(page, request),
        **source_type.as_json(),
        **find_article_facts(page, source_type, context),
        **request.ignored_parameters(),
    }
    if page.kept_seconds is not None:
        kept = {"cached": True, "ageSeconds": int(page.kept_seconds)}
        answer["_meta"] = {"page": kept, "cacheable": False}  # or else it would be given for longer than a page is kept
    if data := _choose_data(page, request, answer, context):
        answer["structuredData"] = data
    answer, is_cut = fit(answer, context, request.max_length)
    if answer["content"] == page.text:
        hint = "An answer has no room for all that the page says for machines."
        return _with_sizes(answer, is_cut, hint, context)
    return _with_sizes(answer, True, _truncation_hint(page, answer["content"], request, context), context)


def build_raw_answer(raw: RawPage, request: Request, context: Context) -> JSONObject:
    """The answer with the bytes as they came. No mark is put into the server's own text; base64 ends after a group."""
    bibliography = read_bibliography(NO_DATA, raw.url)
    answer = {
        **_head(raw.url, raw.content, raw.content_type),
        **_make_citation(bibliography, raw.url, request),
        "raw": True,
        **({"contentEncoding": raw.encoding} if raw.encoding else {}),
        **classify(raw.url, bibliography, NO_DATA).as_json(),
        **request.ignored_parameters(),
    }
    room = context.max_bytes - _RAW_SLACK_BYTES - context.size({**answer, "content": ""})

    def has_room(size: int) -> bool:
        return context.size(raw.content[:size]) - len('""') <= room

    if has_room(len(raw.content)):
        return _with_sizes(answer, raw.truncated, "", context)
    end = largest(len(raw.content), has_room)
    content = raw.content[: end - end % 4 if raw.encoding else end]
    hint = "An answer has no room for the rest; mode full, or web_fetch with an offset, gives the text in parts."
    return _with_sizes({**answer, "content": content}, True, hint, context)


def _today() -> Date:
    return Date(*time.gmtime()[:3])


def _head(url: str, content: str, kind: str) -> JSONObject:
    sizes = {"contentLength": 0, "truncated": False, "estimatedTokens": 0, "sizeCategory": ""}
    return {"url": url, "content": content, "contentType": kind, "trust": TRUST, **sizes}


def _with_sizes(answer: JSONObject, is_truncated: bool, hint: str, context: Context) -> JSONObject:
    """The answer with the size of the content that is in it, and the tokens of the whole."""
    size = len(answer["content"].encode())
    category = next((name for limit, name in _SIZES if size < limit), "very_large")
    sizes = {"contentLength": size, "truncated": is_truncated, "sizeCategory": category}
    answer = {**answer, **sizes, **({"truncationHint": hint} if is_truncated and hint else {})}
    return {**answer, "estimatedTokens": context.size({**answer, "estimatedTokens": size}) // 4}


def _make_citation(work: Bibliography, url: str, request: Request) -> JSONObject:
    return {"citation": cite(work, url, _today())} if request.citation else {}


def _make_metadata(page: PageContent, request: Request) -> JSONObject:
    """Title and author, unless the citation says them; and the votes of a forum."""
    facts: JSONObject = {}
    if not request.metadata:
        return facts
    if page.bibliography.title and not request.citation:
        facts["metadata"] = {"title": page.bibliography.title, "author": page.bibliography.author}
    if signals := forum_signals(page.embedded, page.url):
        facts["forumSignals"] = signals
    return facts


def _choose_data(page: PageContent, request: Request, answer: JSONObject, context: Context) -> JSONObject:
    """What the page says for machines: all of it, or what is short and stands nowhere else in the answer."""
    if request.structured_data is False:
        return {}
    data = page.embedded.as_json()
    if request.structured_data or not data:
        return data
    said = {page.url, *answer.get("citation", {}).get("metadata", {}).values()}
    if request.citation and "citation" in data:
        data["citation"] = {name: value for name, value in data["citation"].items() if name not in CITED}
    if "openGraph" in data:
        data["openGraph"] = {name: value for name, value in data["openGraph"].items() if value not in said}
    return keep_short(data, answer, context)


def find_article_facts(page: PageContent, source_type: SourceType, context: Context) -> JSONObject:
    """`{"detectedDoi", "retractionStatus"}` of a scholarly page, as far as they are found."""
    if not is_scholarly(source_type, page.embedded, page.url):
        return {}
    doi = detect_doi(page.embedded, page.url, page.text)
    if not doi:
        return {}
    from ferrule_research.page.credibility.retractions import find_notice

    notice = find_notice(doi, context)
    return {"detectedDoi": doi, **({"retractionStatus": notice} if notice else {})}


def _truncation_hint(page: PageContent, content: str, request: Request, context: Context) -> str:
    """How to get what was left out. The lines of the content are those that the fetcher gives."""
    can_be_more = request.max_length < MAX_LENGTH_BYTES
    if not page.same_as_fetched:
        more = "Ask for more with max_length, as far as an answer has room."
        return more if can_be_more else "The page is longer than an answer can be."
    both = zip(content.split("\n"), page.text.split("\n"), strict=False)
    line = 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
    fetcher = context.name_of("web_fetch")
    return (
        f"Call {fetcher} with the same url and offset {line} for what follows{', or raise max_length' * can_be_more}."
    )
