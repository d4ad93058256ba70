"""An answer of the size that is wanted: the text cut to `max_length`, the document to what the client reads."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import Context, JSONObject

MARK = "\n\n[content truncated]"
_BREAKS = ("\n\n", ". ", "\n", " ")
_JOINER = "\u200d"
_FENCE = re.compile(r"^((?:[ >]|[-*+] |\d{1,9}[.)] ){0,40})(`{3,}|~{3,})([^\n]*)", re.M)
_ITEM = re.compile(r"[^ >]")
_ESCAPE = re.compile(r"\\+$")
SHORT_BYTES = 1_450  # of all facts but the content, where the page's own data is not asked for
_SLACK_BYTES = 192  # for numbers that change with the content, and for what says that it was cut


def largest(limit: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to a limit that fits, where all smaller ones do; 0 where none does."""
    return bisect_left(range(1, limit + 1), True, key=lambda number: not fits(number))


def fit(answer: JSONObject, context: Context, max_bytes: int) -> tuple[JSONObject, bool]:
    """The answer in `max_bytes`, and in what the client reads.

    Its content is cut to what fits, and JSON-LD left out from the last block on where that is not enough. Also whether
    anything was left out. The content keeps half of the room that there is before JSON-LD and citations do.
    """
    limit = min(context.max_bytes, max_bytes) - _SLACK_BYTES
    if context.size(answer) <= limit:
        return answer, False
    facts = limit - min(limit // 2, context.size(answer["content"]))
    answer = _with_less_citation(_with_less_data(answer, facts, context), facts, context)
    room = max(limit - _size_without_content(answer, context), min(max_bytes // 2, context.max_bytes // 4))
    content = answer["content"]
    size = largest(len(content.encode()), lambda size: context.size(truncate(content, size)) - len('""') <= room)
    return {**answer, "content": truncate(content, size)}, True


def keep_short(data: JSONObject, answer: JSONObject, context: Context) -> JSONObject:
    """What of the page's data fits into an answer whose facts stay short: blocks and values, from the first on."""
    room = SHORT_BYTES - _size_without_content(answer, context)
    kept: JSONObject = {}
    for name, part in data.items():
        entries = part if isinstance(part, list) else part.items()
        short = []
        for entry in entries:
            size = context.size(entry) + 1
            if size + len(name) <= room:
                room -= size
                short.append(entry)
        if short:
            room -= len(name) + 6
            kept[name] = short if isinstance(part, list) else dict(short)
    return kept


def _size_without_content(answer: JSONObject, context: Context) -> int:
    return context.size({**answer, "content": ""})


def _with_less_data(answer: JSONObject, room: int, context: Context) -> JSONObject:
    while "structuredData" in answer and _size_without_content(answer, context) > room:
        answer = {**answer, "structuredData": _with_less(answer["structuredData"])}
        if not answer["structuredData"]:
            del answer["structuredData"]
    return answer


def _with_less(data: JSONObject) -> JSONObject:
    """Without the last block of JSON-LD, or the last value of the larger map."""
    name = "jsonLd" if "jsonLd" in data else max(data, key=lambda part: len(str(data[part])))
    part = data[name]
    less = part[:-1] if isinstance(part, list) else dict(list(part.items())[:-1])
    return {**data, name: less} if less else {key: value for key, value in data.items() if key != name}


def _with_less_citation(answer: JSONObject, limit: int, context: Context) -> JSONObject:
    """With empty texts for the longest citations, where nothing else would leave any room: signs that TeX escapes."""
    if "citation" not in answer:
        return answer
    formatted = dict(answer["citation"]["formatted"])
    while any(formatted.values()):
        shorter = {**answer, "citation": {**answer["citation"], "formatted": formatted}}
        if _size_without_content(shorter, context) <= limit:
            return shorter
        formatted[max(formatted, key=lambda style: len(formatted[style]))] = ""
    return answer


def truncate(text: str, max_bytes: int) -> str:
    """The text, or where it has more than `max_bytes` in UTF-8, its beginning and the mark, together no more.

    It ends after a paragraph, sentence, line or word where one ends in the second half, and never within a character,
    nor between a backslash and what that escapes. A block of code that is left open is closed. The mark is
    left out where `max_bytes` has hardly room for it.
    """
    if len(text.encode()) <= max_bytes:
        return text
    mark = MARK if max_bytes >= 2 * len(MARK) else ""
    room = max_bytes - len(mark)
    beginning = _cut(text, room)
    while mark and (fence := _open_fence(beginning)):
        closed = f"{beginning}\n{fence}{mark}"
        if len(closed.encode()) <= max_bytes:
            return closed
        room -= len(fence) + 1  # a shorter beginning may end in another block, of which the fence is longer
        beginning = _cut(text, room)
    return beginning + mark


def _cut(text: str, max_bytes: int) -> str:
    beginning = text.encode()[: max(0, max_bytes)].decode(errors="ignore")
    for ending in _BREAKS:
        at = beginning.rfind(ending)
        if at > len(beginning) / 2:
            return beginning[: at + (ending == ". ")]
    return _whole_characters(beginning, text)


def _whole_characters(beginning: str, text: str) -> str:
    """Without what belongs to a letter that was left out, or a letter without what belongs to it."""
    end = len(beginning)
    while 0 < end < len(text) and end > len(beginning) - 32 and _belongs(text, end):
        end -= 1
    beginning = text[:end]
    escaping = _ESCAPE.search(beginning)
    return beginning[:-1] if escaping and len(escaping[0]) % 2 else beginning


def _belongs(text: str, at: int) -> bool:
    """Whether the character at this place goes on with the one before it."""
    letter, before = text[at], text[at - 1]
    if letter.isascii() and before != _JOINER:
        return False
    import unicodedata

    return bool(
        unicodedata.combining(letter)
        or letter == _JOINER
        or before == _JOINER
        or "\ufe00" <= letter <= "\ufe0f"
        or "\U0001f3fb" <= letter <= "\U0001f3ff"
    )


def _open_fence(text: str) -> str:
    """The line that closes the last block of code, as deep in lists and quotations as it; "" where none is open."""
    fence = before = ""
    for found in _FENCE.finditer(text):
        if not fence:
            before, fence = _ITEM.sub(" ", found[1]), found[2]
        elif found[2].startswith(fence) and not found[3].strip():
            fence = ""
    return before + fence if fence else ""
