"""Pages beside their markdown: what of that which a browser shows is told, by the converters."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from markdown.reading.features import KINDS, Bag
from markdown.reading.likeness import likeness, told, truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown.programs.workers import Worker
    from markdown.sources.pages import Page


class Judgement(NamedTuple):
    """What a page's markdown is worth. score: F1 by kind. missing, wrong: what makes it less than 1.

    lenient: the score where raw HTML in the markdown is rendered, too.
    """

    page: str
    score: Mapping[str, float]
    lenient: Mapping[str, float]
    missing: Mapping[str, Bag]
    wrong: Mapping[str, Bag]


def judged(workers: Sequence[Worker], pages: Sequence[Page]) -> Iterator[Mapping[str, Judgement]]:
    """Each page as every converter tells it, by its name; a page that one cannot convert counts as empty."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        waiting = []
        for page in pages:
            waiting.append(pool.submit(judge, page, {worker.name: _written(worker, page) for worker in workers}))
        for judgement in waiting:
            yield judgement.result()


def _written(worker: Worker, page: Page) -> str:
    answer = worker.convert(page.html, page.url)
    if answer.error:
        print(f"{worker.name}: {page.name}: {answer.error}", file=sys.stderr)
    return answer.markdown


def judge(page: Page, written: Mapping[str, str]) -> dict[str, Judgement]:
    """A page and the markdown of it, by converter."""
    shown, base = truth(page.html, page.url)
    judgements = {}
    for name, markdown in written.items():
        given = told(markdown, base)
        score = likeness(shown, given)
        lenient = likeness(shown, told(markdown, base, raw_html=True)) if "<" in markdown else score
        missing = {kind: shown.required[kind] - given[kind] for kind in KINDS}
        wrong = {kind: given[kind] - shown.required[kind] - shown.allowed[kind] for kind in KINDS}
        judgements[name] = Judgement(page.name, score, lenient, missing, wrong)
    return judgements


def means(judgements: Sequence[Judgement]) -> list[float]:
    """The mean over pages of the mean over kinds, the same with raw HTML, and the mean of each kind over its pages."""
    whole = fmean(fmean(judgement.score.values()) for judgement in judgements)
    lenient = fmean(fmean(judgement.lenient.values()) for judgement in judgements)
    return [whole, lenient, *(_mean_of(kind, judgements) for kind in KINDS)]


def _mean_of(kind: str, judgements: Sequence[Judgement]) -> float:
    return fmean(judgement.score[kind] for judgement in judgements if kind in judgement.score)
