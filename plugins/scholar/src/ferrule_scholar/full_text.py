"""The texts of papers that PubMed Central gives to programs, by one request for all of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import ToolError
from ferrule_scholar.asking.client import SHAPE_ERRORS, ScholarClient, shape_error
from ferrule_scholar.asking.settings import share_of_patience
from ferrule_scholar.asking.xml_document import flatten
from ferrule_scholar.scholars.pubmed import TOOL, PubMed

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ferrule import Context, JSONObject
    from ferrule_scholar.works.work import Work

_TEXTS, _LEFT_OUT = ("title", "p"), ("table", "object-id", "label")
_ANSWER_SHARE = 0.7  # of an answer, which all texts may take together
_CUT = " […]"


class FullTexts(NamedTuple):
    """What was found. texts: by PMCID. why: what is missing; "" where all was asked for."""

    texts: Mapping[str, str]
    why: str = ""

    def as_check(self) -> JSONObject:
        """`{"state": "checked"}`, or `{"state": "skipped", "why": …}`."""
        return {"state": "skipped", "why": self.why} if self.why else {"state": "checked"}


def find_full_texts(works: Sequence[Work], context: Context) -> FullTexts:
    """The abstract is no part of them. Papers that are not in PubMed Central, or that it does not give, have none."""
    numbers = [one.pmcid.upper().removeprefix("PMC") for one in works if one.pmcid]
    if not numbers:
        return FullTexts({})
    deadline = time.monotonic() + share_of_patience(context, 0)
    try:
        with ScholarClient(PubMed.service, context, deadline) as client:
            key = {"api_key": client.key} if client.key else {}
            params = {"db": "pmc", "id": ",".join(numbers), "retmode": "xml", "tool": TOOL, **key}
            root = client.get_xml("/efetch.fcgi", params)
        return FullTexts({} if root is None else dict(_list_articles(root)))
    except ToolError as error:
        return FullTexts({}, error.message)
    except SHAPE_ERRORS:
        return FullTexts({}, shape_error(PubMed.service.label).message)


def add_full_texts(papers: Sequence[JSONObject], found: FullTexts, context: Context) -> None:
    """Put texts into the papers of an answer, each cut to the same share of what the client reads."""
    having = [one for one in papers if found.texts.get(str(one.get("pmcid", "")))]
    for one in having:
        room = int(context.max_bytes * _ANSWER_SHARE / len(having))
        one["fullText"], is_cut = _cut(found.texts[str(one["pmcid"])], room, context)
        if is_cut:
            one["fullTextTruncated"] = True


def _cut(text: str, max_bytes: int, context: Context) -> tuple[str, bool]:
    """The beginning of a text that takes no more on the wire, cut between words, and whether it was cut."""
    size = context.size(text)
    while size > max_bytes:
        text = text[: int(len(text) * max_bytes / size * 0.98)]
        size = context.size(text + _CUT)
        if size <= max_bytes:
            return text.rsplit(None, 1)[0] + _CUT, True
    return text, False


def _list_articles(root: Element) -> Iterator[tuple[str, str]]:
    for article in root.iter("article"):
        ids = {one.get("pub-id-type"): flatten(one) for one in article.findall("front/article-meta/article-id")}
        number = (ids.get("pmcid") or ids.get("pmc") or "").upper().removeprefix("PMC")
        body = article.find("body")
        text = "\n\n".join(filter(None, _list_texts(body))) if body is not None else ""
        if number and text:
            yield f"PMC{number}", text


def _list_texts(element: Element) -> Iterator[str]:
    """The headings and paragraphs, each with all that stands in it, however deep parts lie in each other."""
    left = [*reversed(element)]
    while left:
        child = left.pop()
        if child.tag in _TEXTS:
            yield flatten(child)
        elif child.tag not in _LEFT_OUT:
            left += reversed(child)
