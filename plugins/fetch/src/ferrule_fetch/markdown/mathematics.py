"""Formulas, as TeX: the page's own where it brings it along, else made from MathML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ferrule_fetch.markdown import tokens
from ferrule_fetch.markdown.attributes import attributes_of, unescape

_TEX = ("application/x-tex", "text/x-tex", "tex", "latex", "text/latex", "application/x-latex")
_DISPLAY = re.compile(r"^\{\\(?:displaystyle|textstyle)\s*(.*)\}$", re.S)

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
_BETWEEN = {"mtr": " & ", "mtable": " \\\\ "}
_MAX_PIECES = 20_000  # of a formula; in a larger one only the text is looked at


def formula(rest: Iterator[str], spelt: str) -> tuple[str, bool, str]:
    """The TeX of a `math` element whose start tag was met, whether it stands alone, and the text behind it."""
    inside, behind = tokens.within(rest, "math")
    attributes = attributes_of(spelt)
    tex = _find_annotation(inside) or attributes.get("alttext") or _from_mathml(inside)
    alone = attributes.get("display") == "block" or attributes.get("mode") == "display"
    return tidy(tex), alone, behind


def tidy(tex: str) -> str:
    """TeX in one line, without the wrapping that some sites put around it."""
    tex = " ".join(tex.split())
    wrapped = _DISPLAY.match(tex)
    return wrapped[1].strip() if wrapped else tex


def _find_annotation(inside: list[str]) -> str:
    for index, piece in enumerate(inside):
        tag, _, text = piece.partition(">")
        name, _, spelt = tag.partition(" ")
        if name == "annotation" and attributes_of(spelt).get("encoding", "").lower() in _TEX:
            following = inside[index + 1 : index + 2]
            if following and following[0].startswith("/annotation"):
                return unescape(text)
    return ""


def _from_mathml(inside: list[str]) -> str:
    if len(inside) > _MAX_PIECES:
        return tokens.text_of(inside)
    parts: list[list[str]] = [[]]
    names: list[str] = []
    rest = iter(inside)
    for piece in rest:
        tag, _, text = piece.partition(">")
        name = tag.partition(" ")[0]
        if name in ("annotation", "annotation-xml"):
            tokens.skip(rest, name)
        elif not name.startswith(("/", "!")):
            names.append(name)
            parts.append([text] if text.strip() else [])
        elif names and name == f"/{names[-1]}":
            parts[-2].append(_write(names.pop(), parts.pop()))
    return unescape(" ".join(parts[0]))


def _write(name: str, parts: list[str]) -> str:
    count, shape = _SHAPES.get(name, (0, ""))
    if shape and len(parts) == count:
        return shape.format(*parts)
    joined = _BETWEEN.get(name, " ").join(filter(None, parts))
    return f"\\sqrt{{{joined}}}" if name == "msqrt" else joined
