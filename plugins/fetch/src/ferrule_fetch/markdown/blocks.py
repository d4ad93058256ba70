"""Blocks on their way out: what stands before each line of them, and the empty lines between them."""

from __future__ import annotations

from enum import Enum, auto

MAX_DEPTH = 32  # quotes and lists within each other; deeper ones have no marks, or lines would grow and grow
MAX_NUMBER = 999_999_999  # of an item; markdown knows no more digits


class Kind(Enum):
    """What a block is, as far as it matters to what may stand next to it without an empty line."""

    TEXT = auto()  # running text that is no paragraph of its own, as in most list items
    PARAGRAPH = auto()
    TERM = auto()
    HEADING = auto()
    CODE = auto()
    RULE = auto()
    TABLE = auto()
    QUOTE = auto()
    LIST = auto()


_ENDS_BY_ITSELF = frozenset({Kind.HEADING, Kind.CODE, Kind.RULE})
_CONTAINS = frozenset({Kind.QUOTE, Kind.LIST})


class List:
    """A list that is being written. number: of the next item, None where its items have none."""

    def __init__(self, number: int | None, step: int, mark: str) -> None:
        self.number = number
        self.step = step
        self.mark = mark  # "-" or "*", or what follows the number
        self.begun = False
        self.indent = "  "  # of what stands in its last item
        self.loose = False
        self.partings: list[tuple[int, str]] = []  # the empty lines between items, which only a loose list keeps

    def marker(self) -> str:
        """What stands before the next item."""
        if self.number is None:
            return f"{self.mark} "
        number, self.number = self.number, self.number + self.step
        marker = f"{min(max(number, 0), MAX_NUMBER)}{self.mark} "
        self.indent = " " * len(marker)
        return marker


class _Frame:
    """What holds blocks: the page, a quote or an item. prefix: of every line. last: the kind of the last block."""

    __slots__ = ("last", "last_list", "list", "prefix")

    def __init__(self, prefix: str, of: List | None = None) -> None:
        self.prefix = prefix
        self.list = of
        self.last: Kind | None = None
        self.last_list: List | None = None


class Blocks:
    """The lines of a page."""

    def __init__(self) -> None:
        self._lines: list[str | None] = []
        self._frame = _Frame("")
        self._frames: list[_Frame] = []
        self._first = ""  # what stands before the next line instead of the prefix, if anything
        self._blank: str | None = None  # the empty line before the next line
        self._parting: List | None = None  # whose that empty line is

    def text(self) -> str:
        """All lines."""
        return "\n".join(line for line in self._lines if line is not None)

    @property
    def depth(self) -> int:
        """How many quotes and items there are around what comes next."""
        return len(self._frames)

    @property
    def in_item(self) -> bool:
        """Whether what comes next stands in a list item."""
        return self._frame.list is not None

    @property
    def begins_item(self) -> bool:
        """Whether what comes next is the first thing of a list item."""
        return self._frame.list is not None and self._frame.last is None

    def add(self, kind: Kind, lines: list[str]) -> None:
        """Add a block."""
        frame = self._frame
        if frame.last is not None:
            self._separate(kind)
        if self._blank is not None:
            self._put_blank()
        if frame.list is not None and kind is Kind.PARAGRAPH:
            frame.list.loose = True
        prefix = frame.prefix
        self._lines.append((self._first or prefix) + lines[0])
        self._first = ""
        if len(lines) > 1:
            bare = prefix.rstrip()
            self._lines += [prefix + line if line else bare for line in lines[1:]]
        frame.last = kind

    def begin_quote(self) -> None:
        """What comes next stands in a quote."""
        if self._frame.last is not None:
            self._separate(Kind.QUOTE)
        self._begin("> ", "> ")

    def begin_list(self, number: int | None, step: int = 1) -> List:
        """Begin a list, whose items follow."""
        if self._frame.last is not None:
            self._separate(Kind.LIST, starts_at=number)
        neighbour = self._frame.last_list if self._frame.last is Kind.LIST else None
        marks = "-*" if number is None else ".)"
        mark = marks[1] if neighbour and neighbour.mark == marks[0] else marks[0]
        new = List(number, step, mark)
        self._frame.last_list = new
        return new

    def stray_list(self) -> List:
        """The list of an item that is in none: that of the item before it, if there is one."""
        frame = self._frame
        return frame.last_list if frame.last is Kind.LIST and frame.last_list else self.begin_list(None)

    def continue_item(self, of: List | None) -> bool:
        """What comes next belongs to the last item of a list, though it stands behind it; False if there is none."""
        if of is None or not of.begun:
            return False
        self._frames.append(self._frame)
        self._frame = _Frame(self._frame.prefix + of.indent, of)
        self._frame.last = Kind.TEXT
        return True

    def begin_item(self, of: List) -> None:
        """What comes next stands in an item."""
        marker = of.marker()
        if of.begun:
            self._blank, self._parting = self._frame.prefix.rstrip(), of
        of.begun = True
        self._begin(marker, of.indent, of)

    def end(self) -> None:
        """The quote or item ends that began last."""
        frame, self._frame = self._frame, self._frames.pop()
        if frame.last is None:
            if self._blank is not None:
                self._put_blank()
            self._lines.append(self._first.rstrip())
            self._first = ""
        if frame.list is not None:
            self._frame.last, self._frame.last_list = Kind.LIST, frame.list
        else:
            self._frame.last = Kind.QUOTE

    def end_list(self, ended: List) -> None:
        """All items of a list are there, so it is known whether empty lines stand between them."""
        if ended.loose:
            for index, blank in ended.partings:
                self._lines[index] = blank

    def _begin(self, first: str, prefix: str, of: List | None = None) -> None:
        self._first = (self._first or self._frame.prefix) + first
        self._frames.append(self._frame)
        self._frame = _Frame(self._frame.prefix + prefix, of)

    def _separate(self, kind: Kind, starts_at: int | None = None) -> None:
        frame = self._frame
        if frame.list is None:
            close = frame.last is Kind.TERM and kind is Kind.TEXT
        else:
            close = _may_touch(frame.last, kind) and starts_at in (None, 1) and not frame.list.loose
            frame.list.loose |= not close
        self._parting = None
        self._blank = None if close else frame.prefix.rstrip()

    def _put_blank(self) -> None:
        if self._parting is None:
            self._lines.append(self._blank)
        else:
            self._parting.partings.append((len(self._lines), self._blank or ""))
            self._lines.append(None)
        self._blank = self._parting = None


def _may_touch(last: Kind | None, kind: Kind) -> bool:
    """Whether a block can follow another without an empty line, and both stay what they are."""
    if Kind.PARAGRAPH in (last, kind):
        return False
    if kind in _CONTAINS:
        return last is Kind.TEXT or last in _ENDS_BY_ITSELF or (last in _CONTAINS and last is not kind)
    return kind in _ENDS_BY_ITSELF or last in _ENDS_BY_ITSELF
