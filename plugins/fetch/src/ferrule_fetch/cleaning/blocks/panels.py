"""Panels that something on the page opens: tabs, accordions, answers to questions."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace, unwrap
from ferrule_fetch.cleaning.text import HEADINGS, make, words_of
from ferrule_fetch.tree.nodes import Element

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferrule_fetch.cleaning.selection import Found
    from ferrule_fetch.tree.nodes import Document

_TARGETS = ("aria-controls", "data-bs-target", "data-target", "href")
_OPENING = "[aria-controls],[data-bs-target],[data-target],[data-bs-toggle],[data-toggle]"
_OPENERS = (
    *(f"{tag}:is({_OPENING})" for tag in ("button", "a", "h2", "h3", "h4", "dt", "summary", "label")),
    *(f"{tag}[aria-controls]" for tag in ("div", "li", "span")),
)
_OPEN_OTHERS = frozenset({"dropdown", "modal", "offcanvas", "popover", "tooltip"})
_MAX_TABLISTS = 200
_MAX_NODES = 100  # before a panel, among which its button is looked for
_MAX_NEIGHBOURS = 40  # of a panel, on each side, among which another is looked for
_NO_CONTENT = frozenset({"menu", "listbox", "dialog", "alertdialog", "tooltip", "navigation", "search", "alert"})
_IN_HEADING = "h1 button,h2 button,h3 button,h4 button,h5 button,h6 button,summary button,dt button"


class Panels:
    """The panels of a page, by the ids that its buttons and tabs name."""

    def __init__(self, tree: Document) -> None:
        self._opened: set[str] = set()
        self._buttons = {button.attr("id") for button in tree.select("button[id]")}
        self._linked = {(link.attr("href") or "")[1:] for link in tree.select('a[href^="#"]')} - {""}
        for selector in _OPENERS:
            for opener in tree.select(selector):
                for name in _TARGETS:
                    self._add(opener, opener.attr(name))

    def _add(self, opener: Element, names: str | None) -> None:
        toggles = opener.attr("data-bs-toggle") or opener.attr("data-toggle")
        if names and toggles not in _OPEN_OTHERS and (opener.attr("aria-haspopup") or "false") == "false":
            self._opened.update(name.lstrip("#") for name in names.split())

    def is_opened(self, element: Element, gone: Collection[Element] = ()) -> bool:
        """Whether something on the page opens an element, and it is no menu and no dialog. gone: what is left out."""
        role = element.attr("role")
        if role == "tabpanel" or (element.attr("aria-labelledby") or "-") in self._buttons:
            return True
        if is_never_content(element):
            return False
        is_opened = element.attr("id") in self._opened or _is_behind_button(element, gone) or self._is_tab(element)
        return is_opened and not is_menu(element)

    def _is_tab(self, element: Element) -> bool:
        """Whether links of the page lead to an element and to another one next to it, as tabs do."""
        if element.attr("id") not in self._linked:
            return False
        nodes = (islice(some, _MAX_NEIGHBOURS) for some in (element.previous_siblings, element.next_siblings))
        return any(isinstance(node, Element) and node.attr("id") in self._linked for node in chain(*nodes))


def is_never_content(element: Element) -> bool:
    """Whether an element is a dialog or a menu, whatever opens it."""
    return element.attr("role") in _NO_CONTENT or element.tag in ("dialog", "nav") or element.has_class("modal")


# Tabs that are the labels of fields, by class: MkDocs's and VitePress's, with the classes of labels and of blocks.
_LABELLED = {"tabbed-set": ("tabbed-labels", "tabbed-content"), "vp-code-group": ("tabs", "blocks")}
SELECTORS = ("button", "div:is(.tabbed-set,.vp-code-group)")


def label(tree: Document, found: Found, roles: Found) -> None:
    """Put the name of each tab above its panel, and make plain text of the buttons that are headings."""
    for tabs in roles.get("tablist", ())[:_MAX_TABLISTS]:
        if tabs.parent is not None:
            _label_tabs(tree, tabs, roles)
    for tabs in found[SELECTORS[1]]:
        for kind, classes in _LABELLED.items():
            if tabs.has_class(kind):
                _label_blocks(tabs, *classes)
    by_id: dict[str, Element] = {}
    if any(button.attr("aria-expanded") is not None for button in found["button"]):  # few pages need it
        by_id = {name: each for each in tree.select("[id]") if (name := each.attr("id"))}
    for button in found["button"]:
        if button.parent is None:
            continue
        if button.closest(f"{HEADINGS},summary,dt") is not None:
            unwrap(button)
        elif button.attr("aria-expanded") is not None and _opens_panel(by_id, button):
            replace(button, Element("p", {}, [make("strong", words_of(button))]))


def _label_tabs(tree: Document, tabs: Element, roles: Found) -> None:
    named = [tab for tab in tabs.select('[role="tab"]') if words_of(tab)]
    panels = _panels_of(tabs, named, roles)
    if not named or len(panels) != len(named):
        return
    for tab, panel in zip(named, panels, strict=True):
        if panel.select_one(HEADINGS) is None or words_of(tab) not in words_of(panel)[:200]:
            panel.insert(0, Element("p", {}, [make("strong", words_of(tab))]))
    tabs.extract()


def _label_blocks(tabs: Element, class_of_labels: str, class_of_blocks: str) -> None:
    """Tabs that are the labels of fields, in the order of their blocks."""
    parts = _children(tabs)
    labels = next((part for part in parts if part.has_class(class_of_labels)), None)
    contents = next((part for part in parts if part.has_class(class_of_blocks)), None)
    if labels is None or contents is None:
        return
    names, blocks = [each for each in _children(labels) if each.tag != "input"], _children(contents)
    if len(names) != len(blocks):
        return
    for name, block in zip(names, blocks, strict=True):
        block.insert(0, Element("p", {}, [make("strong", words_of(name))]))
    labels.extract()


def _children(element: Element) -> list[Element]:
    return [child for child in element.children if isinstance(child, Element)]


def _panels_of(tabs: Element, named: list[Element], roles: Found) -> list[Element]:
    """The panels of tabs, in their order; [] where they cannot be told."""
    by_id = {panel.attr("id"): panel for panel in roles.get("tabpanel", ())}
    targets = [tab.attr("aria-controls") or (tab.attr("href") or "").lstrip("#") for tab in named]
    if targets and all(target in by_id for target in targets):
        return [by_id[target] for target in targets]
    labelled = {panel.attr("aria-labelledby"): panel for panel in by_id.values()}
    if named and all(tab.attr("id") and tab.attr("id") in labelled for tab in named):
        return [labelled[tab.attr("id")] for tab in named]
    around = tabs.parent
    found = around.select('[role="tabpanel"]') if around is not None else []
    return found if len(found) == len(named) else []


def _opens_panel(by_id: dict[str, Element], button: Element) -> bool:
    if not words_of(button) or button.closest("nav,[role=navigation],header") is not None:
        return False
    name = button.attr("aria-controls")
    panel = next(_elements_behind(button), None)
    if name:
        panel = by_id.get(name, panel)
    if panel is None or not words_of(panel):
        return False
    return panel.attr("role") not in _NO_CONTENT and panel.tag not in ("nav", "dialog") and not is_menu(panel)


def _is_behind_button(element: Element, gone: Collection[Element]) -> bool:
    """Whether an element follows a heading that is a button, as the answers in an accordion do."""
    place: Element | None = element
    for _ in range(2):
        nodes = islice(place.previous_siblings, _MAX_NODES) if place is not None else ()
        before = next((node for node in nodes if isinstance(node, Element) and node not in gone), None)
        if before is not None:
            return _is_button_or_has(before)
        parent = place.parent if place is not None else None
        place = parent if isinstance(parent, Element) else None
    return False


def _is_button_or_has(element: Element) -> bool:
    if element.attr("aria-expanded") is not None or element.attr("role") == "button":
        return True
    return element.select_one(f"{_IN_HEADING},[aria-expanded]") is not None or (
        element.tag in HEADINGS.split(",") and element.select_one("button,[role=button]") is not None
    )


def _elements_behind(element: Element) -> Iterator[Element]:
    return (node for node in element.next_siblings if isinstance(node, Element))


def is_menu(element: Element) -> bool:
    """Whether an element holds little but links."""
    if element.select_one(f"p,pre,table,{HEADINGS}") is not None:
        return False
    links = element.select("a")
    return len(links) > 1 and sum(len(words_of(link)) for link in links) > 0.8 * len(words_of(element))
