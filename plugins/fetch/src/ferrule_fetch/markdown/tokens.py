"""The pieces of canonical HTML between one "<" and the next, where an element is taken as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ferrule_fetch.markdown.attributes import attributes_of, unescape
from ferrule_fetch.markdown.elements import RAW_TEXT, VOID


class Element(NamedTuple):
    """An element. attributes: by names in small letters. text: of one in which tags are text, such as a script."""

    name: str
    attributes: dict[str, str]
    text: str = ""


def skip(rest: Iterator[str], name: str) -> str:
    """Pass over an element whose start tag was met, up to its end; returns the text behind it."""
    if name in VOID or name.startswith("/"):
        return ""
    return raw_text(rest, name)[1] if name in RAW_TEXT else within(rest, name)[1]


def within(rest: Iterator[str], name: str) -> tuple[list[str], str]:
    """The pieces of an element whose start tag was met, and the text behind it."""
    inside: list[str] = []
    depth, of_this_name = 1, (f"/{name}>", f"{name}>", f"{name} ")
    for piece in rest:
        if piece.startswith(of_this_name):
            depth += -1 if piece[0] == "/" else 1
            if depth == 0:
                return inside, piece[len(name) + 2 :]
        inside.append(piece)
    return inside, ""


def raw_text(rest: Iterator[str], name: str, first: str = "") -> tuple[str, str]:
    """The text of an element in which tags are text, after its `first` piece, and what stands behind it."""
    end = f"/{name}>"
    within = [first]
    for piece in rest:
        if piece.startswith(end) and not (name == "script" and _is_escaped("<".join(within))):
            return "<".join(within), piece[len(end) :]
        within.append(piece)
    return "<".join(within), ""


def _is_escaped(script: str) -> bool:
    """Whether a script goes on behind an end tag, because a comment in it has begun a script of its own."""
    comment = script.rpartition("<!--")[2] if "<!--" in script else "-->"
    return "-->" not in comment and comment.lower().count("<script") > comment.lower().count("</script")


def comment(rest: Iterator[str], first: str) -> str:
    """Pass over a comment; returns the text behind it."""
    _, end, text = first.partition("-->")
    for piece in () if end else rest:
        _, end, text = piece.partition("-->")
        if end:
            break
    return text


def text_of(pieces: Iterable[str]) -> str:
    """The text of pieces that have no markup worth to be kept."""
    return unescape("".join(piece.partition(">")[2] for piece in pieces))


def elements(tree: str, names: Collection[str]) -> Iterator[Element]:
    """Yield the elements of these names, in their order, but for those in comments and templates.

    tree: the page as canonical HTML.
    """
    rest = iter(tree.split("<"))
    next(rest)
    for piece in rest:
        if piece.startswith("!--"):
            comment(rest, piece)
            continue
        tag, _, text = piece.partition(">")
        name, _, spelt = tag.partition(" ")
        inside = raw_text(rest, name, text)[0] if name in RAW_TEXT else ""
        if name == "template":
            within(rest, name)
        elif name in names:
            yield Element(name, attributes_of(spelt), inside)
