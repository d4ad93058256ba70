"""HTML to markdown: a tree is built, its links are made whole, and turbohtml's writer goes through it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch import cleaning
from ferrule_fetch.article import find_article, split
from ferrule_fetch.markdown import writer
from ferrule_fetch.notes import ALL_HIDDEN
from ferrule_fetch.tree import parsers

if TYPE_CHECKING:
    from ferrule_fetch.cleaning import LeftOut
    from ferrule_fetch.tree.nodes import Document


class Conversion(NamedTuple):
    """A page.

    title: one line, empty if there is none. markdown: of its main content, where the page was split, or of all;
    lines that end in line feeds, but the last. rest: what surrounds the main content.
    """

    title: str
    markdown: str
    rest: str = ""


def convert(html: str, url: str, parser: str = parsers.TURBOHTML, *, is_split: bool = False) -> Conversion:
    """Convert a page.

    Args:
        url: where it was found; together with its `<base>`, links are resolved against it.
        parser: one of `parsers.PARSERS`.
        is_split: tell the main content apart, if there is one.
    """
    with _without_collection():
        return _convert(html, url, parser, is_split=is_split)  # what it holds is gone before a collection looks at it


def _convert(html: str, url: str, parser: str, *, is_split: bool) -> Conversion:
    tree = parsers.parse(html, parser)
    title = title_of(tree)
    left_out = cleaning.leave_out(tree)
    article = find_article(tree) if is_split else None
    _make_plain(tree, url, left_out)
    if article:
        halves = split(tree, article)
        return Conversion(title, _add_note(left_out.note, writer.write(halves.article)), writer.write(halves.rest))
    markdown = _add_note(left_out.note, writer.write(tree))
    if not markdown and left_out.has_text():
        markdown = _with_all_text(parsers.parse(html, parser), url)
    return Conversion(title, markdown)


def _make_plain(tree: Document, url: str, left_out: LeftOut) -> None:
    cleaning.simplify(tree, url, left_out)
    writer.prepare(tree)


def _with_all_text(tree: Document, url: str) -> str:
    """The markdown of a page that has words only in what is left out otherwise."""
    _make_plain(tree, url, cleaning.leave_out(tree, only_unseen=True))
    return _add_note(ALL_HIDDEN, writer.write(tree))


def _add_note(note: str, markdown: str) -> str:
    """Markdown behind a note, unless one of them is empty."""
    return f"{note}\n\n{markdown}" if note and markdown else markdown


def title_of(tree: Document) -> str:
    """The title of a page, in one line; empty if there is none."""
    found = tree.select_one("title:not(svg title)")
    return " ".join(found.text.split()) if found else ""


@contextmanager
def _without_collection() -> Iterator[None]:
    """A large page is nothing but living objects, and to look through them time and again takes time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
