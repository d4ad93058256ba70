"""Formulas that stand in the text of a page as TeX, for a script to draw: they become code between dollar signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGINS = ("$", r"\\(", r"\\\[")

_INNER = r"((?:[^$`\n\\]|\\[^\n]){1,600}?)"
_FORMULA = compile_late(
    rf"(?<![\\$\w])(?P<dollars>\$\$?)(?![\s$]){_INNER}(?<!\s)(?P=dollars)(?![$\w])"
    rf"|\\\\\({_INNER}\\\\\)|\\\\\\\[{_INNER}\\\\\\\]"
)
_COMMAND = compile_late(r"\\\\(?:[A-Za-z]{2,}|\\[{}])")
_ESCAPED = compile_late(r"\\([^\n])")


def may_be_in(text: str) -> bool:
    """Whether a text may hold a formula: it has a backslash, as the writer escapes it, and what begins one."""
    return "\\" in text and r"\\" in text and any(map(text.__contains__, _BEGINS))


def part(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text that the writer wrote, each with whether it is a formula, which is code now."""
    begin = 0
    for found in _FORMULA.finditer(text):
        if found["dollars"] and not _COMMAND.search(found[0]):
            continue  # amounts of money
        tex = _ESCAPED.sub(r"\1", found[found.lastindex or 0]).strip()
        yield text[begin : found.start()], False
        yield f"$`{tex}`$", True
        begin = found.end()
    yield text[begin:], False
