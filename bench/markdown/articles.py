"""The measure of articles: how much of a page's article an extractor keeps, how little else, and what it costs.

The pages are not part of the project. FERRULE_ARTICLE_PAGES names a folder of them; each page has a folder of its own
with `source.html`, the page, and `expected.html`, its article. What the head of a page says, its title, standfirst,
byline and date, counts for no extractor.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

from installations.environments import interpreter_with

from markdown.heads import read_head, remove_head
from markdown.programs.extractors import EXTRACTORS, OURS_NAME
from markdown.programs.workers import Answer, Unavailable, Worker
from markdown.reading.rendering import renderer
from markdown.reading.shown import BLOCKS
from markdown.sources.news import Known
from markdown.sources.pages import decoded
from markdown.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from markdown.options import Options

VARIABLE = "FERRULE_ARTICLE_PAGES"
REQUIREMENTS = Path(__file__).resolve().parents[1] / "peers/article.txt"
BASELINE = "trafilatura"  # whose tokens are 1
URL = "http://e.org/folder/page.html"
COLUMNS = ("precision", "recall", "F1", "begun", "tokens", "ms")
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_UNSPOKEN = ("script", "style")
_LENGTH = 4  # words of a shingle
_BEGINNING = 16  # words of an article, of which half of the shingles have to be there

Shingles = Counter[tuple[str, ...]]


class Answered(NamedTuple):
    """What an extractor made of a page.

    is_begun: whether the article's beginning is there. tokens: words and signs of its markdown. seconds: of processor
    time.
    """

    precision: float
    recall: float
    is_begun: bool
    tokens: int
    seconds: float


def articles(options: Options) -> Iterator[Table]:
    """Pages with known articles through every extractor; nothing where no folder of such pages is named."""
    folder = os.environ.get(VARIABLE)
    pages = [_known(page) for page in sorted(Path(folder).rglob("source.html"))] if folder else []
    if not pages:
        print(f"articles are not measured: {VARIABLE} names no folder with pages", file=sys.stderr)
        return
    yield from compare("articles", pages, options)


def compare(title: str, pages: list[Known], options: Options) -> Iterator[Table]:
    """A table of what each extractor makes of pages with known articles."""
    answers = {name: list(_answered(name, pages)) for name in EXTRACTORS if options.converters.wants(name)}
    baseline = answers.get(BASELINE, [])
    rows = [Row(name, _figures(given, baseline)) for name, given in answers.items() if given]
    what = f"{_LENGTH}-word shingles of {len(pages)} pages, means, and how many articles have their beginning"
    note = f"{what}; medians of tokens ({BASELINE}'s = 1) and ms"
    yield Table(title, note, COLUMNS, rows, decimals=3)


def _known(page: Path) -> Known:
    expected = text(decoded(page.with_name("expected.html").read_bytes()))
    return Known(page.parent.name, decoded(page.read_bytes()), expected)


def convert_all(name: str, pages: list[Known]) -> Iterator[Answer]:
    """What an extractor makes of each page; nothing where it cannot be had."""
    with contextlib.ExitStack() as stack:
        try:
            python = sys.executable if name == OURS_NAME else interpreter_with(REQUIREMENTS)
            worker = stack.enter_context(Worker(name, python))
        except (Unavailable, subprocess.CalledProcessError) as problem:
            print(f"{name} cannot be measured here: {problem}", file=sys.stderr)
            return
        print(f"{name} …", file=sys.stderr)
        for page in pages:
            yield worker.convert(page.html, URL)


def _answered(name: str, pages: list[Known]) -> Iterator[Answered]:
    for page, answer in zip(pages, convert_all(name, pages), strict=False):
        head = read_head(page.html)
        words = remove_head(page.article, head)
        truth, beginning = shingles(words), shingles(" ".join(words.split()[:_BEGINNING]))
        given = shingles(remove_head(text(renderer().render(answer.markdown)), head))
        both = (truth & given).total()
        tokens = len(_TOKEN.findall(answer.markdown))
        is_begun = 2 * len(beginning.keys() & given.keys()) >= len(beginning)
        precision, recall = both / max(1, given.total()), both / max(1, truth.total())
        yield Answered(precision, recall, is_begun, tokens, answer.seconds)


def _figures(answers: list[Answered], baseline: list[Answered]) -> list[float | None]:
    precision, recall = fmean(one.precision for one in answers), fmean(one.recall for one in answers)
    ratios = [one.tokens / other.tokens for one, other in zip(answers, baseline, strict=False) if other.tokens]
    f1 = 2 * precision * recall / ((precision + recall) or 1)
    begun = sum(one.is_begun for one in answers)
    milliseconds = 1000 * median(one.seconds for one in answers)
    return [precision, recall, f1, begun, median(ratios) if ratios else None, milliseconds]


def text(html: str) -> str:
    """What a page says, its blocks apart."""
    import html5lib

    body = html5lib.parse(html, namespaceHTMLElements=False).find("body")
    return "".join(_texts(body)) if body is not None else ""


def _texts(element: Element) -> Iterator[str]:
    """The pieces of text in an element; a blank at the edges of blocks, and none within a word of two colours."""
    edge = " " if element.tag in BLOCKS else ""
    yield edge
    if isinstance(element.tag, str) and element.tag not in _UNSPOKEN:  # the tag of a comment is a function
        yield element.text or ""
    for child in element:
        yield from _texts(child)
        yield child.tail or ""
    yield edge


def shingles(words: str) -> Shingles:
    """How often each four words follow each other; a text of fewer words is one shingle."""
    found = _WORD.findall(words.lower())
    return Counter(tuple(found[at : at + _LENGTH]) for at in range(max(1, len(found) - _LENGTH + 1)))
