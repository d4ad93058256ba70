"""Code blocks as `pre > code.language-x`, which hold the lines of the code and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.blocks.languages import LONG_NAMES, language_around, language_of
from ferrule_fetch.cleaning.edits import replace
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule_fetch.cleaning.selection import Found
    from ferrule_fetch.tree.nodes import Document

# fmt: off
_GUTTERS = frozenset((
    "linenos", "lineno", "linenumber", "line-number", "line-numbers", "line-numbers-rows", "linenodiv", "gutter",
    "blob-num", "rouge-gutter", "lnt", "hljs-ln-numbers", "line-numbers-wrapper", "react-line-number", "diff-line-num",
    "react-syntax-highlighter-line-number", "CodeMirror-linenumber", "crayon-nums", "code-line-number", "ln-num",
))
# fmt: on
_NUMBERS = ",".join(f".{name}" for name in sorted(_GUTTERS)) + ",.ln:not(:has(*)),[data-line-number]:empty"
_CONTROLS = (
    "button,clipboard-copy,.copy,.copybtn,.copy-btn,.copy-button,.code-copy,.btn-clipboard,.btn-copy"
    ",.zeroclipboard-container"
)
_NOT_CODE = f"{_NUMBERS},{_CONTROLS},script,style,template,select,textarea,svg,[hidden],.sr-only,.visually-hidden"
# What may be among the lines of a code block besides its colours; to look for words is faster than for elements.
_PARTS = (
    *("<br", "<div", "<p", "<li", "<tr", "<ul", "<ol", "<table", "<button", "<textarea", "<select", "<svg", "<script"),
    *("<style", "<template", "<clipboard", "<section", "<figure", "hidden", "line", "gutter", "num", '"ln"', "lnt"),
    *("copy", "none", "sr-only"),
)
_TAG = compile_late("<[a-z][^>]*>")
_FEW = 12  # nodes around a code block and what belongs to it; where there are more, it is the text of a page
_OF_CODE = compile_late(r"highlight|diff|blob|hljs|file|code|tab-size")
_MAX_LABEL_CHARS = 80  # of the name of a language, and the buttons beside it
_LINES = "address,article,aside,center,div,dl,dd,dt,figure,footer,form,header,li,main,p,section,tr"
_SIGNS = (("addition", "+"), ("deletion", "-"))


SELECTORS = ("table", "pre", "listing", "xmp", "plaintext", "textarea")


def clean(tree: Document, found: Found) -> list[Element]:
    """Rebuild all code blocks, also those that are tables with a line in each row; returns those that are blank."""
    for table in found["table"]:
        _unfold(table)
    for source in found["textarea"]:
        if source.attr("id") == "read-only-cursor-text-area":
            _put_source(tree, source)
    last: Element | None = None
    blank: list[Element] = []
    for block in found["pre"]:
        if block.parent is not None:
            last = _rebuild(block, last)
            if last.text.isspace() or not last.text:
                blank.append(last)
    for tag in ("listing", "xmp", "plaintext"):
        for block in found[tag]:
            replace(block, _block(block.text, language_of(block)))
    return blank


def _rebuild(block: Element, last: Element | None) -> Element:
    """Put a plain code block instead of one; returns it. last: the one before, of which it may be a copy."""
    language = language_of(block)
    if not language and (inner := block.select_one("code")) is not None:
        language = language_of(inner)
    language = language or language_around(block)
    _remove_beside(block, language)
    written = block.inner_html if block.find(True) is not None else ""
    if 'class="line diff ' in written:
        language = "diff"
        _sign_lines(block)
    plain = _block(_text(block, written), language)
    if last is not None and block.has_class("shiki") and last.parent == block.parent and last.text == plain.text:
        block.extract()  # the same in the colours of another theme
        return last
    replace(block, plain)
    return plain


def _block(text: str, language: str) -> Element:
    attributes = {"class": f"language-{language}"} if language else {}
    return Element("pre", {}, [Element("code", attributes, [Text(text)])])


def _text(block: Element, written: str) -> str:
    """The text of a code block, whose elements are its colours, or its lines. written: its HTML, if it has elements."""
    if not written or not _has_parts("".join(set(_TAG.findall(written)))):
        return block.text
    for element in block.select(_NOT_CODE):
        if element.text.strip() != block.text.strip() or element.tag in ("button", "textarea"):
            element.extract()
    for element in block.select('[style*="none"]'):
        if (element.attr("style") or "").replace(" ", "").startswith("display:none"):
            element.extract()
    for line_break in block.select("br"):
        replace(line_break, Text("\n"))
    if block.select_one(_LINES) is None:
        return block.text
    return _text_of_lines(block)


def _has_parts(written: str) -> bool:
    return any(map(written.__contains__, _PARTS))


def _text_of_lines(block: Element) -> str:
    """The text of a code block whose lines are blocks, some of which end with a line feed themselves."""
    for line in block.select(_LINES):
        line.insert_before(Text("\x00"))
        line.append(Text("\x00"))
    lines: list[str] = []
    for part in filter(None, block.text.split("\x00")):
        if lines and not lines[-1].endswith("\n"):
            lines.append("\n")
        lines.append(part)
    return "".join(lines)


def _sign_lines(block: Element) -> None:
    """Write the signs of a comparison, which VitePress draws by the classes of lines."""
    for line in block.select("span.line"):
        sign = "+" if line.has_class("add") else "-" if line.has_class("remove") else " "
        line.insert(0, Text(sign))


def _remove_beside(block: Element, language: str) -> None:
    """Remove the name of the language and the numbers of lines that stand beside a code block."""
    around = block.parent
    for _ in range(2):
        if not isinstance(around, Element) or around.tag not in ("div", "figure", "td") or len(around) > _FEW:
            return
        for child in around.children if len(around) > 1 else ():
            if not isinstance(child, Element) or child.tag == "pre" or not (named := child.attr("class")):
                continue
            classes = named.split()
            is_label = (child.tag == "span" and "lang" in classes) or _says_language(child, language)
            if (is_label or "copy" in classes or not _GUTTERS.isdisjoint(classes)) and child.find("pre") is None:
                child.extract()
        around = around.parent


def _says_language(element: Element, language: str) -> bool:
    """Whether an element holds the name of a language, besides buttons."""
    if not language or element.tag not in ("div", "span", "p", "figcaption") or len(element.text) > _MAX_LABEL_CHARS:
        return False
    buttons = {button.text for button in element.select("button")}
    said = [text for text in element.strings if text.strip() and not any(text in each for each in buttons)]
    return len(said) == 1 and said[0].strip().casefold() in (language, LONG_NAMES.get(language))


def _unfold(table: Element) -> None:
    """Put the code of a table in its place, where that is what it is for."""
    blocks = table.select("pre")
    if not blocks:
        if not _OF_CODE.search(table.attr("class") or ""):
            return
        if table.select_one("td.blob-code,td.diff-text-cell,td.react-code-text-cell") is not None:
            _unfold_rows(table)
        elif table.select_one("td.hljs-ln-code") is not None:
            replace(table, Text("\n".join(cell.text for cell in table.select("td.hljs-ln-code"))))
        return
    if len(blocks) not in (1, 2):
        return
    gutters = [
        cell for cell in table.select(_NUMBERS) if cell.tag in ("td", "th") or cell.select_one("pre") is not None
    ]
    if not gutters and len(blocks) == 2 and _is_counting(blocks[0].text):
        gutters = [blocks[0]]
    if not gutters:
        return
    kept = next((each for each in blocks if not _is_within(each, gutters)), None)
    if kept is None:
        return
    language = language_of(kept) or language_of(table)
    if language and not language_of(kept):
        kept.attrs["class"] = f"{kept.attr('class') or ''} language-{language}".strip()
    kept.extract()
    replace(table.closest("pre") or table, kept)


def _is_within(element: Element, others: Iterable[Element]) -> bool:
    return any(element == other or any(other == each for each in element.ancestors) for other in others)


def _is_counting(text: str) -> bool:
    numbers = text.split()
    return (
        len(numbers) > 1 and numbers == [str(number + int(numbers[0])) for number in range(len(numbers))]
        if (numbers and numbers[0].isdecimal() and len(numbers[0]) < 7)
        else False
    )


def _unfold_rows(table: Element) -> None:
    """A file or a comparison as GitHub shows it: a line in each row, its sign in an attribute or a class."""
    lines: list[str] = []
    is_diff = False
    for row in table.select("tr"):
        written: list[str] = []
        for cell in row.select("td.blob-code,td.diff-text-cell,td.react-code-text-cell"):
            classes = cell.attr("class") or ""
            if "empty-cell" in classes or "blob-code-empty" in classes:
                continue
            line, is_changed = _line(cell, classes)
            is_diff |= is_changed
            if not written or written[-1] != line:
                written.append(line)
        lines += written
    language = "diff" if is_diff else language_of(table) or language_around(table)
    replace(table, _block("\n".join(lines), language))


def _line(cell: Element, classes: str) -> tuple[str, bool]:
    """A line of code with its sign, and whether it belongs to a comparison."""
    marked = cell if cell.attr("data-code-marker") else cell.select_one("[data-code-marker]")
    for control in cell.select("button,svg,.diff-text-marker,.add-line-comment"):
        control.extract()
    text = cell.text.strip("\n")
    if marked is not None:
        inner = cell.select_one("[data-code-marker]")
        return f"{marked.attr('data-code-marker')}{inner.text if inner is not None else text}", True
    if "hunk" in classes:
        return text.strip(), True
    code = cell.select_one("code")
    classes += f" {code.attr('class') or ''}" if code is not None else ""
    for name, sign in _SIGNS:
        if f"blob-code-{name}" in classes or f" {name}" in classes:
            return sign + text, True
    if "blob-code-context" in classes or "diff-text" in classes:
        return f" {text}", True
    inner = cell.select_one(".blob-code-inner")
    return inner.text if inner is not None else text, False


def _put_source(tree: Document, source: Element) -> None:
    """A file of GitHub's later pages: its whole text, hidden behind the lines that are drawn."""
    drawn = tree.select_one(".react-code-file-contents")
    block = _block(source.text, "")
    if drawn is not None and not any(drawn == each for each in source.ancestors):
        replace(drawn, block)
        source.extract()
    elif drawn is not None:
        replace(drawn, block)
    else:
        replace(source, block)
