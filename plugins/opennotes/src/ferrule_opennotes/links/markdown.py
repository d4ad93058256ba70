"""The links that stand in markdown, as they are written there.

Every expression is possessive or bounded, and the brackets are matched by one walk with a stack: a megabyte of "["
takes as long as a megabyte of prose.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ferrule_opennotes.links.code import remove_code

Kind = Literal["link", "image", "wiki", "field"]

_MAX_LABEL_CHARS = 999  # characters of the label of a reference, as CommonMark has it
_WIKI = re.compile(r"(?<!\\)!?\[\[([^\[\]\n]{1,1000}+)\]\](?!\()")
_MARK = re.compile(r"\\[^\n]|!?\[|\]|\n[ \t\r]*+(?=\n)")
_DEFINITION = re.compile(
    r"^ {0,3}\[([^\[\]\n]{1,999}+)\]:[ \t]*+(?:\n[ \t]*+)?+(?:<([^<>\n]{0,2000}+)>|(\S++))[^\n]*+", re.MULTILINE
)
_REFERENCE = re.compile(r"\[([^\[\]]{0,999}+)\]")
_DESTINATION = re.compile(
    r"\(\s*+(?:<([^<>\n]{0,2000}+)>|([^\s<>()]*+(?:\([^\s()]*+\)[^\s<>()]*+)*+))"
    r"(?:\s++(?:\"[^\"]{0,2000}+\"|'[^']{0,2000}+'|\([^()]{0,2000}+\)))?+\s*+\)"
)
_WITH_SPACES = re.compile(r"\(([^()<>\n]{1,1000}+)\)")
_TITLE = re.compile(r"\s\"[^\"]*\"\s*$")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:")
_SCHEME_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+://|mailto:", re.IGNORECASE)


class Link(NamedTuple):
    """A link. destination: as it is written. kind: `link`, `image`, `wiki`, or `field` (the frontmatter's `links`)."""

    destination: str
    kind: Kind


def find_in_body(text: str) -> list[Link]:
    """The links in markdown that lead, or should lead, to something in the notebook, in their order."""
    if "[" not in text:
        return []
    text = remove_code(text)
    found = [(match.start(), Link(_page(match[1]), "wiki")) for match in _WIKI.finditer(text)]
    if "](" in text or "]:" in text:
        found += _find_bracketed(_WIKI.sub(_blank, text))
    return [link for _, link in sorted(found, key=lambda each: each[0]) if not is_elsewhere(link)]


def find_in_field(value: object) -> list[Link]:
    """The links of the frontmatter's `links`: one or several, each a path, or text with links in it.

    A list in the list is what YAML makes of `[[page]]` without quotes.
    """
    found: list[Link] = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, list):
            found += [Link(text.strip(), "wiki") for text in item if isinstance(text, str)]
        elif isinstance(item, str) and ("[[" in item or "](" in item):
            found += find_in_body(item)
        elif isinstance(item, str):
            found.append(Link(item.strip(), "field"))
    return [link for link in found if not is_elsewhere(link)]


def is_elsewhere(link: Link) -> bool:
    """Whether a link leads out of the notebook, or nowhere but to its own note."""
    if not link.destination or link.destination.startswith(("#", "//")):
        return True
    # The title of a page may well have a colon in it; a path that a browser follows may not.
    scheme = _SCHEME if link.kind in ("link", "image") else _SCHEME_IN_TEXT
    return scheme.match(link.destination) is not None


def _page(inner: str) -> str:
    """The page that a wiki link names, without its alias. In a table the bar is written with a backslash."""
    return inner.partition("|")[0].rstrip("\\").strip()


def _blank(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


def _find_bracketed(text: str) -> list[tuple[int, Link]]:
    """Inline links and references with the places where they begin."""
    definitions = _find_definitions(text)
    if definitions:
        text = _DEFINITION.sub(_blank, text)
    found: list[tuple[int, Link]] = []
    opened: list[tuple[int, bool]] = []
    behind = 0  # the destination of the last link
    for match in _MARK.finditer(text):
        mark = match[0]
        if match.start() < behind or mark[0] == "\\":
            continue
        if mark[0] == "\n":
            opened.clear()  # no link goes on in the next paragraph
        elif mark != "]":
            opened.append((match.end(), mark[0] == "!"))
        elif opened:
            start, is_image = opened.pop()
            destination, end = _find_destination(text, match.end(), start, definitions)
            if destination:
                found.append((start, Link(destination, "image" if is_image else "link")))
            if end:
                behind = end
            if end and not is_image:
                opened.clear()  # no link holds another one
    return found


def _find_definitions(text: str) -> dict[str, str]:
    if "]:" not in text:
        return {}
    found: dict[str, str] = {}
    for match in _DEFINITION.finditer(text):
        if not match[1].startswith("^"):  # a footnote
            found.setdefault(_normalize_label(match[1]), _unescape(match[3] if match[2] is None else match[2]))
    return found


def _find_destination(text: str, end: int, start: int, definitions: dict[str, str]) -> tuple[str, int]:
    """What follows the bracket that closes at `end`, and where that ends; `("", 0)` where it makes no link.

    start: where the text between the brackets begins.
    """
    if text.startswith("(", end):
        if inline := _DESTINATION.match(text, end):
            return _unescape(inner if (inner := inline[1]) is not None else inline[2]), inline.end()
        if (spaced := _WITH_SPACES.match(text, end)) and (path := _path_with_spaces(spaced[1])):
            return path, spaced.end()
    if not definitions:
        return "", 0
    reference = _REFERENCE.match(text, end)
    own = text[start : end - 1] if end - start <= _MAX_LABEL_CHARS else ""
    label = _normalize_label((reference[1] if reference else "") or own)
    return (definitions[label], reference.end() if reference else end) if label in definitions else ("", 0)


def _path_with_spaces(inner: str) -> str:
    """A path that should have been put in angle brackets. Only one that ends as notes do: `[i](x, y)` is prose."""
    path = _TITLE.sub("", inner).strip() if inner.rstrip().endswith('"') else inner.strip()
    return path if path.partition("#")[0].endswith(".md") else ""


def _normalize_label(text: str) -> str:
    return " ".join(text.casefold().split())


def _unescape(destination: str) -> str:
    """The destination without markdown's escapes and HTML's references."""
    if "&" in destination and ";" in destination:
        import html

        destination = html.unescape(destination)
    return _ESCAPED.sub(r"\1", destination) if "\\" in destination else destination
