"""The parsers, and what they have in common: each gives the tree of a page spelt out as canonical HTML.

Canonical HTML is what a tree is written as by the HTML standard: every element with its end tag, but for the void
ones; every attribute as ` name="value"`; `&`, `<`, `>`, `"` and no-break spaces escaped in text and values. To read
it takes no parser, only a split at each `<`, which is faster than to cross into a tree for every node of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from ferrule_fetch.markdown.elements import RAW_TEXT, VOID

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LEXBOR, TURBOHTML, HTML5LIB = "lexbor", "turbohtml", "html5lib"
PARSERS = (LEXBOR, TURBOHTML, HTML5LIB)

# Up to here lexbor, whose import is a third of turbohtml's, ends soon on any page; it is quadratic in some shapes.
_LEXBOR_MAX_CHARS = 128 << 10

_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\xa0": "&nbsp;"})
_ESCAPED_VALUE = {**_ESCAPED, ord('"'): "&quot;"}
_DOUBLED = re.compile(r"(<(?:pre|listing|textarea)\b[^>]*>)\n")
_MODULES = {LEXBOR: "selectolax.lexbor", TURBOHTML: "turbohtml"}


def spell_out(html: str, parser: str) -> str:
    """Parse a page as a browser does that runs no scripts, and return its tree as canonical HTML.

    Raises ImportError where the parser is not installed.
    """
    return _SPELL_OUT[parser](html)


def choose(length: int) -> str:
    """The best parser that is installed for a page of this many characters."""
    wanted = (LEXBOR, TURBOHTML) if length <= _LEXBOR_MAX_CHARS else (TURBOHTML, LEXBOR)
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
    """html5lib's tree, which it does not spell out itself; depth costs no recursion."""
    import html5lib

    root: Element = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)
    return "".join(_pieces(root))


def _pieces(root: Element) -> Iterator[str]:
    yield _start(root)
    open_elements = [(root, iter(root))]
    while open_elements:
        element, children = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            yield f"</{_name(element)}>"
        elif callable(child.tag):  # ElementTree's function Comment is the tag of a comment
            yield f"<!--{child.text}-->"
        elif _name(child) in VOID:
            yield _start(child)
        else:
            yield _start(child)
            open_elements.append((child, iter(child)))
            continue
        tail = (child if child is not None else element).tail
        if tail:
            yield tail.translate(_ESCAPED)


def _start(element: Element) -> str:
    attributes = "".join(f' {_local(name)}="{value.translate(_ESCAPED_VALUE)}"' for name, value in element.items())
    text = element.text or ""
    return f"<{_name(element)}{attributes}>{text if element.tag in RAW_TEXT else text.translate(_ESCAPED)}"


def _name(element: Element) -> str:
    return _local(element.tag)


def _local(name: str) -> str:
    return name.rpartition("}")[2]  # html5lib puts the namespace of SVG and MathML before it


_SPELL_OUT: dict[str, Callable[[str], str]] = {
    LEXBOR: _with_lexbor,
    TURBOHTML: _with_turbohtml,
    HTML5LIB: _with_html5lib,
}
