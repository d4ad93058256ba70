"""Text that must not be taken for markdown, and code, which never is."""

import re

_PUNCTUATION = r"!-/:-@\[-`{-~"
_MARKUP = re.compile(
    rf"\\(?=[{_PUNCTUATION}]|$)"  # a backslash that would escape what follows
    r"|[`*]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # not inside a word, where it stays what it is
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=\#?\w+;)"
    r"|~(?=~)"
    r"|(?<=\])\("
)
_BRACKETS = re.compile(r"[\[\]]")
_LINE_START = re.compile(r"[-+](?:\s|$)|\#{1,6}(?:\s|$)|>|(?:-+|=+)\s*$|~~~|\[[^\]]*\]:")
_CLOSING_SIGNS = re.compile(r"(?:(?<=\s)|^)#+$")
_NUMBER = re.compile(r"(\d{1,9})(?=[.)](?:\s|$))")


def text(data: str, *, in_link: bool = False) -> str:
    """Escape what would be markup in running text. in_link: brackets too, which would end the link's text."""
    escaped = _MARKUP.sub(r"\\\g<0>", data)
    return _BRACKETS.sub(r"\\\g<0>", escaped) if in_link else escaped


def line(data: str) -> str:
    """Escape what would be markup only because it stands at the beginning of a line."""
    number = _NUMBER.match(data)
    if number:
        return f"{number[0]}\\{data[number.end() :]}"
    return f"\\{data}" if _LINE_START.match(data) else data


def heading(data: str) -> str:
    """Escape number signs that a heading would take for its end."""
    return _CLOSING_SIGNS.sub(r"\\\g<0>", data)


def code(data: str) -> str:
    """A code span: as many backticks around it as it takes."""
    fence = "`" * (_longest_run(data) + 1 if "`" in data else 1)
    pad = " " if data.startswith("`") or data.endswith("`") else ""
    return f"{fence}{pad}{data}{pad}{fence}"


def code_block(data: str, language: str) -> list[str]:
    """The lines of a fenced code block."""
    fence = "`" * max(3, _longest_run(data) + 1)
    return [fence + language, *data.split("\n"), fence]


def _longest_run(data: str) -> int:
    return max(map(len, re.findall("`+", data)), default=0)
