"""How much of a tool's result a model gets: it is asked once more with all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_ask.tools.protocols import Passage, ResultText
from ferrule_ask.tools.tool_results import is_search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrule_ask.tools.protocols import ToolResult

MAX_RESULT_BYTES = 24_000  # of what a search says to the model
MAX_BYTES_A_TOKEN = 4  # as `cut_to_tokens` counts them
_FRAME_TOKENS = 40  # of JSON around a passage
_CUT = "… [cut]"


def shorten(tool: str, result: ToolResult, most: int) -> ResultText:
    """What the model gets of a result.

    Args:
        most: tokens of another tool than a search, whose results are short as they are.
    """
    if is_search(tool):
        return ResultText(_cut_to_bytes(result.content), result.is_error, result.passages)
    passages = tuple(_cut_passages(result.passages, most))
    return ResultText(cut_to_tokens(result.content, most), result.is_error, passages)


def cut_to_tokens(text: str, most: int) -> str:
    """A text of so many tokens at the most, with a mark where it is cut.

    Counted are four characters of ASCII as one token, and any other character as one, which is about what models count.
    """
    if len(text) <= most:
        return text
    quarters = 0
    for place, letter in enumerate(text):
        quarters += 1 if letter.isascii() else MAX_BYTES_A_TOKEN
        if quarters > most * MAX_BYTES_A_TOKEN:
            return f"{text[:place]}… [cut: the first {place:,} of {len(text):,} characters]"
    return text


def _cut_passages(passages: Sequence[Passage], most: int) -> Iterator[Passage]:
    """As many as there is room for; the last may be cut, and a mark says how many there were."""
    left = most
    for number, one in enumerate(passages):
        left -= _FRAME_TOKENS + _count_tokens(one.url + one.title)
        if left <= 0:
            yield Passage("", "", f"… [cut: the first {number:,} of {len(passages):,}]")
            return
        yield one._replace(text=cut_to_tokens(one.text, left))
        left -= _count_tokens(one.text)


def _count_tokens(text: str) -> int:
    """As `cut_to_tokens` counts them."""
    return sum(1 if letter.isascii() else MAX_BYTES_A_TOKEN for letter in text) // MAX_BYTES_A_TOKEN


def _cut_to_bytes(content: str) -> str:
    data = content.encode("utf-8", "replace")
    if len(data) <= MAX_RESULT_BYTES:
        return data.decode()
    return data[: MAX_RESULT_BYTES - len(_CUT.encode())].decode(errors="ignore") + _CUT
