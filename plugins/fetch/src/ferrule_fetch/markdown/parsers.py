"""The parsers, and what they have in common: each gives the tree of a page spelt out as canonical HTML.

Canonical HTML is what a tree is written as by the HTML standard: every element with its end tag, but for the void
ones; every attribute as ` name="value"`; `&`, `<`, `>`, `"` and no-break spaces escaped in text and values. To read
it takes no parser, only a split at each `<`, which is faster than to cross into a tree for every node of it.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LEXBOR, TURBOHTML, HTML5LIB = "lexbor", "turbohtml", "html5lib"
PARSERS = (LEXBOR, TURBOHTML, HTML5LIB)

# Up to here lexbor, whose import is a third of turbohtml's, ends soon on any page; it is quadratic in some shapes.
_LEXBOR_MAX = 128 << 10  # characters


def spell_out(html: str, parser: str) -> str:
    """Parse a page as a browser does that runs no scripts, and return its tree as canonical HTML.

    Raises ImportError where the parser is not installed.
    """
    return _SPELL_OUT[parser](html)


def choose(length: int) -> str:
    """The best parser that is installed for a page of this many characters."""
    wanted = (LEXBOR, TURBOHTML) if length <= _LEXBOR_MAX else (TURBOHTML, LEXBOR)
    return next(filter(_is_installed, wanted), HTML5LIB)


def preload() -> None:
    """Import the parser that most pages need, so that it is there when a page comes."""
    _is_installed(LEXBOR)


def _is_installed(parser: str) -> bool:
    try:
        import_module(_MODULES[parser])
    except ImportError:
        return False
    return True


def _with_lexbor(html: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    return LexborHTMLParser(html).html or ""


def _with_turbohtml(html: str) -> str:
    import turbohtml

    tree = turbohtml.parse(html, positions=False, allow_declarative_shadow_roots=False).html
    # It doubles the line feed at the beginning of these, which a parser that reads its output would take away.
    return _DOUBLED.sub(r"\1", tree)


def _with_html5lib(html: str) -> str:
    from ferrule_fetch.markdown.html5lib_tree import spell_out

    return spell_out(html)


_DOUBLED = re.compile(r"(<(?:pre|listing|textarea)\b[^>]*>)\n")
_MODULES = {LEXBOR: "selectolax.lexbor", TURBOHTML: "turbohtml"}
_SPELL_OUT: dict[str, Callable[[str], str]] = {
    LEXBOR: _with_lexbor,
    TURBOHTML: _with_turbohtml,
    HTML5LIB: _with_html5lib,
}
