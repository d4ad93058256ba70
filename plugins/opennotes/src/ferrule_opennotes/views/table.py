"""The notes as a table of an SQLite in memory, over which a view is one SELECT.

SQLite, and not DuckDB, since DuckDB alone takes longer to load than a view on a thousand notes. What it does not have
is added to it as functions: numbers and dates in text, letters without case, regular expressions, globs over folders.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

from ferrule_opennotes.notebook import dates, globs
from ferrule_opennotes.notebook.notes import to_text
from ferrule_opennotes.views.definitions import DefinitionError

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.notebook.notes import Note

Row = tuple["Note", "JSONObject"]  # what a view finds: a note, and what is said of it besides its summary
Cell = str | bytes | int | float | None
Read = Callable[["Note"], Cell]

_NUMBER = re.compile(r"\s*[-+]?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][-+]?\d{1,3})?\s*")
_MAX_INTEGER = (1 << 63) - 1
_MAX_COUNTED = 9  # of one word in one note


class NotesTable:
    """A table in the making, with a column for all that a SELECT turns out to read, and the values that it is given."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._columns: list[Read] = []
        self._values: dict[tuple[type, object], str] = {}

    def column(self, name: str, read: Read) -> str:
        """The SQL of a column. name: the same for the same `read`, which gives its value for a note."""
        place = self._places.setdefault(name, len(self._columns))
        if place == len(self._columns):
            self._columns.append(read)
        return f"c{place}"

    def write_item_test(self, name: str, read: Callable[[Note], object], make_test: Callable[[str], str]) -> str:
        """The SQL of whether a test holds for the text of what `read` gives, or for that of an item where it is a list.

        make_test: the SQL of the test for the SQL of a text.
        """
        column = self.column(f"items of {name}", lambda note: _write_items(read(note)))
        any_item = f"EXISTS (SELECT 1 FROM json_each(CAST({column} AS TEXT)) WHERE {make_test('value')})"  # noqa: S608 - SQL that the view was compiled to
        return f"CASE typeof({column}) WHEN 'blob' THEN {any_item} ELSE {make_test(column)} END"

    def value(self, value: object) -> str:
        """The SQL of a value, which is bound, and no part of the statement."""
        return f":{self._values.setdefault((type(value), value), f'v{len(self._values)}')}"

    def select(self, notes: Sequence[Note], statement: str) -> list[tuple[Note, Sequence[object]]]:
        """The notes that a SELECT from `notes` gives by their `id`, which comes first, each with what comes after it.

        Raises DefinitionError for a statement that is too large.
        """
        import sqlite3

        with closing(sqlite3.connect(":memory:")) as connection:
            for name, function in _FUNCTIONS.items():
                connection.create_function(name, function.__code__.co_argcount, function, deterministic=True)
            names = "".join(f", c{place}" for place in range(len(self._columns)))
            places = ", ".join("?" * (len(self._columns) + 1))
            rows = ((place, *(read(note) for read in self._columns)) for place, note in enumerate(notes))
            try:
                connection.execute(f"CREATE TABLE notes (id{names})")
                connection.executemany(f"INSERT INTO notes VALUES ({places})", rows)  # noqa: S608 - question marks
                values = {name: value for (_, value), name in self._values.items()}
                return [(notes[place], others) for place, *others in connection.execute(statement, values)]
            except (sqlite3.Error, OverflowError) as error:
                raise DefinitionError(f"it is more than SQLite can do: {error}") from None


def format_value(value: object) -> str | None:
    """A value of the frontmatter as text: as YAML writes it, lists and mappings as JSON; None for nothing."""
    if value is None:
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else to_text(value)


def to_number(value: object) -> int | float | None:
    """The number that a value is, or that its text spells; None where it is none, or none that SQLite has."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
    if not isinstance(value, int | float):
        return None
    number = float(value) if abs(value) > _MAX_INTEGER else int(value) if isinstance(value, bool) else value
    return number if math.isfinite(number) else None


def _write_items(value: object) -> Cell:
    """A list as bytes, which no other value has, that are a JSON array of its items' texts; anything else as text."""
    if not isinstance(value, list):
        return format_value(value)
    return f"[{','.join(json.dumps(format_value(item)) for item in value)}]".encode()


def _to_whole(number: float | None) -> int | None:
    """The nearest whole number, of two the one farther from zero, as DuckDB reads `2.5`."""
    if number is None or abs(number) > _MAX_INTEGER:
        return None
    return number if isinstance(number, int) else int(number + math.copysign(0.5, number))


def _to_iso(seconds: float | None) -> str | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds).astimezone().isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def _fold(text: str | None) -> str | None:
    return None if text is None else text.strip().casefold()


def _matches(pattern: str, text: str | None) -> bool | None:
    return None if text is None else re.search(pattern, text) is not None


def _fits(pattern: str, path: str) -> bool:
    return globs.matches(path, pattern)


def _count(pattern: str, text: str) -> int:
    return min(len(re.findall(pattern, text)), _MAX_COUNTED)


# `text REGEXP pattern` and `path GLOB pattern` are calls of the functions of these names.
_FUNCTIONS: dict[str, Callable[..., Cell]] = {
    "number": to_number,
    "whole": _to_whole,
    "seconds": dates.to_seconds,
    "iso": _to_iso,
    "fold": _fold,
    "regexp": _matches,
    "glob": _fits,
    "occurrences": _count,
}
