"""The language that code is written in, as the classes and attributes of an element name it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Node

_CLASS = compile_late(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|brush:\s*)((?:[^\s`;]|;(?=$))+)"
    r"|(?:^|\s)(?:sourceCode|src|programlisting)\s+([\w+#.-]+)"
)
# Which say what they are as a class of their own, without a prefix.
# fmt: off
_KNOWN = frozenset({
    "bash", "c", "c++", "cpp", "csharp", "css", "diff", "go", "haskell", "html", "java", "javascript", "js", "json",
    "kotlin", "latex", "lua", "makefile", "markdown", "matlab", "objc", "perl", "php", "powershell", "python", "ruby",
    "rust", "scala", "shell", "sql", "swift", "toml", "ts", "typescript", "xml", "yaml",
})
# fmt: on
# How a site names a language above its code, where the class has a shorter name.
# fmt: off
LONG_NAMES = {
    "cpp": "c++", "cs": "c#", "csharp": "c#", "js": "javascript", "kt": "kotlin", "md": "markdown", "py": "python",
    "rb": "ruby", "rs": "rust", "sh": "shell", "ts": "typescript", "yml": "yaml",
}
# fmt: on
_NO_LANGUAGE = frozenset(
    ["default", "none", "notranslate", "text", "plain", "nohighlight", "console-output", "plaintext", "undefined"]
)
_NAMES = ("data-lang", "data-language", "data-tagsearch-lang")
_COPIES = 2  # of a code block, each in the colours of a theme
_AROUND = 4  # elements around a code block that may name its language


def language_of(element: Element) -> str:
    """The language that an element names; empty where it names none."""
    if not len(element.attrs):
        return ""
    classes = element.attr("class") or ""
    named = next(filter(None, map(element.attr, _NAMES)), "")
    if not named and classes:
        named = _named_in(classes) or next(filter(_KNOWN.__contains__, classes.lower().split()), "")
    if not named:
        named = element.attr("lang") or "" if element.has_class("code") else ""
        if not named:
            return ""
    named = named.lower() if element.attr("data-tagsearch-lang") else named
    return "" if named.lower() in _NO_LANGUAGE or not re.fullmatch(r"[^\s`]{1,40}", named) else named


@lru_cache(maxsize=256)
def _named_in(classes: str) -> str:
    """The language that a class names with a prefix; most blocks of a page have the same classes."""
    found = _CLASS.search(classes)
    return (found[1] or found[2]) if found else ""


def language_around(block: Element) -> str:
    """The language that an element around a code block names, as long as it holds no other block."""
    around: Node | None = block.parent
    for _ in range(_AROUND):
        if not isinstance(around, Element) or around.tag not in ("div", "figure", "td", "tr", "tbody", "table", "pre"):
            return ""
        if language := _named_by_prefix(around):
            return language if len(around.select("pre")) <= _COPIES else ""
        around = around.parent
    return ""


def _named_by_prefix(element: Element) -> str:
    """Around a block, a class that only looks like a language, such as `c`, is none."""
    if any(map(element.attr, _NAMES)) or _named_in(element.attr("class") or "") or element.tag == "figure":
        return language_of(element)
    return ""
