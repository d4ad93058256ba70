"""Pages that are no pages, or not whole: walls against robots, shells that only scripts would fill, paywalls."""

from __future__ import annotations

import os
import re
from functools import cache

from ferrule_fetch.notes import ALL_HIDDEN

MAX_WALL_BYTES = 2048  # what has more is a page
MIN_PAGE_BYTES = 100  # that a page has to have to be taken for whole
_SHELL_RATIO = 20  # times the text that the HTML of a shell is
_WORD = re.compile(r"[^\W_]+")
_SOURCE_CHARS = 200_000  # of the HTML, in which the marks of a wall are looked for


def is_wall(text: str, title: str, html: str) -> bool:
    """Whether a page is there to keep robots out."""
    if len(text.encode()) > MAX_WALL_BYTES:
        return False
    spoken = " ".join(f"{title} {text}".lower().replace("’", "'").replace("\\", "").split())
    source = html[:_SOURCE_CHARS].lower()
    marks = _marks()
    return any(mark in spoken for mark in marks["sentences"]) or any(mark in source for mark in marks["source_marks"])


def is_shell(text: str, html: str) -> bool:
    """Whether there is so little text in so much HTML that scripts have to bring the rest."""
    size = len(text.encode())
    if size > MAX_WALL_BYTES:
        return False
    return _waits_for_scripts(text) or len(html.encode()) >= _SHELL_RATIO * max(1, size)


def is_empty(text: str, html: str) -> bool:
    """Whether there is nothing to be read, or only the wish that scripts might run or that cookies are taken.

    All else may be all that the page has to say, however much HTML is around it.
    """
    size = len(text.strip().encode())
    if size == 0 or (size < MIN_PAGE_BYTES and is_shell(text, html) and _waits_for_scripts(text)):
        return True
    return text.startswith(ALL_HIDDEN) and size <= MAX_WALL_BYTES and asks_consent(text)


def may_be_empty(text: str) -> bool:
    """Whether it takes a look at the HTML to know that there is something to be read."""
    return len(text) < MIN_PAGE_BYTES or text.startswith(ALL_HIDDEN)


def asks_consent(text: str) -> bool:
    """Whether a text is a question about cookies."""
    spoken = text.lower()
    return "cookie" in spoken and any(word in spoken for word in ("consent", "accept", "agree"))


def _waits_for_scripts(text: str) -> bool:
    spoken = text.lower()
    words = " ".join(_WORD.findall(spoken))
    is_short = len(spoken) <= 2 * MIN_PAGE_BYTES
    return words in _marks()["waiting"] or (is_short and any(mark in spoken for mark in _marks()["scripts_wanted"]))


@cache
def _marks() -> dict[str, list[str]]:
    """Texts of the walls' own, in small letters. A page about captchas has none of them."""
    import json  # not above: most pages have words enough, and need no marks

    with open(os.path.join(os.path.dirname(__file__), "walls.json"), "rb") as file:  # noqa: PTH118, PTH120, PTH123 - pathlib costs more
        marks: dict[str, list[str]] = json.loads(file.read())
    return marks
