"""Panels that something on the page opens: tabs, accordions, answers to questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace, unwrap
from ferrule_fetch.cleaning.text import HEADINGS, make, words_of
from ferrule_fetch.tree.nodes import Element

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_NO_CONTENT = frozenset({"menu", "listbox", "dialog", "alertdialog", "tooltip", "navigation", "search", "alert"})
_IN_HEADING = "h1 button,h2 button,h3 button,h4 button,h5 button,h6 button,summary button,dt button"


class Panels:
    """The panels of a page, by the ids that its buttons and tabs name."""

    def __init__(self, tree: Document) -> None:
        self._opened: set[str] = set()
        self._buttons = {button.attr("id") for button in tree.select("button[id]")}
        for selector in _OPENERS:
            for opener in tree.select(selector):
                for name in _TARGETS:
                    self._add(opener, opener.attr(name))

    def _add(self, opener: Element, names: str | None) -> None:
        toggles = opener.attr("data-bs-toggle") or opener.attr("data-toggle")
        if names and toggles not in _OPEN_OTHERS and (opener.attr("aria-haspopup") or "false") == "false":
            self._opened.update(name.lstrip("#") for name in names.split())

    def is_opened(self, element: Element) -> bool:
        """Whether something on the page opens an element, and it is no menu and no dialog."""
        role = element.attr("role")
        if role == "tabpanel" or (element.attr("aria-labelledby") or "-") in self._buttons:
            return True
        if role in _NO_CONTENT or element.tag in ("dialog", "nav") or element.has_class("modal"):
            return False
        return (element.attr("id") in self._opened or _is_behind_button(element)) and not is_menu(element)


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


def _is_behind_button(element: Element) -> bool:
    """Whether an element follows a heading that is a button, as the answers in an accordion do."""
    place: Element | None = element
    for _ in range(2):
        before = place.previous_sibling if place is not None else None
        while before is not None and not isinstance(before, Element):
            before = before.previous_sibling
        if isinstance(before, Element):
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
