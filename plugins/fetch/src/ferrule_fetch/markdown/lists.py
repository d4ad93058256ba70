"""Lists, their items, and the boxes of tasks."""

from __future__ import annotations

from typing import NamedTuple

from ferrule_fetch.markdown.attributes import attributes_of, number
from ferrule_fetch.markdown.blocks import MAX_DEPTH, MAX_NUMBER, List
from ferrule_fetch.markdown.layout import Flow, Meanings, meanings_of


class _OpenList(NamedTuple):
    """A list around what comes next. markdown: None in a cell, or where it is too deep."""

    markdown: List | None
    continues_item: bool


class Lists:
    """What the elements of lists mean."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._lists: list[_OpenList] = []
        self._items: list[bool] = []  # whether an open item is written as one
        self._within_list = [False]  # whether what comes next is in a list, and in none of its items

    def meanings(self) -> Meanings:
        """By the name of a tag."""
        return {"input": self._box} | meanings_of(
            *((name, self._bullets, self._end_list) for name in ("ul", "menu", "dir")),
            ("ol", self._numbers, self._end_list),
            ("li", self._item, self._end_item),
        )

    def _bullets(self, _: str) -> None:
        self._begin(None, 1)

    def _numbers(self, spelt: str) -> None:
        attributes = attributes_of(spelt)
        if "reversed" in attributes:
            start = number(attributes.get("start"), self._count_items(), 0, MAX_NUMBER)
            self._begin(start, -1)
        else:
            self._begin(number(attributes.get("start"), 1, 0, MAX_NUMBER), 1)

    def _count_items(self) -> int:
        """How many items the list has whose start tag was met."""
        depth, items = 1, 0
        for piece in self._flow.ahead():
            if piece.startswith(("ol>", "ol ", "ul>", "ul ")):
                depth += 1
            elif piece.startswith(("/ol>", "/ul>")):
                depth -= 1
            elif depth == 1 and piece.startswith(("li>", "li ")):
                items += 1
            if depth == 0:
                break
        return items

    def _begin(self, start: int | None, step: int) -> None:
        self._flow.complete()
        self._flow.defines = False
        blocks = self._flow.blocks
        continues = bool(self._lists) and self._within_list[-1] and blocks.continue_item(self._lists[-1].markdown)
        written = None
        if not self._flow.in_cell and blocks.depth < MAX_DEPTH:
            written = blocks.begin_list(start, step)
        self._lists.append(_OpenList(written, continues))
        self._within_list.append(True)

    def _end_list(self, _: str) -> None:
        self._flow.complete()
        self._within_list.pop()
        ended = self._lists.pop()
        if ended.markdown:
            self._flow.blocks.end_list(ended.markdown)
        if ended.continues_item:
            self._flow.blocks.end()

    def _item(self, spelt: str) -> None:
        flow = self._flow
        flow.complete()
        of = self._lists[-1].markdown if self._lists else flow.blocks.stray_list()
        self._within_list.append(False)
        self._items.append(of is not None and not flow.in_cell)
        if flow.in_cell:
            flow.put("- ")
        elif of is not None:
            if of.number is not None and "value=" in spelt:
                of.number = number(attributes_of(spelt).get("value"), of.number, 0, MAX_NUMBER)
            flow.blocks.begin_item(of)

    def _end_item(self, _: str) -> None:
        self._flow.complete()
        self._within_list.pop()
        self._flow.task = ""
        if self._items.pop():
            self._flow.blocks.end()

    def _box(self, spelt: str) -> None:
        """The box of a task, which is at the beginning of an item; all other fields of a form are left out."""
        attributes = attributes_of(spelt)
        if attributes.get("type", "").lower() == "checkbox" and self._is_at_beginning():
            self._flow.task = "[x] " if "checked" in attributes else "[ ] "

    def _is_at_beginning(self) -> bool:
        return self._flow.blocks.begins_item and not "".join(self._flow.collected).strip()
