"""Writes what is met in a page as markdown."""

import re
from collections.abc import Callable, Mapping

from ferrule_fetch.markdown import escaping
from ferrule_fetch.markdown.blocks import MAX_DEPTH, Block, Item, List, Quote
from ferrule_fetch.markdown.inline import Inline, one_line, paragraph
from ferrule_fetch.markdown.links import Links
from ferrule_fetch.markdown.tables import MAX_SPAN, Cell, Table

_Attributes = Mapping[str, str]
_Leave = Callable[[], None]  # what is done when an element ends

_SVG, _MATHML = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1998/Math/MathML}"
_INVISIBLE = ("head", "title", "script", "style", "template", "iframe", "noframes", "noembed")
_LEFT_OUT = frozenset({*_INVISIBLE, "nav", "datalist", "select", f"{_SVG}svg", f"{_MATHML}annotation"})
# fmt: off
_BLOCKS = (
    "address", "article", "aside", "body", "caption", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "legend", "main", "menu", "optgroup",
    "option", "p", "search", "section", "summary",
)
# fmt: on
_EMPHASIS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em", "cite", "dfn", "var"), "*"),
    **dict.fromkeys(("del", "s", "strike"), "~~"),
}
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source)-([\w+#.-]+)")
_MAX_NUMBER = 999_999_999  # of an item; markdown knows no more digits


class Writer:
    """A visitor of a page. Text goes into the paragraph at hand; a block that begins or ends completes it."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self._inline = Inline()
        self._blocks: list[Block] = [Block()]
        self._heading = 0
        self._code: list[str] | None = None  # what was met since code began, within which there is no markup
        self._language = ""
        self._leaves: list[_Leave | None] = []
        self._begin = self._table_of_elements()

    def markdown(self) -> str:
        """All that was written, without an empty line at its end."""
        self._flush()
        return "\n".join(self._blocks[0].lines)

    def enter(self, tag: str, attributes: _Attributes) -> bool:
        """An element begins; see `tree.Visitor`."""
        if tag in _LEFT_OUT or _is_hidden(attributes):
            return False
        begin = self._begin.get(tag) if self._code is None else None
        if self._code is not None:
            self._within_code(tag, attributes)
        self._leaves.append(begin(attributes) if begin else None)
        return True

    def leave(self) -> None:
        """An element ends; see `tree.Visitor`."""
        leave = self._leaves.pop()
        if leave:
            leave()

    def text(self, data: str) -> None:
        """Text; see `tree.Visitor`."""
        if self._code is None:
            self._inline.text(data)
        else:
            self._code.append(data)

    def _table_of_elements(self) -> dict[str, Callable[[_Attributes], _Leave | None]]:
        return {
            **dict.fromkeys(_BLOCKS, self._block),
            **{f"h{level}": self._heading_of(level) for level in range(1, 7)},
            **{tag: self._emphasis_of(mark) for tag, mark in _EMPHASIS.items()},
            **dict.fromkeys(("code", "kbd", "samp", "tt"), self._code_span),
            **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), self._code_block),
            "a": self._link,
            "blockquote": lambda _: self._nested(Quote()),
            "br": self._line_break,
            "hr": self._rule,
            "img": self._image,
            "input": self._checkbox,
            "li": self._item,
            "ol": lambda attributes: self._nested(List(_number(attributes.get("start", ""), 1, _MAX_NUMBER))),
            "table": lambda _: self._nested(Table()),
            "td": lambda attributes: self._cell(attributes, header=False),
            "th": lambda attributes: self._cell(attributes, header=True),
            "tr": self._row,
            "ul": lambda _: self._nested(List()),
        }

    def _flush(self) -> None:
        """Complete the paragraph at hand."""
        lines = self._inline.take()
        block = self._blocks[-1]
        if not lines:
            return
        if self._heading:
            block.add([f"{'#' * self._heading} {escaping.heading(one_line(lines))}"])
            block.structured = True
        elif isinstance(block, Cell):
            block.add(lines)
        else:
            block.add(paragraph(lines))

    def _block(self, attributes: _Attributes) -> _Leave:
        self._flush()
        return self._flush

    def _nested(self, block: Block) -> _Leave:
        """Begin a block that holds others. Too deep, they go into the one around it."""
        self._flush()
        if len(self._blocks) > MAX_DEPTH:
            return self._flush
        self._blocks.append(block)
        return self._end_nested

    def _end_nested(self) -> None:
        self._flush()
        block, around = self._blocks.pop(), self._blocks[-1]
        if isinstance(block, Item) and isinstance(around, List):
            around.add_item(block)
        elif isinstance(block, Cell) and isinstance(around, Table):
            around.add_cell(block)
        else:
            within_item = isinstance(around, Item | List)
            close_up = within_item and isinstance(block, List) and block.may_follow_text
            around.add(block.finished(), close_up=close_up)
        around.structured |= block.structured or isinstance(block, Quote | Table)

    def _item(self, attributes: _Attributes) -> _Leave:
        self._flush()
        if isinstance(self._blocks[-1], List):
            return self._nested(Item())
        end_list, end_item = self._nested(List()), self._nested(Item())

        def end() -> None:
            end_item()
            end_list()

        return end

    def _row(self, attributes: _Attributes) -> None:
        self._flush()
        table = self._blocks[-1]
        if isinstance(table, Table):
            table.begin_row()

    def _cell(self, attributes: _Attributes, *, header: bool) -> _Leave:
        self._flush()
        if not isinstance(self._blocks[-1], Table):
            return self._flush
        colspan, rowspan = (_number(attributes.get(name, ""), 1, MAX_SPAN) for name in ("colspan", "rowspan"))
        return self._nested(Cell(header=header, colspan=colspan, rowspan=rowspan))

    def _heading_of(self, level: int) -> Callable[[_Attributes], _Leave]:
        def begin(attributes: _Attributes) -> _Leave:
            self._flush()
            around, self._heading = self._heading, level

            def end() -> None:
                self._flush()
                self._heading = around

            return end

        return begin

    def _rule(self, attributes: _Attributes) -> None:
        self._flush()
        self._blocks[-1].add(["---"])

    def _emphasis_of(self, mark: str) -> Callable[[_Attributes], _Leave]:
        def begin(attributes: _Attributes) -> _Leave:
            self._inline.begin_emphasis(mark)
            return lambda: self._inline.end_emphasis(mark)

        return begin

    def _link(self, attributes: _Attributes) -> _Leave | None:
        target = self._links.resolve(attributes["href"]) if "href" in attributes else None
        if target is None:
            return None
        self._inline.begin_link(target)
        return self._inline.end_link

    def _line_break(self, attributes: _Attributes) -> None:
        self._inline.line_break()

    def _image(self, attributes: _Attributes) -> None:
        src = self._links.resolve(attributes["src"]) if attributes.get("src") else None
        if src:
            self._inline.image(attributes.get("alt", ""), src)
        else:
            self._inline.text(attributes.get("alt", ""))

    def _checkbox(self, attributes: _Attributes) -> None:
        item = self._blocks[-1]
        if attributes.get("type", "").lower() == "checkbox" and isinstance(item, Item) and not item.lines:
            self._inline.text("[x] " if "checked" in attributes else "[ ] ")

    def _code_span(self, attributes: _Attributes) -> _Leave:
        self._code = []
        return lambda: self._inline.code(self._end_code())

    def _code_block(self, attributes: _Attributes) -> _Leave:
        self._flush()
        self._code, self._language = [], _language(attributes)
        return self._end_code_block

    def _within_code(self, tag: str, attributes: _Attributes) -> None:
        if tag == "br":
            self.text("\n")
        self._language = self._language or _language(attributes)

    def _end_code_block(self) -> None:
        code = self._end_code().removesuffix("\n")
        if code.strip():
            self._blocks[-1].add(escaping.code_block(code, self._language))
            self._blocks[-1].structured = True

    def _end_code(self) -> str:
        pieces, self._code = self._code or [], None
        return "".join(pieces)


def _is_hidden(attributes: _Attributes) -> bool:
    return "hidden" in attributes or ("style" in attributes and bool(_HIDDEN.search(attributes["style"])))


def _language(attributes: _Attributes) -> str:
    found = _LANGUAGE.search(attributes.get("class", ""))
    return found[1] if found else ""


def _number(text: str, default: int, most: int) -> int:
    """The number that an attribute holds, where it is one from 0 to `most`."""
    if not re.fullmatch(r"\s*[0-9]{1,9}\s*", text):
        return default
    return int(text) if int(text) <= most else default
