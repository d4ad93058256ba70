"""Which tools depend on what the process of a server remembers, as far as their names and descriptions tell.

A process for each call forgets it. Nothing in the protocol says so: these are guesses, for a person who adds a server.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.text.json_types import JSONObject

# Words of a name, which is taken apart at dashes, underscores, dots and capitals.
_NAME_WORDS = frozenset(("session", "sessions", "tab", "tabs", "transaction", "rollback", "breakpoint", "thinking"))
_PAGE_WORDS = frozenset(("browser", "click", "hover", "navigate", "drag", "snapshot", "screenshot"))
_NAME_BEGINNINGS = (
    ("toggle",), ("activate",), ("attach",), ("connect",), ("disconnect",), ("login",), ("logout",), ("subscribe",),
    ("start", "process"), ("interact", "with"), ("read", "process"), ("set", "working"), ("clear", "working"),
    ("switch", "project"), ("open", "project"), ("select", "page"), ("new", "page"), ("new", "tab"),
)  # fmt: skip
_PHRASES = re.compile(
    r"\b(?:(?:current|active|running|same|this|existing|persistent|interactive) (?:\w+ )?(?:session|browser|page|tab|"
    r"connection|process|terminal|shell)"
    r"|session (?:working directory|state|id)|(?:active|activated|current) project"
    r"|previous(?:ly)? (?:thoughts?|opened|started|loaded|set|created in)"
    r"|must (?:be called|call|run|activate|initiali[sz]e|connect)\b[^.]{0,60}\b(?:first|before)"
    r"|(?:stays?|remains?|kept|keeps?) (?:open|alive|in memory|loaded|active)"
    r"|for (?:the rest|the duration|(?:all )?subsequent|later) (?:of )?(?:the |this )?(?:calls?|session|operations?)"
    r"|in[- ]memory (?:database|store|state|session)|started with start_process)\b",
    re.IGNORECASE,
)
_FEW_PAGE_TOOLS = 3  # with which a server drives a page, and does not only take pictures of one


def keeps_state(tools: Sequence[JSONObject]) -> list[str]:
    """The names of the tools, as the server lists them, that seem to depend on what its process remembers."""
    words = {tool["name"]: _split_name(tool["name"]) for tool in tools}
    drives_page = sum(1 for found in words.values() if _PAGE_WORDS & set(found)) >= _FEW_PAGE_TOOLS
    return [
        tool["name"]
        for tool in tools
        if _is_named_so(words[tool["name"]], drives_page=drives_page) or _PHRASES.search(_read_description(tool))
    ]


def _is_named_so(words: list[str], *, drives_page: bool) -> bool:
    """Whether the words of a name say it."""
    if _NAME_WORDS & set(words) or (drives_page and _PAGE_WORDS & set(words)):
        return True
    beginnings = (words, words[1:])  # many servers begin each name with their own
    return any(tuple(some[: len(one)]) == one for some in beginnings for one in _NAME_BEGINNINGS)


def _split_name(name: str) -> list[str]:
    """The words of a name. `sequentialthinking` has no seam, so an ending that is a word by itself is cut off."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)
    parts: list[str] = []
    for word in map(str.lower, words):
        ending = next((one for one in ("thinking",) if word.endswith(one) and word != one), "")
        parts += [word.removesuffix(ending), ending] if ending else [word]
    return parts


def _read_description(tool: JSONObject) -> str:
    description = tool.get("description")
    return description if isinstance(description, str) else ""
