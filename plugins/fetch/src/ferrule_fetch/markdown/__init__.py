"""HTML to markdown: html5lib builds the tree, `tree` walks through it, `writer` writes what is met."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from ferrule_fetch.markdown.links import Links
from ferrule_fetch.markdown.tree import base_of, parse, title_of, walk
from ferrule_fetch.markdown.writer import Writer


def convert(html: str, url: str) -> tuple[str, str]:
    """Return the page's title and its content as markdown, whose lines end in line feeds.

    url: where the page was found; together with its `<base>`, links are resolved against it.
    """
    with _rare_garbage_collection():
        root = parse(html)
        writer = Writer(Links(url, base_of(root)))
        walk(root, writer)
        return title_of(root), writer.markdown()


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    # A large tree is nothing but living objects, and to look through them time and again takes a sixth of the time.
    # Without any collection it takes longer again, for the parser leaves cycles behind that push the rest apart.
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)
