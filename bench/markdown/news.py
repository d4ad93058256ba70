"""The measure of news: the measure of articles on news pages that are fetched when they are needed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown.articles import compare, convert_all, text
from markdown.programs.extractors import EXTRACTORS
from markdown.reading.rendering import renderer
from markdown.sources.news import Known, known_beginnings, known_news
from markdown.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown.options import Options

_FIRST = 6  # words of an article of which only the beginning is known
_WORD = re.compile(r"\w+")


def news(options: Options) -> Iterator[Table]:
    """Each set of news pages through every extractor, then pages of which only an article's beginning is known."""
    for name, pages in known_news():
        yield from compare(f"news of {name}", pages, options)
    if pages := known_beginnings():
        yield _begun(pages, options)


def _begun(pages: list[Known], options: Options) -> Table:
    """How many articles of which only the beginning is known have it."""
    rows = []
    for name in EXTRACTORS:
        converted = list(convert_all(name, pages)) if options.converters.wants(name) else []
        told = [_spoken(text(renderer().render(answer.markdown))) for answer in converted]
        wanted = [" ".join(_spoken(page.article).split()[:_FIRST]) for page in pages]
        if told:
            rows.append(Row(name, [sum(first in all_words for first, all_words in zip(wanted, told, strict=True))]))
    note = f"how many of {len(pages)} articles have their first {_FIRST} words"
    return Table("beginnings", note, ("begun",), rows, decimals=0)


def _spoken(words: str) -> str:
    return " ".join(_WORD.findall(words.lower()))
