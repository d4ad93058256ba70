"""Where in a statement a reading is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """One read_markdown of the statement. first, last: its tokens, the name and the closing parenthesis."""

    pattern: str
    first: int
    last: int


class Frame:
    """One pair of parentheses, or the statement: where in it the reading is, and the names it has declared."""

    __slots__ = ("alias_may_follow", "expects_table", "in_from", "is_query", "names", "parting")

    def __init__(self, parting: bool = False) -> None:
        self.names: set[str] = set()
        self.is_query = False  # a SELECT has been read, since the start or the last UNION
        self.in_from = False
        self.expects_table = False
        self.alias_may_follow = False
        self.parting = parting  # inside a function like trim(x FROM y)
