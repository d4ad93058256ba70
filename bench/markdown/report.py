"""The measures, each of which makes a table of the converters that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown.articles import articles
from markdown.cold import cold
from markdown.content import content
from markdown.losses import losses
from markdown.news import news
from markdown.roundtrip import fuzzed, roundtrip
from markdown.speed import memory, speed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from markdown.options import Options
    from markdown.tables import Table

MEASURES: dict[str, Callable[[Options], Iterator[Table]]] = {
    "roundtrip": roundtrip,
    "fuzz": fuzzed,
    "pages": content,
    "articles": articles,
    "news": news,
    "losses": losses,
    "speed": speed,
    "memory": memory,
    "cold": cold,
}
