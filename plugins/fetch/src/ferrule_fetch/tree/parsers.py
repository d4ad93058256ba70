"""The parsers: each builds the tree of a page as a browser does that runs no scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.patterns import compile_late
from ferrule_fetch.reading_policy import PARSERS
from ferrule_fetch.tree import nodes

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document

__all__ = ["HTML5LIB", "PARSERS", "TURBOHTML", "canonical", "parse"]

TURBOHTML, HTML5LIB = PARSERS

# The parser of HTML takes away the line feed that follows these tags. A tree that is written and read again has to
# have one more, if it has one.
_BEFORE_LINE_FEED = compile_late(r"(<(?:pre|listing|textarea)\b[^>]*>)(?=\n)")


def parse(html: str, parser: str = TURBOHTML) -> Document:
    """The tree of a page. parser: one of PARSERS."""
    if parser == HTML5LIB:
        html = canonical(html)
    return nodes.parse(html, positions=False, allow_declarative_shadow_roots=False)


def canonical(html: str) -> str:
    """A page as html5lib understands it, spelt so that every parser builds the same tree of it."""
    import html5lib
    from html5lib.serializer import HTMLSerializer

    tree = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=True)
    written = HTMLSerializer(
        omit_optional_tags=False, quote_attr_values="always", resolve_entities=False, escape_lt_in_attrs=True
    ).serialize(html5lib.getTreeWalker("etree")(tree))
    return _BEFORE_LINE_FEED.sub(r"\1\n", "".join(written))
