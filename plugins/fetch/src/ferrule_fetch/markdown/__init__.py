"""HTML to markdown: `parsers` build the tree of a page and spell it out, `writer` goes through it once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ferrule_fetch.markdown import parsers, sentinels
from ferrule_fetch.markdown.links import Links
from ferrule_fetch.markdown.writer import Writer


class Conversion(NamedTuple):
    """A page. title: one line, empty where there is none. markdown: lines that end in line feeds, but the last."""

    title: str
    markdown: str


def convert(html: str, url: str, parser: str | None = None) -> Conversion:
    """Convert a page.

    url: where it was found; together with its `<base>`, links are resolved against it. parser: one of
    `parsers.PARSERS`; without it, the best that is installed for a page of its size.
    """
    parser = parser or parsers.choose(len(html))
    with _collecting(rarely=parser == parsers.HTML5LIB):
        tree = parsers.spell_out(html, parser)
        if any(control in tree for control in sentinels.CONTROLS):
            tree = tree.translate(dict.fromkeys(map(ord, sentinels.CONTROLS)))
        writer = Writer(tree, Links(url))
        markdown = writer.write()
        return Conversion(writer.title, markdown)


@contextmanager
def _collecting(*, rarely: bool) -> Iterator[None]:
    # A large page is nothing but living objects, and to look through them time and again takes a sixth of the time.
    # Without any collection html5lib takes longer again, for it leaves cycles behind that push the rest apart.
    before, was_enabled = gc.get_threshold(), gc.isenabled()
    gc.set_threshold(100_000, 50, 1_000)
    if rarely:
        gc.enable()
    else:
        gc.disable()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if was_enabled:
            gc.enable()
        else:
            gc.disable()
