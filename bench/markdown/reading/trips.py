"""Trips there and back: HTML to markdown by a converter, to HTML by a renderer, and both compared as trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markdown.reading.rendering import renderer
from markdown.reading.trees import Node, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown.programs.workers import Worker
    from markdown.sources.examples import Case

URL = "http://e.org/folder/page.html"


class Trip(NamedTuple):
    """How a case came out. strict: the trees are the same. loose: they are but for loose and tight lists.

    error: why there is no markdown.
    """

    case: Case
    markdown: str
    expected: Node
    got: Node
    strict: bool
    loose: bool
    error: str = ""


def meetable(cases: Iterable[Case]) -> list[Case]:
    """The cases that count: those whose own markdown, rendered, gives their HTML. None of these needs raw HTML."""
    render = renderer().render
    return [case for case in cases if canonical(render(case.markdown), URL) == canonical(case.html, URL)]


def trips(worker: Worker, cases: Iterable[Case]) -> Iterator[Trip]:
    """Every case through a converter and back."""
    render = renderer().render
    for case in cases:
        answer = worker.convert(case.html, URL)
        trip = compared(case, answer.markdown, render(answer.markdown))
        yield trip._replace(strict=False, loose=False, error=answer.error) if answer.error else trip


def compared(case: Case, markdown: str, back: str) -> Trip:
    """A case beside what was rendered from a converter's markdown for it."""
    expected, got = canonical(case.html, URL), canonical(back, URL)
    loose = canonical(case.html, URL, loose=True) == canonical(back, URL, loose=True)
    return Trip(case, markdown, expected, got, strict=expected == got, loose=loose)
