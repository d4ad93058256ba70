"""The parts of a page: what leads around the site, what is there to be operated, and what stands for an element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace
from ferrule_fetch.cleaning.text import HEADINGS, length_of, words_of
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule_fetch.cleaning.selection import Found
    from ferrule_fetch.tree.nodes import Document, Node

# Linked data stays: by it the main content is told from the rest. Nobody writes it.
_UNSEEN = ("script:not([type='application/ld+json'])", "style", "template", "noembed", "noframes", "datalist")
_NOT_TEXT = ("canvas", "frameset", "button", "select", "textarea")
# They stand on lines of their own, as not every writer knows.
_BLOCKS = ("center", "dialog", "fieldset", "form", "hgroup", "legend", "option", "optgroup", "search")
_REMOVABLE = ("svg", "button", "nav", "img", "a:empty", "a:has(:empty)", "a li")
_PAGE = ("html", "body", "main")
_MAX_SEARCH_CHARS = 100  # of the labels of a search
_MAX_CONSENT_CHARS = 3_000  # of a question about cookies
_CONSENTS = ("body > div", "body > section", "body > aside")  # where scripts put a question about cookies
_OF_CONSENT = ("cookie", "consent", "gdpr")  # what its names hold
_ANSWERS = "button,a[role=button],input[type=button],input[type=submit],a[class*=btn],a[class*=button]"
_FEW_CHARS = 20
_HOLDERS = ("div", "section", "aside", "li")
_EMPTY_QUOTATION = "blockquote:not(:has(:not(:empty)))"
_HOLDERS_OF_LINES = ("li", *HEADINGS.split(","))
_SMALL_HEADINGS = ("h3", "h4", "h5", "h6")

SELECTORS = (*_UNSEEN, *_NOT_TEXT, *_BLOCKS, "nav", "svg", "span.mw-editsection", *_CONSENTS)


def remove_unseen(found: Found) -> None:
    """Remove what no browser shows as text."""
    for tag in _UNSEEN:
        for element in found[tag]:
            element.extract()


def remove_navigation(found: Found, roles: Found) -> int:
    """Remove what leads around the site; returns how many elements with text these were."""
    removed = 0
    for element in (*found["nav"], *roles.get("navigation", ())):
        if element.tag not in _PAGE:
            removed += bool(element.text.strip())
            around = element.parent
            element.extract()
            _remove_if_only_named(around)
    removed += _remove_consents(found, roles)
    for element in (*found["search"], *roles.get("search", ())):
        if element.tag not in _PAGE and len(words_of(element)) <= _MAX_SEARCH_CHARS:
            element.extract()
    return removed


def _remove_if_only_named(around: Node | None) -> None:
    """Remove what held navigation and its small heading alone. A large one may be the title of the page."""
    if not isinstance(around, Element) or around.tag not in _HOLDERS:
        return
    held = [node for node in around.children if not (isinstance(node, Text) and node.data.isspace())]
    if len(held) == 1 and isinstance(held[0], Element) and held[0].tag in _SMALL_HEADINGS:
        around.extract()


def _remove_consents(found: Found, roles: Found) -> int:
    """Remove what asks for consent to cookies; returns how many elements these were."""
    removed = 0
    dialogs = (*roles.get("dialog", ()), *roles.get("alertdialog", ()), *found["dialog"])
    named = [part for selector in _CONSENTS for part in found[selector] if _asks_for_consent(part)]
    for element in (*dialogs, *named):
        text = element.text.casefold()
        if "cookie" in text and len(text) <= _MAX_CONSENT_CHARS and element.select_one(_ANSWERS) is not None:
            element.extract()
            removed += 1
    return removed


def _asks_for_consent(element: Element) -> bool:
    names = f"{element.attr('id')} {element.attr('class')}".lower()
    return any(map(names.__contains__, _OF_CONSENT))


def clean(found: Found, roles: Found) -> None:
    """Remove what cannot be read, and let roles be the elements that they stand for."""
    for dialog in found["dialog"]:
        if "open" not in dialog.attrs:
            dialog.extract()
    for element in (element for tag in (*_NOT_TEXT, "span.mw-editsection") for element in found[tag]):
        element.extract()
    for drawing in found["svg"]:
        if drawing.parent is not None:
            _show_text(drawing)
    for heading in roles.get("heading", ()):
        if heading.tag not in ("div", "span", "p"):
            continue
        level = heading.attr("aria-level") or ""
        heading.tag = f"h{level}" if level in ("1", "2", "3", "4", "5", "6") else "h2"
    for element in (element for tag in _BLOCKS for element in found[tag]):
        element.tag = "div"


def may_become_empty(found: Found) -> dict[Element, None]:
    """The items of lists that hold something that may be removed, in their order."""
    removable = (element for selector in _REMOVABLE for element in found.get(selector, ()))
    return dict.fromkeys(item for element in removable if (item := element.closest("li")) is not None)


def remove_empty_items(doubtful: Iterable[Element]) -> None:
    """Remove the items of lists from which everything was removed."""
    for item in doubtful:
        text = item.text
        if (not text or text.isspace()) and item.select_one("img,input,hr") is None:
            item.extract()


def remove_empty_holders(tree: Document) -> None:
    """Remove items and headings that hold nothing but empty elements, or are there for a script alone."""
    found = [tree.select(f"{tag}:not(:has(:not(:empty)))") for tag in _HOLDERS_OF_LINES if tree.select_one(tag)]
    for holder in (holder for holders in found for holder in holders):
        text = holder.text
        if (text and not text.isspace()) or not (len(holder.attrs) or len(holder)):
            continue
        if holder.select_one("img,input,hr") is None:
            _remove_with_list(holder)


def remove_empty_blocks(tree: Document, blank: list[Element]) -> None:
    """Remove quotations and code blocks that hold nothing, but from a page of a few characters. blank: such blocks."""
    quotations = tree.select(_EMPTY_QUOTATION) if tree.select_one("blockquote") is not None else []
    empty = [*filter(_holds_nothing, (*blank, *quotations))]
    if empty and length_of(tree.text) > _FEW_CHARS:
        for block in empty:
            block.extract()


def _holds_nothing(block: Element) -> bool:
    text = block.text
    return (not text or text.isspace()) and block.select_one("img,input,hr") is None


def _remove_with_list(item: Element) -> None:
    """Remove an item, its list where that holds nothing else, and so on."""
    around = item.parent
    item.extract()
    while isinstance(around, Element) and around.tag in ("ul", "ol", "li") and not around.text.strip():
        if around.select_one("img,input,hr,li") is not None:
            return
        place, around = around, around.parent
        place.extract()


def _show_text(drawing: Element) -> None:
    """The words of a drawing, as in a chart; those of an icon are none."""
    words = [text for each in drawing.select("text,foreignObject") if (text := " ".join(each.text.split()))]
    title = drawing.select_one("title")
    link = drawing.closest("a")
    if link is not None and title is not None and link.text.strip() == drawing.text.strip():
        replace(drawing, Text(" ".join(title.text.split())))  # the name of a link that has no other
    elif words and drawing.closest("a,button,h1,h2,h3,h4,h5,h6") is None:
        replace(drawing, Element("p", {}, [Text(", ".join(words))]))
    else:
        drawing.extract()
