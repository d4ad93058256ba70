"""The measure of pages: how much of what they say, and how, their markdown tells."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from markdown import failures
from markdown.reading.features import KINDS
from markdown.reading.judging import judged, means
from markdown.sources.pages import pages
from markdown.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown.options import Options


def content(options: Options) -> Iterator[Table]:
    """Real pages through every converter."""
    corpus = list(pages())
    with contextlib.ExitStack() as stack:
        workers = options.converters.all(stack)
        print(f"{len(corpus)} pages, {len(workers)} converters …", file=sys.stderr)
        done = list(judged(workers, corpus))
    by_converter = {worker.name: [judgements[worker.name] for judgements in done] for worker in workers}
    for name, judgements in by_converter.items():
        if options.failures and name.startswith("ours"):
            print(failures.of_pages(name, judgements, options.failures), file=sys.stderr)
    rows = [Row(name, means(judgements)) for name, judgements in by_converter.items()]
    note = f"F1 of what {len(corpus)} pages show, the mean over pages, aim 0.975; raw: with raw HTML, which may say all"
    yield Table("pages", note, ["all", "raw", *KINDS], rows, decimals=3)
