"""A tree as markdown: turbohtml's own writer, and what it is told and corrected in.

What the writer cannot be told by the tree itself it is told by marks, which `prepare` puts into the tree and `write`
reads in its output: which lists are loose, how the columns of a table are aligned.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.markdown import emphasis, escapes, formulas, marks
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree import nodes

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document, Element, Node

_HEADERS = (
    "thead:first-of-type > tr:first-child",
    "tbody:first-child > tr:first-child",
    "caption + tbody > tr:first-child",
)
_TIGHT_ITEM = ":is(ul, ol):not(:has(> li > p)) > li:not(:last-child)"
_ENDS = ("h1", "h2", "h3", "h4", "h5", "h6", "blockquote > p", "blockquote:not(:has(p))")
# What ends an item of a tight list, and an item that is code alone, which cannot hold a mark itself.
_TIGHT_ENDS = ",".join(f"{_TIGHT_ITEM} > {end}:last-child" for end in _ENDS) + f",{_TIGHT_ITEM}:has(> pre:only-child)"
_ENDING = ("h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre")  # one of which is or holds each of these
_PARAGRAPHS = ("li > p", "li > * + p")
_CHECKED = "li > label:has(> input[type=checkbox]:first-child)"
_NUMBERED = "ol[reversed],ol[start^='-'],ol:has(> li[value])"
_ALIGNED = ", ".join(f"{row}:has(> [align], > [style*=text-align])" for row in _HEADERS)
_ALIGN = compile_late(r"text-align\s*:\s*(left|center|right)", re.I)
_TITLED = ('a[title*="<"]', 'img[title*="<"]')
_RULES = {"l": ":---", "c": ":---:", "r": "---:"}

# A run of backticks begins code unless it is escaped, and a run of the same length ends it.
_CODE = compile_late(r"`(?<!\\`)(?P<more>`*+)(?:[^`]++|(?!`(?P=more)(?!`))`++)*+`(?P=more)")
_WHOLE = compile_late(r"\s*\+?([0-9]{1,9})(?![0-9])")
_MAX_NUMBER = 999_999_999  # of an item; markdown knows no more digits
_ITEM_NUMBER = compile_late(rf"[0-9]+([.)]\s+){marks.NUMBER}([0-9]+){marks.NUMBER}")
_BREAKS = compile_late(r"  \n([ >]*)(?:\\\n[ >]*)+")
# Words behind a break that would make a table of those before it; what is one begins behind an empty line.
_FORGED_TABLE = compile_late(r"  \n[ >]*(?=\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*(?:\n|\Z))")
_BREAK = compile_late(r"\\\n[ >]*")
_FIRST_BREAKS = compile_late(r"(\n[ >]*\n)(?:[ >]*\\\n)+")
_BLANK_PARAGRAPH = compile_late(r"\n[ >]*(?:&#160;|\xa0|&nbsp;)+[ \xa0]*\n[ >]*(?=\n|\Z)")
_WIDE_BLANKS = compile_late(r"&#1(?:2288;\u3000*|60;(?:&#160;)*)")
_MIN_PROSE_CHARS = 40  # of a line, whose no-break spaces at its ends say nothing
_BLANK_END = compile_late(r"(?:\n+[ >]*(?:&#160;|\xa0)+)+\Z")
_BLANK_BEGIN = compile_late(r"(?:(?:\\|(?:&#160;|\xa0)+)\n+)+")
_ITEM_BEGIN = compile_late(r" \n([ >]*)")
_RULES_OF_SIGNS = ("---", "***", "___")
_MARKER = compile_late(r"[ >]*(?:[-*+]|[0-9]{1,9}[.)]) ")
_PREFIX = compile_late("[ >]*")
_TIGHT = compile_late(rf"(?:\n[ >]*| *){marks.TIGHT}\n(?:[ >]*\n)?(?=[ >]*(?:[-*+]|[0-9]{{1,9}}[.)])\s)")
_HEADER = compile_late(rf"{marks.ALIGNED}([lcr-]*){marks.ALIGNED}(.*\n[ >]*)\| -[-| ]*")


class _Written(NamedTuple):
    """What a tree holds, of which the writer makes lines that may have to be corrected."""

    has_breaks: bool
    has_items: bool


def prepare(tree: Document) -> None:
    """Put the marks into a tree. All is found before the first edit: each search behind one reads the whole tree."""
    titled = [each for selector in _TITLED for each in tree.select(selector)]
    rows = tree.select(_ALIGNED) if tree.select_one("tr") is not None else []
    if tree.select_one("li") is not None:
        _mark_lists(tree)
    for row in rows:
        _mark_alignment(row)
    for each in titled:
        each.attrs["title"] = (each.attr("title") or "").replace("<", marks.LESS_THAN)


def _mark_lists(tree: Document) -> None:
    """Mark what is loose, what ends items of tight lists, and numbers."""
    paragraphs, later = (tree.select(each) for each in _PARAGRAPHS) if tree.select_one("p") is not None else ([], [])
    if not all(map(len, paragraphs)):
        for paragraph in paragraphs:
            if not len(paragraph):
                paragraph.extract()
        paragraphs, later = (tree.select(each) for each in _PARAGRAPHS)
    labels = tree.select(_CHECKED) if tree.select_one("label") is not None else []
    ends = tree.select(_TIGHT_ENDS) if _may_end_items(tree) else []
    lists = tree.select(_NUMBERED) if tree.select_one("ol") is not None else []
    for paragraph in paragraphs:
        paragraph.append(nodes.Text(marks.LOOSE))
    for paragraph in later:
        paragraph.insert(0, nodes.Text(marks.LOOSE))
    for label in labels:
        label.unwrap()
    for end in ends:
        end.append(nodes.Text(marks.TIGHT))
    for ordered in lists:
        _mark_numbers(ordered)


def _may_end_items(tree: Document) -> bool:
    """Whether an item holds what ends it in another way than words do; the selector for them is a long one."""
    around = (each.parent for name in _ENDING for each in tree.find_all(name))
    return any(isinstance(each, nodes.Element) and each.tag == "li" for each in around)


def write(tree: Node) -> str:
    """The markdown of a prepared tree, without an empty line at its end."""
    text = tree.to_markdown()
    if marks.TAG in text:  # to look for one sign is much faster than to replace none
        text = text.replace(marks.TAG, "")
    if marks.LOOSE in text:
        text = _loosened(text)
    if marks.TIGHT in text:
        text = _TIGHT.sub("\n", text).replace(marks.TIGHT, "")
    if marks.NUMBER in text:
        text = _ITEM_NUMBER.sub(r"\2\1", text)
    if marks.ALIGNED in text:
        text = _HEADER.sub(_with_rules, text)
    text = _outside_code(text, tree)
    if blank := _BLANK_BEGIN.match(text):
        text = text[blank.end() :]
    if text.endswith(("&#160;", "\xa0")):
        text = _BLANK_END.sub("", text)
    if marks.TAG in text:
        text = emphasis.settle(text)
    return text.replace(marks.LESS_THAN, "\\<") if marks.LESS_THAN in text else text


def _mark_numbers(ordered: Element) -> None:
    """Mark the items with the numbers that a browser shows, where these are more than one, two, three."""
    items = ordered.select(":scope > li")
    step = -1 if ordered.attr("reversed") is not None else 1
    number = _number(ordered.attr("start"), len(items) if step < 0 else 1)
    for item in items:
        number = max(0, _number(item.attr("value"), number))
        item.insert(0, nodes.Text(f"{marks.NUMBER}{min(number, _MAX_NUMBER)}{marks.NUMBER}"))
        number += step
        if item.attr("value") is not None:
            del item.attrs["value"]
    for name in ("reversed", "start"):
        if ordered.attr(name) is not None:
            del ordered.attrs[name]


def _number(text: str | None, default: int) -> int:
    """The number that an attribute holds; markdown has none below zero."""
    found = _WHOLE.match(text or "")
    return int(found[1]) if found else default


def _mark_alignment(row: Element) -> None:
    cells = row.select(":scope > td, :scope > th")
    letters = "".join(_align(cell)[:1] or "-" for cell in cells)
    cells[0].insert(0, nodes.Text(f"{marks.ALIGNED}{letters}{marks.ALIGNED}"))


def _align(cell: Element) -> str:
    found = _ALIGN.search(cell.attr("style") or "")
    align = (found[1] if found else cell.attr("align") or "").lower()
    return align if align[:1] in _RULES else ""


def _loosened(text: str) -> str:
    """The text with an empty line at each mark, which makes its list a loose one."""
    first, *others = text.split(marks.LOOSE)
    parts = [first]
    for part in others:
        before = parts[-1]
        if part.startswith("\n"):  # the mark ends a paragraph
            parts[-1] = before.rstrip(" ")
            prefix = _PREFIX.match(part, 1)
            is_followed = prefix is None or part.startswith("\n", prefix.end())
            parts.append(part if is_followed or prefix is None else f"\n{prefix[0].rstrip()}{part}")
        else:
            parts[-1] = _with_line_before(before)
            parts.append(part.lstrip(" "))
    return "".join(parts)


def _with_line_before(text: str) -> str:
    """The text with an empty line before its last one, where that is nothing but the prefix of what follows."""
    begin = text.rfind("\n")
    prefix = text[begin + 1 :]
    line_before = text[text.rfind("\n", 0, max(begin, 0)) + 1 : max(begin, 0)]
    if begin < 0 or prefix.strip(" >") or not line_before.strip(" >"):
        return text
    return f"{text[: begin + 1]}{prefix.rstrip()}\n{prefix}"


def _with_rules(header: re.Match[str]) -> str:
    """The rest of a header without the mark, and the line below it with what the mark says."""
    rules = (_RULES.get(letter, "---") for letter in header[1])
    return f"{header[2]}| {' | '.join(rules)} |"


def _outside_code(text: str, tree: Node) -> str:
    """The text of a tree with fewer backslashes, and marks instead of tags, where it is not code."""
    written = _Written(tree.select_one("br") is not None, tree.select_one("li") is not None)
    if "`" not in text:
        return _corrected(text, written)
    parts: list[str] = []
    begin = 0
    for found in _CODE.finditer(text):
        code = found[0]
        if "\\" in code or "<" in code or "\xa0" in code or "&#160;" in code or " \n" in code:
            parts += (_corrected(text[begin : found.start()], written), code)
            begin = found.end()
    return "".join(parts) + _corrected(text[begin:], written)


def _corrected(text: str, written: _Written) -> str:
    """The text with its formulas as code, and the rest corrected."""
    if not formulas.may_be_in(text):
        return _correct_words(text, written)
    return "".join(part if is_code else _correct_words(part, written) for part, is_code in formulas.part(text))


def _correct_words(text: str, written: _Written) -> str:
    text = escapes.thin_out(text)
    if written.has_breaks:
        text = _correct_breaks(text)
    if "&" in text and "&#1" in text:
        text = _WIDE_BLANKS.sub(_keep_blank, _BLANK_PARAGRAPH.sub("", text))
    if written.has_items and " \n" in text:
        text = _ITEM_BEGIN.sub(_begun_at_once, text)
    if "<" in text:
        text = emphasis.mark(text)
    may_hold_blanks = "|" in text and ("\xa0" in text or "&#160;" in text)
    return _held_blanks(text) if may_hold_blanks else text


def _correct_breaks(text: str) -> str:
    if "  \n" in text:
        text = _FORGED_TABLE.sub(r"\g<0>\\", _BREAKS.sub(_parted, text))
    if "\\" in text and "\\\n" in text:
        text = _BREAK.sub(_without_first_break, _FIRST_BREAKS.sub(r"\1", text))
    return text.replace("<br>", " ") if "<" in text else text


def _keep_blank(blank: re.Match[str]) -> str:
    """Nothing of a wide blank that indents a paragraph in Chinese or Japanese, or stands at an end of a longer line.

    One within a line is written as it is. One at an end of a short line stays an entity, which no reader takes away.
    """
    text, start, end = blank.string, blank.start(), blank.end()
    if blank[0][:4] == "&#12":
        return ""
    before, behind = text[start - 1 : start], text[end : end + 1]
    if not before.isspace() and before and behind not in ("\n", ""):
        return "\xa0" * blank[0].count("&")
    if behind in ("\n", "") and text.rfind("\n", 0, start) < start - _MIN_PROSE_CHARS:
        return ""
    begins = before in ("\n", "") and behind.isalpha()
    return "" if begins and "\n" not in text[end : end + _MIN_PROSE_CHARS] else blank[0]


def _parted(breaks: re.Match[str]) -> str:
    """Two paragraphs, which is what several breaks in a row make of one."""
    prefix = breaks[1]
    return f"\n{prefix.rstrip()}\n{prefix}"


def _without_first_break(line_end: re.Match[str]) -> str:
    """Nothing of a break that a paragraph begins with."""
    text, end = line_end.string, line_end.start()
    is_first = not text[text.rfind("\n", 0, end) + 1 : end].strip(" >")
    return "" if is_first else line_end[0]


def _begun_at_once(begin: re.Match[str]) -> str:
    """The first line of an item behind its marker, where the writer begins a line of its own."""
    text, end = begin.string, begin.start()
    marker = text[text.rfind("\n", 0, end) + 1 : end + 1]
    prefix: str = begin[1]
    begins_rule = text.startswith(_RULES_OF_SIGNS, begin.end())
    if not _MARKER.fullmatch(marker):
        return begin[0]
    if len(prefix) >= len(marker) and not begins_rule:
        return f" {prefix[len(marker) :]}"
    return begin[0][1:]


def _held_blanks(text: str) -> str:
    """No-break spaces at the ends of cells, which some readers take away like any other, and none in empty ones."""
    if "| \xa0" not in text and "\xa0 |" not in text and "| &#160; |" not in text:
        return text
    text = text.replace("&#160;", "\xa0").replace("| \xa0 |", "|  |").replace("| \xa0 |", "|  |")  # they share bars
    return text.replace("| \xa0", "| &nbsp;").replace("\xa0 |", "&nbsp; |")
