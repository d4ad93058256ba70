"""Code blocks: their text as it stands in the page, and the language that it is written in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ferrule_fetch.markdown import tokens
from ferrule_fetch.markdown.attributes import attributes_of, is_hidden, unescape
from ferrule_fetch.markdown.elements import BLOCKS, LEFT_OUT

_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|brush:\s*)((?:[^\s`;]|;(?=$))+)"
    r"|(?:^|\s)(?:sourceCode|src|programlisting)\s+([\w+#.-]+)"
)
_HINT = re.compile("lang|highlight|brush|ource")
# Which say what they are as a class of their own, without a prefix.
# fmt: off
_KNOWN = frozenset({
    "bash", "c", "c++", "cpp", "csharp", "css", "diff", "go", "haskell", "html", "java", "javascript", "js", "json",
    "kotlin", "latex", "lua", "makefile", "markdown", "matlab", "objc", "perl", "php", "powershell", "python", "ruby",
    "rust", "scala", "shell", "sql", "swift", "toml", "ts", "typescript", "xml", "yaml",
})
# fmt: on
_NO_LANGUAGE = frozenset(["default", "none", "notranslate", "text", "plain", "nohighlight", "console-output"])
_LINES = frozenset({"p", "li", "tr", *BLOCKS})  # each on a line of its own

_STRUCTURE = re.compile(f"<(?:!|(?:{'|'.join({'br', *_LINES, *LEFT_OUT})})[ >])")
_INNER = re.compile("<code ([^>]*)>")
_GUTTER = re.compile(r'class="(?:[^"]* )?(?:linenos?|linenumber|line-numbers?|gutter|blob-num)[ "]')
_TAG = re.compile("<[^>]*>")


def language(spelt: str) -> str:
    """The language that an element's attributes name; empty where they name none."""
    if "class=" not in spelt and "lang" not in spelt:
        return ""
    attributes = attributes_of(spelt)
    classes = attributes.get("class", "")
    found = _CLASS.search(classes)
    named = attributes.get("data-lang") or attributes.get("data-language") or (found and (found[1] or found[2]))
    named = named or next(filter(_KNOWN.__contains__, classes.lower().split()), "")
    return "" if named in _NO_LANGUAGE or not re.fullmatch(r"[^\s`]{1,40}", named) else named


def language_around(spelt: str) -> str:
    """The language that the attributes of an element around a code block name."""
    return language(spelt) if _HINT.search(spelt) else ""


def is_gutter(spelt: str) -> bool:
    """Whether an element holds the numbers of the lines beside it."""
    return bool(_GUTTER.search(spelt))


def read(rest: Iterator[str], spelt: str, first: str) -> tuple[str, str, str]:
    """The text of a code block whose start tag was met, its language, and the text behind it.

    spelt: the start tag. first: the text right behind it.
    """
    name = spelt.partition(" ")[0]
    if name in ("xmp", "plaintext"):
        text, behind = tokens.raw_text(rest, name, first)
        return text, language(spelt), behind
    inside, behind = tokens.within(rest, name)
    whole = "<".join([first, *inside])
    if _STRUCTURE.search(whole) or "hidden" in whole or "style=" in whole or _GUTTER.search(whole):
        text, named = _text(iter(inside), first)
    else:
        found = _INNER.search(whole)
        text, named = unescape(_TAG.sub("", whole)), language(found[1]) if found else ""
    return text, language(spelt) or named, behind


def _text(inside: Iterator[str], first: str) -> tuple[str, str]:
    text, named = [first], ""
    for piece in inside:
        tag, _, following = piece.partition(">")
        name, _, spelt = tag.partition(" ")
        if name.startswith("!--"):
            following = tokens.comment(inside, piece)
        elif name in LEFT_OUT or (spelt and (is_hidden(spelt) or is_gutter(spelt))):
            following = tokens.skip(inside, name)
        elif name == "br" or (name.lstrip("/") in _LINES and not _ends_line(text)):
            text.append("\n")
        elif name == "code" and not named:
            named = language(spelt)
        text.append(following)
    return unescape("".join(text)), named


def _ends_line(text: list[str]) -> bool:
    return next(filter(None, reversed(text)), "\n").endswith("\n")
