"""The examples of the CommonMark and GFM specifications, from packages that carry them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markdown.sources.packages import Package, source

if TYPE_CHECKING:
    from collections.abc import Iterator

# The first two carry copies of the specifications; the first and the last have cases of their own for GFM's extensions.
COMMONMARK = Package("markdown-it-py", "4.3.0")
GFM = Package("marko", "2.2.4")
MISTUNE = Package("mistune", "3.4.0")
_FIXTURES = ("tables", "strikethrough", "strikethrough_single_tilde", "tasklists")
_SECTIONS = ("Tables", "Task list items", "Strikethrough")
_SECTION = re.compile(r"^## (?P<name>.+?) \(extension\)$(?P<text>.*?)(?=^##? )", re.M | re.S)
_EXAMPLE = re.compile(r"^`{10,} example.*?\n(?P<markdown>.*?)^\.\n(?P<html>.*?)^`{10,}$", re.M | re.S)
_FIXTURE = re.compile(r"^\.\n(?P<markdown>.*?)^\.\n(?P<html>.*?)^\.$", re.M | re.S)


class Case(NamedTuple):
    """HTML to convert, and markdown that means the same, which proves that there is some."""

    name: str
    html: str
    markdown: str


def commonmark() -> Iterator[Case]:
    """All 652 examples of CommonMark 0.31.2."""
    path = source(COMMONMARK) / "tests" / "test_cmark_spec" / "commonmark.json"
    for example in json.loads(path.read_text()):
        yield Case(f"CommonMark {example['example']}, {example['section']}", example["html"], example["markdown"])


def gfm() -> Iterator[Case]:
    """The examples of GFM's tables, task lists and strikethrough, and those that renderers are tested with."""
    text = Path(source(GFM), "tests", "spec", "gfm.txt").read_text()
    for section in _SECTION.finditer(text):
        if section["name"] in _SECTIONS:
            yield from _cases(f"GFM {section['name']}", _EXAMPLE, section["text"].replace("→", "\t"))
    folder = source(COMMONMARK) / "tests" / "test_port" / "fixtures"
    for name in _FIXTURES:
        yield from _cases(f"markdown-it {name}", _FIXTURE, (folder / f"{name}.md").read_text())
    folder = source(MISTUNE) / "tests" / "fixtures"
    for name in ("table", "strikethrough", "task_lists"):
        yield from _cases(f"mistune {name}", _EXAMPLE, (folder / f"{name}.txt").read_text())


def _cases(name: str, pattern: re.Pattern[str], text: str) -> Iterator[Case]:
    for number, found in enumerate(pattern.finditer(text), 1):
        yield Case(f"{name} {number}", found["html"], found["markdown"])
