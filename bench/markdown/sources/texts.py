"""Texts drawn at random, full of the characters that markdown is made of."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Draw = random.Random

_WORDS = (
    *("a", "b1", "word", "Ünï", "2", "10", "x", "http://e.org/", "e@e.org", "日本", "javascript:", "😀") * 3,
    "\u00a0",  # rare, since what keeps failing at it would fail a tenth of all cases otherwise
)
# fmt: off
_MARKUP = (
    "*", "**", "_", "__", "`", "``", "```", "~", "~~", "[", "]", "](", "[x]", "[ ]", "![", "(", ")", "<", ">", "<b>",
    "</b>", "<!--", "-->", "<?", "&", "&amp;", "&#42;", "&copy", "#", "##", "+", "-", "--", "---", "=", "===", "1.",
    "1)", "10.", "|", "||", "\\", "\\\\", "!", '"', "'", ":", "://", "{", "}", "$", "^", "/", ".", ",", ";", "@", "%",
    "%20", "]:", "[a]:", ":-", "|-|", "•",
)
_STARTS = (
    "#", "##", "#######", "+", "-", "*", "1.", "1)", "123456789.", "1234567890.", ">", ">>", "```", "~~~", "---", "***",
    "___", "===", "- -", "[ ]", "[x]", "|", "<p>", "<!--", "[a]:", ":", "| |",
)
_TARGETS = (
    "a", "b", "(", ")", "((", "<", ">", " ", "*", "_", "[", "]", "\\", "&", "&amp;", "?", "=", "#", "%20", "%", '"',
    "'", "|", "~", "ü",
)
# fmt: on
_SPACES = ("", "", " ")


def line(draw: Draw) -> str:
    """Words and markup, with and without spaces between them."""
    pieces = [draw.choice(_MARKUP if draw.random() < 0.6 else _WORDS) for _ in range(draw.randint(1, 8))]
    return "".join(piece + draw.choice(_SPACES) for piece in pieces).strip(" ")


def bounded(draw: Draw) -> str:
    """A line that begins and ends with a letter, as emphasis needs it that stands against letters."""
    return f"a{draw.choice(_SPACES)}{line(draw)}{draw.choice(_SPACES)}z"


def starting(draw: Draw) -> str:
    """A line that begins as a block of markdown does."""
    return f"{draw.choice(_STARTS)}{draw.choice(('', ' ', '  '))}{line(draw)}"


def code(draw: Draw) -> str:
    """A line with single spaces only, since more are not seen in a code span."""
    return re.sub(" +", " ", line(draw))


def block(draw: Draw) -> str:
    """Lines of code, indented and blank ones among them."""
    return "".join(f"{text}\n" for text in [_indented(draw), *_more_lines(draw)])


def target(draw: Draw) -> str:
    """An address full of what ends an address in markdown."""
    return f"http://e.org/p{''.join(draw.choices(_TARGETS, k=draw.randint(1, 8)))}z"


def _more_lines(draw: Draw) -> Sequence[str]:
    return [_indented(draw) if draw.random() < 0.8 else "" for _ in range(draw.randint(0, 4))]


def _indented(draw: Draw) -> str:
    return draw.choice(("", "    ", "\t", " ")) + draw.choice((line, starting))(draw)
