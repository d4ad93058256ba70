"""A judged statement, written so that the CLI takes it as it is meant.

Before DuckDB sees a statement, the CLI refuses a list of words even where they stand in a text, and makes a path of
whatever on one line stands between the first quote and the last one, if there is a `*` or `?` in it. So every quoted
thing gets a line of its own, what it would misread is written in hexadecimal, and comments are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_opennotes.errors import invalid_sql
from ferrule_opennotes.notebook import globs
from ferrule_opennotes.sql.tokens import DOLLARS, ESCAPED, QUOTED, STRING, WORD, Token
from ferrule_opennotes.sql.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrule_opennotes.sql.frames import Call
    from ferrule_opennotes.sql.guard import Judged

_BLOCKED = words("alter attach create delete detach drop insert pragma replace truncate update")
_PARTS = re.compile(r"[\s(),;=<>]+")
_NO_NOTES = (
    "(SELECT NULL::VARCHAR AS file_path, NULL::VARCHAR AS content, NULL::MAP(VARCHAR, VARCHAR) AS metadata WHERE 1 = 0)"
)


def rewritten(judged: Judged, paths: Iterable[str]) -> str:
    """The statement for the CLI. paths: of all notes, so that a pattern that fits none of them gives no rows.

    Raises ToolError INVALID_SQL for the little that cannot be written so that the CLI takes it.
    """
    known = list(paths)
    calls = {call.first: call for call in judged.calls}
    return " ".join(_pieces(judged, calls, known)).strip()


def _pieces(judged: Judged, calls: dict[int, Call], known: list[str]) -> Iterator[str]:
    place = 0
    while place < len(judged.tokens):
        call = calls.get(place)
        if call:
            yield _read(call.pattern, known)
            place = call.last
        else:
            yield _written(judged, judged.tokens[place])
        place += 1


def _read(pattern: str, known: list[str]) -> str:
    notes_only = _of_notes(pattern)
    if not any(globs.matches(path, notes_only) for path in known):
        return _NO_NOTES
    return f"read_markdown(\n'{notes_only}'\n, include_filepath := true)"


def _of_notes(pattern: str) -> str:
    """The CLI reads whatever a pattern fits; only notes are meant."""
    if "'" in pattern or '"' in pattern:
        raise invalid_sql("the CLI misreads a pattern with a quote in it; write '?' in its place")
    if pattern.endswith(".md"):
        return pattern
    if pattern.endswith("/"):
        return f"{pattern}**/*.md"
    if pattern == "**" or pattern.endswith("/**"):
        return f"{pattern}/*.md"
    if pattern.endswith("*"):
        return f"{pattern}.md"
    raise invalid_sql(f"read_markdown({pattern!r}) names no notes; end the pattern with '.md'")


def _written(judged: Judged, token: Token) -> str:
    text = judged.statement[token.start : token.end]
    if token.kind in (STRING, DOLLARS):
        return _string(token.text)
    if token.kind == ESCAPED and (_is_misread(token.text) or "\n" in token.text):
        raise invalid_sql("a string with escapes holds what the CLI misreads; write it as a plain string")
    if token.kind == QUOTED and (_is_misread(token.text) or "\n" in token.text):
        raise invalid_sql(f"the CLI misreads the name {token.text!r}; choose another")
    if token.kind in (ESCAPED, QUOTED):
        return f"\n{text}\n"
    if token.kind == WORD and token.text in _BLOCKED:
        return f'\n"{text}"\n'  # as a name, which the CLI lets pass and DuckDB takes as the same function
    return text


def _string(text: str) -> str:
    if _is_misread(text) or "\n" in text or "\r" in text:
        return f"decode(from_hex(\n'{text.encode().hex()}'\n))"
    escaped = text.replace("'", "''")
    return f"\n'{escaped}'\n"


def _is_misread(text: str) -> bool:
    return any(mark in text for mark in "*?'\"") or not _BLOCKED.isdisjoint(_PARTS.split(text.lower()))
