"""Blocks that hold other blocks: each collects its lines, and gives them to the one around it in the end."""

MAX_DEPTH = 64  # blocks within each other; the marks of deeper ones are left out, or lines would grow and grow


class Block:
    """The page, and what is common to all blocks: lines, an empty one between one part and the next.

    parted: there is such an empty line. structured: there is more in it than paragraphs and lists.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.parted = False
        self.structured = False

    def add(self, lines: list[str], *, close_up: bool = False) -> None:
        """Add a part. close_up: without an empty line before it."""
        if not lines:
            return
        if self.lines and not close_up:
            self.lines.append("")
            self.parted = True
        self.lines += lines

    def finished(self) -> list[str]:
        """The lines with the marks of this block."""
        return self.lines


class Quote(Block):
    """A block quote."""

    def finished(self) -> list[str]:
        return [f"> {line}" if line else ">" for line in self.lines]


class Item(Block):
    """An item of a list."""

    def marked(self, marker: str) -> list[str]:
        """The lines behind a marker such as "- ", indented as far as it is wide."""
        first, *rest = self.lines or [""]
        indent = " " * len(marker)
        return [(marker + first).rstrip(" ") if not first else marker + first] + [
            indent + line if line else "" for line in rest
        ]


class List(Block):
    """A list. start: the number of its first item, None where its items have none."""

    def __init__(self, start: int | None = None) -> None:
        super().__init__()
        self.start = start
        self._items: list[Item] = []

    @property
    def may_follow_text(self) -> bool:
        """Whether it is seen right below a line of text: a numbered list only where it begins with 1."""
        return self.start is None or self.start == 1

    def add(self, lines: list[str], *, close_up: bool = False) -> None:
        """Add what stands in the list, but in none of its items, to the last one."""
        if not self._items:
            self._items.append(Item())
        self._items[-1].add(lines, close_up=close_up)

    def add_item(self, item: Item) -> None:
        """Add an item. One without content counts only where items are numbered."""
        if item.lines or self.start is not None:
            self._items.append(item)

    def finished(self) -> list[str]:
        loose = any(item.parted for item in self._items)
        lines: list[str] = []
        for number, item in enumerate(self._items, self.start or 0):
            if lines and loose:
                lines.append("")
            lines += item.marked("- " if self.start is None else f"{number}. ")
        return lines
