"""Edits the tree of a page so that plain elements say what the page says: nothing that is not shown, nothing twice.

Each module has the rules of one kind of content. Whoever writes the tree needs none of them: it finds headings,
paragraphs, lists, tables with one cell for each place, `pre > code.language-x`, links, images and emphasis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.cleaning import addresses, landmarks, streamed_content, visibility
from ferrule_fetch.cleaning.blocks import (
    code_blocks,
    comments,
    controls,
    definitions,
    forms,
    panels,
    role_tables,
    tables,
)
from ferrule_fetch.cleaning.inlines import embeds, formulas, icons, images, links, notations, spans
from ferrule_fetch.cleaning.selection import Search, by_role, is_deep
from ferrule_fetch.notes import MOST_HIDDEN

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document, Element
_RULES = (code_blocks, formulas, embeds, landmarks, visibility, panels, forms, controls, icons)
_LATER_RULES = (images, links, notations, comments, tables, definitions, spans)  # about what is left then
_FIRST = Search(*(rules.SELECTORS for rules in _RULES))
_THEN = Search(*(rules.SELECTORS for rules in _LATER_RULES))
_OF_DEEP = Search(landmarks.SELECTORS, visibility.SELECTORS)


class LeftOut(NamedTuple):
    """What was left out.

    hidden, navigation: how many elements with text. emptied: items that may hold nothing now. blank: code blocks that
    hold nothing. is_deep: whether the page is made to cost time, and is read with as few rules as can be. note: what a
    reader has to know, "" for nothing.
    """

    hidden: int
    navigation: int
    emptied: dict[Element, None]
    blank: list[Element]
    is_deep: bool = False
    note: str = ""

    def has_text(self) -> bool:
        """Whether anything with text was left out, so that a page without words may have some."""
        return self.hidden + self.navigation > 0


def leave_out(tree: Document, *, only_unseen: bool = False) -> LeftOut:
    """Remove from a page's tree what is not shown, and navigation; what a script would put in place is put there.

    only_unseen: keep what is hidden, and navigation, for a page that has no words without them. Names and classes stay,
    by which the main content is found; `simplify` is to follow.
    """
    if is_deep(tree):
        return _leave_out_of_deep(tree, only_unseen=only_unseen)
    streamed_content.put_in_place(tree)
    embeds.open_documents(tree)
    found = _FIRST.find(tree)
    roles = by_role(found[visibility.SELECTORS[0]])
    emptied = landmarks.may_become_empty(found)
    blank = code_blocks.clean(tree, found)
    formulas.clean(found)
    embeds.clean(found)
    landmarks.remove_unseen(found)
    hidden = visibility.Hidden(0) if only_unseen else visibility.remove_hidden(tree, found)
    panels.label(tree, found, roles)
    navigation = 0 if only_unseen else landmarks.remove_navigation(found, roles)
    icons.clean(found, roles)
    forms.clean(found)
    controls.clean(found)
    landmarks.clean(found, roles)
    role_tables.make_tables(roles)
    return LeftOut(hidden.removed, navigation, emptied, blank, note=MOST_HIDDEN if hidden.shown else "")


def simplify(tree: Document, url: str, left_out: LeftOut) -> None:
    """Edit the tree of a page, found at `url`, so that plain elements say what is on it."""
    if left_out.is_deep:
        addresses.make_whole(tree, url)
        return
    found = _THEN.find(tree)
    emptied = left_out.emptied | landmarks.may_become_empty(found)
    doubtful = links.may_become_empty(found)
    images.clean(found)
    links.clean(found, doubtful, url)
    notations.clean(found)
    comments.clean(found)
    tables.clean(found)
    definitions.clean(found)
    spans.clean(found)
    landmarks.remove_empty_items(emptied)
    landmarks.remove_empty_blocks(tree, left_out.blank)
    landmarks.remove_empty_holders(tree)
    addresses.make_whole(tree, url)


def _leave_out_of_deep(tree: Document, *, only_unseen: bool) -> LeftOut:
    """Only what it takes to show nothing that is hidden."""
    found = _OF_DEEP.find(tree)
    roles = by_role(found[visibility.SELECTORS[0]])
    landmarks.remove_unseen(found)
    hidden = 0 if only_unseen else visibility.remove_all_hidden(found)
    navigation = 0 if only_unseen else landmarks.remove_navigation(found, roles)
    landmarks.clean(found, roles)
    return LeftOut(hidden, navigation, {}, [], is_deep=True)
