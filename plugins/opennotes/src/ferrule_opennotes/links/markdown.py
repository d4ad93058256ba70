"""The links that stand in markdown, as they are written there: read by markdown-it, and wiki links by a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

Kind = Literal["link", "image", "wiki", "field"]

# A page, or a path with blanks, which is no destination to CommonMark: only one that ends as notes do.
_IN_TEXT = re.compile(
    r"!?\[\[(?P<wiki>[^\[\]\n]{1,1000}+)\]\](?!\()"
    r"|\[[^\[\]\n]{0,1000}+\]\([ ]*(?P<path>[^()<>\n]{0,1000}?\.md(?:#[^()<>\n\"]{0,200})?)"
    r"(?:[ ]+\"[^\"\n]{0,200}\")?[ ]*\)"
)
_BLOCKS = ("blockquote", "code", "fence", "heading", "lheading", "list", "reference")
_INLINES = ("backticks", "entity", "escape", "image", "link")
_BRACKETS = re.compile(r"(?:[^\[]*+\[){2000}+")  # that are read of one paragraph; one with more is no text
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:")
_SCHEME_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+://|mailto:", re.IGNORECASE)


class Link(NamedTuple):
    """A link. destination: as it is written. kind: `link`, `image`, `wiki`, or `field` (the frontmatter's `links`)."""

    destination: str
    kind: Kind


def find_in_body(text: str) -> list[Link]:
    """The links in markdown that lead, or should lead, to something in the notebook, in their order."""
    # No paragraph behind the last bracket has a link, or changes what is one; with none, there is no such bracket.
    last = text.rfind("]")
    if last < 0:
        return []
    end = text.find("\n\n", last)
    tokens = _make_parser().parse(text if end < 0 else text[:end])
    found = [link for token in tokens if token.children for link in _find_inline(token.children)]
    return [link for link in found if not is_elsewhere(link)]


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


def _find_inline(tokens: Sequence[Token]) -> Iterator[Link]:
    """The links of a paragraph. Text between them is joined, as an escape divides it."""
    text = ""
    for token in tokens:
        if token.type in ("text", "text_special", "softbreak"):
            text += _read_text(token)
            continue
        yield from _find_in_text(text)
        text = ""
        if token.type == "link_open":
            yield Link(str(token.attrs["href"]), "link")
        elif token.type == "image":
            yield Link(str(token.attrs["src"]), "image")
    yield from _find_in_text(text)


def _read_text(token: Token) -> str:
    if token.type == "softbreak":
        return "\n"
    is_escaped_bracket = token.type == "text_special" and token.content in ("[", "]")
    return "\0" if is_escaped_bracket else token.content


def _find_in_text(text: str) -> Iterator[Link]:
    if "[" not in text and "](" not in text:
        return
    for found in _IN_TEXT.finditer(text):
        if found["wiki"] is not None:
            # In a table the bar before an alias is written with a backslash.
            yield Link(found["wiki"].partition("|")[0].rstrip("\\").strip(), "wiki")
        else:
            yield Link(found["path"].strip(), "link")


@cache
def _make_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("zero").enable([*_BLOCKS, *_INLINES])
    parser.core.ruler.after("block", "drop", _drop)
    parser.core.ruler.disable("text_join")
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign] # as it is written
    parser.validateLink = lambda url: True  # type: ignore[method-assign] # as its documentation says
    return parser


def _drop(state: StateCore) -> None:
    """Forget footnotes, which are no references, paragraphs without links, and what only a machine can have written."""
    references = state.env.get("references", {})
    for label in [label for label in references if label.startswith("^")]:
        del references[label]
    for token in state.tokens:
        if token.type == "inline":
            text = token.content if "[" in token.content else ""
            many = _BRACKETS.match(text)
            token.content = many[0] if many else text
