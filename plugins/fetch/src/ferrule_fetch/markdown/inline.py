"""The running text of one paragraph: white space, emphasis, links, line breaks."""

import re
from dataclasses import dataclass

from ferrule_fetch.markdown import escaping

_SPACE = re.compile(r"[ \t\n\f\r]+")  # no-break spaces are text
_LINK = "["


@dataclass(slots=True)
class _Mark:
    """What surrounds some text. It is written once there is text in it, so that no empty one is."""

    opening: str
    closing: str
    written: bool = False


class Inline:
    """Collects running text, and gives it back as lines of markdown."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._space = False  # white space, written once text follows it
        self._marks: list[_Mark] = []
        self._nesting: dict[str, int] = {}

    def text(self, data: str) -> None:
        """Text as it stands in the page: it is escaped, and its white space collapsed."""
        words = _SPACE.sub(" ", data)
        core = words.strip(" ")
        self._space = self._space or words.startswith(" ")
        if core:
            self._put(escaping.text(core, in_link=self._nesting.get(_LINK, 0) > 0))
            self._space = words.endswith(" ")

    def code(self, data: str) -> None:
        """Code within the line."""
        core = _SPACE.sub(" ", data).strip(" ")
        if core:
            self._put(escaping.code(core))

    def image(self, alt: str, src: str) -> None:
        """An image. src: its resolved address."""
        words = _SPACE.sub(" ", alt).strip(" ")
        self._put(f"![{escaping.text(words, in_link=True)}]({src})")

    def begin_emphasis(self, mark: str) -> None:
        """Surround what follows with a mark such as `**`."""
        self._begin(mark, mark)

    def begin_link(self, target: str) -> None:
        """Make a link of what follows. target: its resolved address."""
        self._begin(_LINK, f"]({target})")

    def end_emphasis(self, mark: str) -> None:
        """End what began last with this mark."""
        self._end(mark)

    def end_link(self) -> None:
        """End the link."""
        self._end(_LINK)

    def line_break(self) -> None:
        """End the line. What surrounds it ends with it and begins anew, for two breaks part paragraphs."""
        for mark in reversed(self._marks):
            if mark.written:
                self._line.append(mark.closing)
                mark.written = False
        self._lines.append("".join(self._line))
        self._line.clear()
        self._space = False

    def take(self) -> list[str]:
        """The lines so far, with one empty line at most between two, and none around them."""
        if not self._line and not self._lines:  # most blocks begin and end between paragraphs
            self._space = False
            return []
        self.line_break()
        lines, self._lines = self._lines, []
        kept = [line for line, before in zip(lines, ["", *lines], strict=False) if line or before]
        return kept if not kept or kept[-1] else kept[:-1]

    def _begin(self, opening: str, closing: str) -> None:
        self._nesting[opening] = self._nesting.get(opening, 0) + 1
        if self._nesting[opening] == 1:  # bold within bold is bold
            self._marks.append(_Mark(opening, closing))

    def _end(self, opening: str) -> None:
        self._nesting[opening] -= 1
        if self._nesting[opening] == 0:
            mark = self._marks.pop()
            if mark.written:
                self._line.append(mark.closing)

    def _put(self, data: str) -> None:
        if self._space and self._line:
            self._line.append(" ")
        self._space = False
        for mark in self._marks:
            if not mark.written:
                mark.written = True
                self._open(mark)
        if data.startswith("(") and self._line and self._line[-1].endswith("]"):
            data = f"\\{data}"  # or words in brackets would become a link
        self._line.append(data)

    def _open(self, mark: _Mark) -> None:
        last = self._line[-1] if self._line else ""
        if last == mark.opening == mark.closing:
            self._line.pop()  # two of a kind side by side are one; apart, their marks would run together
            return
        if mark.opening == _LINK and last.endswith("!"):
            self._line[-1] = f"{last[:-1]}\\!"  # or the link would become an image
        self._line.append(mark.opening)


def paragraph(lines: list[str]) -> list[str]:
    """Lines of running text as a paragraph that keeps its line breaks; an empty line makes it several."""
    escaped = list(map(escaping.line, lines))
    return [
        f"{line}  " if line and following else line for line, following in zip(escaped, [*escaped[1:], ""], strict=True)
    ]


def one_line(lines: list[str]) -> str:
    """Lines of running text as one."""
    return " ".join(filter(None, lines))
