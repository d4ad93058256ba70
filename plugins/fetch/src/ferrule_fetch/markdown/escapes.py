"""Text that must not be taken for markdown, and code, which never is."""

from __future__ import annotations

import math
import re

from ferrule_fetch.markdown import sentinels

_ASCII_PUNCTUATION = r"!-/:-@\[-`{-~"

# What may be markup at all; most text holds none of it.
_SUSPICIOUS = re.compile(r"[\\`*_<&~]")

# Each alternative begins with a character of its own, which lets the search pass over all others quickly.
_COMMON = (
    rf"\\(?=[{_ASCII_PUNCTUATION}]|$)"  # a backslash that would escape what follows
    r"|`"
    r"|\*(?!\s)|\*(?<=\S\*)"  # a star between blanks is a star
    r"|_(?<![^\W_]_)(?!\s)|_(?<!\s_)(?![^\W_])"  # and an underscore within a word is one too
    r"|\((?<=\]\()"
)
_IN_WHOLE = re.compile(_COMMON + r"|<(?=[A-Za-z/!?])|&(?=\#?\w+;)")
_IN_PART = re.compile(_COMMON + r"|<(?=[A-Za-z/!?]|$)|&(?=\#?\w*(?:;|$))|~")  # what follows may complete a mark
_OUTSIDE_CODE = re.compile(
    rf"{_IN_WHOLE.pattern}|\\(?=[\n{sentinels.FIRST}-{sentinels.LAST}])|{sentinels.CODE}[^{sentinels.END_CODE}]*+"
)
_OUTSIDE_CODE_WITH_TILDES = re.compile(_OUTSIDE_CODE.pattern + "|~")
_CLOSING_TILDE = re.compile(r"\S~")
_BRACKET = re.compile(r"[\[\]]")

_LINE_START = re.compile(
    r"\#{1,6}(?:\s|$)"
    r"|>"
    r"|[-+*](?:\s|$)"
    r"|(?:-+|=+)\s*$"
    r"|([-*_])(?:[ \t]*\1){2,}[ \t]*$"
    r"|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$"
    r"|\[[^\]]*\]:"
)
_STARTERS = frozenset("#>-+*_=|:[0123456789")
_NUMBERED = re.compile(r"([0-9]{1,9})[.)](?:\s|$)")
_CLOSING_SIGNS = re.compile(r"(?<![^\s])(#+)$")
_TASK = re.compile(r"\[[ xX]\](?=\s|$)")


def is_plain(text: str) -> bool:
    """Whether there is nothing in a text that could be markup within a line."""
    return not _SUSPICIOUS.search(text) and "](" not in text


def whole(text: str) -> str:
    """Escape a paragraph that is nothing but text, so that a mark without a counterpart stays as it is."""
    if text.count("*") == 1 and not any(sign in text for sign in "\\`_<&~]"):
        return text
    escaped = _IN_WHOLE.sub(_escape, text)
    return escaped.replace("~", "\\~") if _may_strike(escaped) else escaped


def outside_code(text: str) -> str:
    """Escape a whole paragraph with marks in it, but for what is code."""
    if sentinels.CODE not in text and is_plain(text):
        return text
    pattern = _OUTSIDE_CODE_WITH_TILDES if _may_strike(text) else _OUTSIDE_CODE
    return pattern.sub(_escaped_outside_code, text)


def part(text: str, *, in_link: bool = False) -> str:
    """Escape a part of a paragraph. in_link: brackets too, which would end the link's text."""
    escaped = _IN_PART.sub(_escape, text)
    return _BRACKET.sub(_escape, escaped) if in_link and not is_balanced(_BRACKET.findall(text), "[") else escaped


def line_start(line: str) -> str:
    """Escape what would be markup only because it stands at the beginning of a line."""
    if line[:1] not in _STARTERS:
        return line
    number = _NUMBERED.match(line)
    if number:
        return f"{number[1]}\\{line[number.end(1) :]}"
    return f"\\{line}" if _LINE_START.match(line) else line


def lines(texts: list[str]) -> list[str]:
    """The lines of a paragraph, escaped for where they stand, with a break at the end of each but the last."""
    texts[0] = held_left(texts[0])
    texts[-1] = held_right(texts[-1])
    written = [line_start(text) for text in texts]
    return [f"{line}  " for line in written[:-1]] + written[-1:] if len(written) > 1 else written


def item_start(line: str) -> str:
    """Escape what a list item would take for the box of a task."""
    return f"\\{line}" if line.startswith("[") and _TASK.match(line) else line


def heading(line: str) -> str:
    """Escape number signs that a heading would take for its end."""
    return held_left(held_right(_CLOSING_SIGNS.sub(r"\\\1", line)))


def cell(text: str) -> str:
    """Escape what would end a cell."""
    return held_left(held_right(text.replace("|", "\\|"))) if text.strip() else ""


def held_left(line: str) -> str:
    """Hold a no-break space at the beginning, which some readers of markdown take away like any other space."""
    return f"&nbsp;{line[1:]}" if line.startswith("\xa0") else line


def held_right(line: str) -> str:
    """Hold a no-break space at the end."""
    return f"{line[:-1]}&nbsp;" if line.endswith("\xa0") else line


def title(text: str) -> str:
    """The title of a link or image, quoted."""
    quoted = re.sub(rf'\\(?=[{_ASCII_PUNCTUATION}]|$)|"|&(?=\#?\w+;)', _escape, text)
    return f'"{quoted}"'


def code(text: str) -> str:
    """A code span: as many backticks around it as it takes."""
    fence = "`" * _unused_run(text) if "`" in text else "`"
    padded = text.startswith("`") or text.endswith("`") or (text[:1] == text[-1:] == " " and not text.isspace())
    pad = " " if padded else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code_block(text: str, language: str) -> list[str]:
    """The lines of a fenced code block."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return [fence + language, *(text.split("\n") if text else ()), fence]


def is_balanced(brackets: list[str], opening: str, deepest: float = math.inf) -> bool:
    """Whether each bracket has its counterpart, and none stands deeper within others."""
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket == opening else -1
        if not 0 <= depth <= deepest:
            return False
    return depth == 0


def _may_strike(text: str) -> bool:
    return text.count("~") > 1 and bool(_CLOSING_TILDE.search(text))


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _escaped_outside_code(found: re.Match[str]) -> str:
    text = found[0]
    return text if text[0] == sentinels.CODE else f"\\{text}"


def _unused_run(text: str) -> int:
    """The least number of backticks that are nowhere in a row within a text."""
    runs = set(map(len, re.findall("`+", text)))
    return next(length for length in range(1, len(text) + 2) if length not in runs)
