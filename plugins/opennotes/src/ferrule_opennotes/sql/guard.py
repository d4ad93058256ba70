"""Judges a statement before any database or process sees it.

What may stand where a table stands, and which functions may be called, is listed; everything else is refused. So a
statement that passes reads the notes of the notebook and computes from them, and can reach nothing else: no file, no
setting, no catalogue, no second statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrule_opennotes.errors import invalid_sql
from ferrule_opennotes.sql import tokens
from ferrule_opennotes.sql.parser import Reading
from ferrule_opennotes.sql.tokens import WORD, Token

if TYPE_CHECKING:
    from ferrule_opennotes.sql.frames import Call


@dataclass(frozen=True, slots=True)
class Judged:
    """A statement that may be run. statement: as it was given. tokens: its tokens, their places in `statement`."""

    statement: str
    tokens: tuple[Token, ...]
    calls: tuple[Call, ...]

    @property
    def text(self) -> str:
        """The statement without what precedes its first word and follows its last: comments, semicolons."""
        return self.statement[self.tokens[0].start : self.tokens[-1].end]

    @property
    def patterns(self) -> list[str]:
        """The patterns of its read_markdown calls, each once, in their order."""
        return list(dict.fromkeys(call.pattern for call in self.calls))


def judge(statement: str) -> Judged:
    """The statement, if it is harmless. Raises ToolError INVALID_SQL that says what is refused, where, and why."""
    read = tokens.read(statement)
    while read and tokens.is_mark(read[-1], ";"):
        read.pop()
    if not read:
        raise invalid_sql("the statement is empty")
    if read[0].kind != WORD or read[0].text not in ("select", "with"):
        raise invalid_sql(f"a statement must start with SELECT or WITH, not with {tokens.shown(statement, read[0])}")
    return Judged(statement, tuple(read), tuple(Reading(statement, read).calls()))
