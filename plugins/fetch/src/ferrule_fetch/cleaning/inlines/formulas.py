"""Formulas as TeX: the page's own where it brings it along, else made from MathML.

In running text a formula is a code span between dollar signs, on its own it is a code block of the language `math`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace
from ferrule_fetch.cleaning.selection import is_there
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found
    from ferrule_fetch.tree.nodes import Node

_TEX = frozenset({"application/x-tex", "text/x-tex", "tex", "latex", "text/latex", "application/x-latex"})
_STYLED = compile_late(r"^\{\\(?:displaystyle|textstyle)\s*(.*)\}$", re.S)
_SITES = ".katex,mjx-container,.mwe-math-element,.MathJax,.MathJax_Display,.MathJax_SVG,.MathJax_CHTML"
_DRAWN = frozenset(
    {"MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_CHTML", "MathJax_Preview", "MathJax_SVG_Display"}
)
_ONE_LINE = "h1,h2,h3,h4,h5,h6,td,th,caption,a,dt"

# By element: how many parts it has, and what is written around them.
_SHAPES = {
    "mfrac": (2, r"\frac{{{0}}}{{{1}}}"),
    "msup": (2, "{0}^{{{1}}}"),
    "msub": (2, "{0}_{{{1}}}"),
    "msubsup": (3, "{0}_{{{1}}}^{{{2}}}"),
    "munder": (2, "{0}_{{{1}}}"),
    "mover": (2, "{0}^{{{1}}}"),
    "munderover": (3, "{0}_{{{1}}}^{{{2}}}"),
    "mroot": (2, r"\sqrt[{1}]{{{0}}}"),
}
_STACKED = r"{{{0} \atop {1}}}"  # a fraction without a line, as of binomial coefficients
_ACCENTS = {"˙": "dot", "¨": "ddot", "→": "vec", "⃗": "vec", "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde"}
_ACCENTS |= dict.fromkeys(("¯", "‾", "―", "_"), "overline")
_NO_LINE = compile_late(r"\s*0+(?:\.0+)?\s*(?:[a-z]+|%)?\s*")
_BETWEEN = {"mtr": " & ", "mtable": " \\\\ "}
_MAX_PARTS = 5_000  # of a formula; of a larger or deeper one only the text is looked at
_MAX_DEPTH = 100


_RAW = ("span:is(.math,.arithmatex)", "div:is(.math,.arithmatex)")  # for a script to draw
_DELIMITED = compile_late(r"\s*(?:\\\((?P<inline>.+)\\\)|\\\[(?P<alone>.+)\\\])\s*", re.S)

SELECTORS = (
    *_RAW,
    'script[type^="math/tex"]',
    "math",
    "span.katex-html",
    "div.katex-html",
    'img[class*="mwe-math-fallback"]',
    "img.latex",
    "img.tex",
)


def clean(found: Found) -> None:
    """Write all formulas as TeX, without what was drawn for them."""
    for raw in (raw for selector in _RAW for raw in found[selector]):
        if (tex := _DELIMITED.fullmatch(raw.text)) is not None and raw.select_one("math,script") is None:
            _put(raw, _tidy(tex["inline"] or tex["alone"]), alone=tex["inline"] is None)
    scripts, _, *katex_and_images = SELECTORS[len(_RAW) :]
    for script in found[scripts]:
        _remove_drawn(script)
        _put(script, _tidy(script.text), alone="display" in (script.attr("type") or ""))
    for formula in found["math"]:
        _put_math(formula)
    for selector in katex_and_images[:2]:
        for drawn in found[selector]:
            drawn.extract()
    for image in (image for selector in katex_and_images[2:] for image in found[selector] if is_there(image)):
        _put(image, _tidy(image.attr("alt") or ""), alone="display" in (image.attr("class") or ""))


def _put_math(formula: Element) -> None:
    tex = _tidy(_annotation(formula) or formula.attr("alttext") or _from_mathml(formula))
    alone = formula.attr("display") == "block" or formula.attr("mode") == "display"
    place = formula
    while (around := place.closest(_SITES)) is not None:
        alone = alone or around.attr("display") == "true" or around.closest(".katex-display") is not None
        if len(around.select("math")) > 1:
            break
        place = around
        parent = around.parent
        if not isinstance(parent, Element) or parent.closest(_SITES) is None:
            break
        place = parent.closest(_SITES) or place
        break
    _put(place, tex, alone=alone)


def _put(place: Element, tex: str, *, alone: bool) -> None:
    if not tex:
        place.extract()
    elif alone and place.closest(_ONE_LINE) is None:
        replace(place, Element("pre", {}, [Element("code", {"class": "language-math"}, [Text(tex)])]))
    else:
        replace(place, Text("$"), Element("code", {}, [Text(tex)]), Text("$"))


def _remove_drawn(script: Element) -> None:
    """Remove what MathJax has drawn for the formula that a script holds, which stands before it."""
    for node in list(script.previous_siblings):
        if isinstance(node, Text) and not node.data.strip():
            continue
        if not isinstance(node, Element) or not _DRAWN.intersection((node.attr("class") or "").split()):
            return
        node.extract()


def _tidy(tex: str) -> str:
    """TeX in one line, without the wrapping that some sites put around it."""
    tex = " ".join(tex.split())
    wrapped = _STYLED.match(tex)
    return wrapped[1].strip() if wrapped else tex


def _annotation(formula: Element) -> str:
    for annotation in formula.select("annotation"):
        if (annotation.attr("encoding") or "").lower() in _TEX and annotation.text.strip():
            return annotation.text
    return ""


def _from_mathml(formula: Element) -> str:
    for annotation in formula.select("annotation,annotation-xml"):
        annotation.extract()
    if len(formula.select("*")) > _MAX_PARTS or formula.select_one(" > ".join(["*"] * _MAX_DEPTH)) is not None:
        return formula.text
    return " ".join(_written(child) for child in formula.children).strip()


def _written(node: Node) -> str:
    if isinstance(node, Text):
        return node.data.strip()
    if not isinstance(node, Element):
        return ""
    if len(node) == 1 and isinstance(leaf := node[0], Text) and node.tag not in ("msqrt", "mfrac"):
        return leaf.data.strip()
    parts = [written for child in node.children if (written := _written(child)) or isinstance(child, Element)]
    count, shape = _SHAPES.get(node.tag, (0, ""))
    if shape and len(parts) == count:
        if node.tag == "mover" and parts[1] in _ACCENTS:
            return f"\\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
        if node.tag == "mfrac" and _NO_LINE.fullmatch(node.attr("linethickness") or ""):
            shape = _STACKED
        return shape.format(*parts)
    joined = _BETWEEN.get(node.tag, " ").join(filter(None, parts))
    return f"\\sqrt{{{joined}}}" if node.tag == "msqrt" else joined
