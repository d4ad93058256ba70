"""The tokens of an SQL statement, read so strictly that no database can read them otherwise.

Wherever two SQL dialects would disagree about where a string, a comment or a word ends, the statement is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ferrule_opennotes.errors import invalid_sql

WORD, QUOTED, NUMBER, MARK = "word", "quoted name", "number", "mark"
STRING, ESCAPED, DOLLARS = "string", "string with escapes", "string between dollar signs"
MOST_CHARACTERS = 100_000
MOST_TOKENS = 20_000

_SPACE = re.compile(r"[ \t\r\n]+")
_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?")
_MARK = re.compile(r"->>|->|::|:=|=>|==|<=|>=|<>|!=|\|\||\*\*|//|<<|>>|[-+*/%^<>=!~&|@#.,:;()\[\]{}]")
_DOLLARS = re.compile(r"\$([A-Za-z_][A-Za-z_0-9]*)?\$")
_JOINED = frozenset("-+*/%^<>=!~&|@#")  # what some dialect would take as one operator with a comment's first sign


@dataclass(frozen=True, slots=True)
class Token:
    """One token. text: a word in lower case, a string or quoted name without its quotes, else what stands there.

    start, end: its place in the statement, in characters.
    """

    kind: str
    text: str
    start: int
    end: int


def read(statement: str) -> list[Token]:
    """All tokens but space and comments. Raises ToolError INVALID_SQL for what cannot be read beyond doubt."""
    if len(statement) > MOST_CHARACTERS:
        raise invalid_sql(f"the statement is longer than {MOST_CHARACTERS:,} characters")
    if "\0" in statement:
        raise invalid_sql("the statement holds a NUL character")
    tokens: list[Token] = []
    place = 0
    while (place := _after_space(statement, place)) < len(statement):
        tokens.append(_token(statement, place))
        place = tokens[-1].end
        if len(tokens) > MOST_TOKENS:
            raise invalid_sql(f"the statement has more than {MOST_TOKENS:,} words and signs")
    return tokens


def _after_space(text: str, place: int) -> int:
    """Where the next token starts, past space and comments."""
    while True:
        found = _SPACE.match(text, place)
        start = place
        place = found.end() if found else place
        if text.startswith("--", place):
            place = _after_line(text, place)
        elif text.startswith("/*", place):
            place = _after_block(text, place)
        if place == start:
            return place


def _after_line(text: str, start: int) -> int:
    _stands_alone(text, start)
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if "\r" in text[start:end].removesuffix("\r"):
        raise invalid_sql(f"a comment holds a carriage return, at {position(text, start)}; end it with a newline")
    return end


def _after_block(text: str, start: int) -> int:
    _stands_alone(text, start)
    end = text.find("*/", start + 2)
    if end < 0:
        raise invalid_sql(f"the comment that starts at {position(text, start)} does not end")
    if "/*" in text[start + 2 : end + 1]:
        raise invalid_sql(
            f"a comment stands inside a comment, at {position(text, start)}; write them one after another"
        )
    return end + 2


def _stands_alone(text: str, start: int) -> None:
    if start and text[start - 1] in _JOINED and not text.endswith("*/", 0, start):
        raise invalid_sql(f"a comment starts right behind an operator, at {position(text, start)}; put a space between")


def _token(text: str, start: int) -> Token:
    letter = text[start]
    if letter == "'":
        return _string(text, start, start)
    if letter == '"':
        return _quoted(text, start)
    if letter == "$":
        return _dollars(text, start)
    if letter.isdigit() or (letter == "." and text[start + 1 : start + 2].isdigit()):
        return _number(text, start)
    word = _WORD.match(text, start)
    if word:
        return _word(text, word)
    mark = _MARK.match(text, start)
    if not mark:
        raise _unreadable(text, start)
    return Token(MARK, mark[0], start, mark.end())


def _word(text: str, word: re.Match[str]) -> Token:
    end = word.end()
    after = text[end : end + 1]
    if after == "$":
        raise invalid_sql(f"a dollar sign stands in a name, at {position(text, end)}; put the name in double quotes")
    if after == "'" and word[0] in ("e", "E"):
        return _string(text, word.start(), end)
    if word[0] in ("u", "U") and text[end : end + 2] in ("&'", '&"'):
        raise invalid_sql("U& strings and names are refused; write the characters themselves")
    return Token(WORD, ascii_lower(word[0]), word.start(), end)


def _string(text: str, start: int, quote: int) -> Token:
    content, end = _between(text, quote, "'")
    if quote > start:
        if re.search(r"\\(?:'|\Z)", content):
            raise invalid_sql(f"a backslash stands before a quote, at {position(text, start)}; write '' for a quote")
        return Token(ESCAPED, content, start, end)
    return Token(STRING, content, start, end)


def _quoted(text: str, start: int) -> Token:
    content, end = _between(text, start, '"')
    if not content:
        raise invalid_sql(f"a name in double quotes is empty, at {position(text, start)}")
    return Token(QUOTED, content, start, end)


def _between(text: str, start: int, quote: str) -> tuple[str, int]:
    end = text.find(quote, start + 1)
    while end >= 0 and text.startswith(quote, end + 1):
        end = text.find(quote, end + 2)
    if end < 0:
        raise invalid_sql(f"the quote that opens at {position(text, start)} does not close")
    return text[start + 1 : end].replace(quote * 2, quote), end + 1


def _dollars(text: str, start: int) -> Token:
    opening = _DOLLARS.match(text, start)
    if not opening:
        raise invalid_sql(f"parameters like $1 are refused, at {position(text, start)}; write the value itself")
    end = text.find(opening[0], opening.end())
    if end < 0:
        raise invalid_sql(f"the quote {opening[0]} that opens at {position(text, start)} does not close")
    return Token(DOLLARS, text[opening.end() : end], start, end + len(opening[0]))


def _number(text: str, start: int) -> Token:
    found = _NUMBER.match(text, start)
    if not found:
        raise _unreadable(text, start)
    end = found.end()
    if re.match(r"[\w$]", text[end : end + 1]):
        raise invalid_sql(f"a number runs into a word, at {position(text, end)}; put a space between")
    return Token(NUMBER, found[0], start, end)


def _unreadable(text: str, start: int) -> Exception:
    if text[start] == "?":
        return invalid_sql(f"parameters like ? are refused, at {position(text, start)}; write the value itself")
    letter = text[start] if text[start].isprintable() else f"U+{ord(text[start]):04X}"
    return invalid_sql(f"the character {letter} stands outside quotes, at {position(text, start)}")


def position(text: str, place: int) -> str:
    """A place in the statement, for people."""
    return f"line {text.count(chr(10), 0, place) + 1} column {place - text.rfind(chr(10), 0, place)}"


def ascii_lower(name: str) -> str:
    """As a database compares names. `str.lower` would also make a k of the Kelvin sign."""
    return (
        name.lower() if name.isascii() else "".join(letter.lower() if letter.isascii() else letter for letter in name)
    )


def is_mark(token: Token | None, mark: str) -> bool:
    """True for this mark outside of quotes."""
    return token is not None and token.kind == MARK and token.text == mark


def shown(statement: str, token: Token) -> str:
    """A token as it stands in the statement, cut where it is long."""
    text = statement[token.start : token.end]
    return text if len(text) <= 60 else text[:59] + "…"
