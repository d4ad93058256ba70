"""How the commands print: tables, findings, JSON. Nothing a plugin says can steer the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_COLOURS = {
    **dict.fromkeys(("ok", "on", "set", "found", "passed", "as declared", "narrowed", "accepted"), "green"),
    **dict.fromkeys(("disabled", "missing", "skipped", "warned", "warning", "widened"), "yellow"),
    **dict.fromkeys(("broken", "clash", "differs", "error", "failed", "held"), "red"),
    **dict.fromkeys(("invalid", "malformed", "unusable"), "red"),
}
_MIN_LAST_CELL_COLUMNS = 20  # columns that the last cell keeps on a terminal, however narrow that is
_GAP_COLUMNS = 2


def plain(text: object) -> str:
    """The text on one line, without anything that a terminal would obey."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text)).strip()


def coloured(text: str, word: str | None = None) -> str:
    """The text in the colour of a state or severity; where that is not shown, click takes it out again."""
    colour = _COLOURS.get(word or text.strip())
    return click.style(text, fg=colour) if colour else text


def print_json(value: Any) -> None:
    """Print one JSON document, indented, in letters that the stream can hold."""
    import json  # the tables of `ferrule list` need none of it

    is_unicode = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    try:
        text = json.dumps(value, indent=2, ensure_ascii=not is_unicode)
    except RecursionError:
        text = json.dumps(value, ensure_ascii=not is_unicode)  # the encoder in C goes deeper, but does not indent
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    click.echo(harmless(text).decode() if is_terminal else text)


def harmless(text: str) -> bytes:
    """Whatever a page or a plugin has put into a string, the terminal is not to obey it; line ends stay."""
    import json

    shown = (letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)
    return "".join(shown).encode()


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, colour: str | None = None) -> None:
    """Print rows under headings. The last column is cut to fit a terminal, and whole everywhere else.

    colour: the heading whose cells are states or severities.
    """
    table = [list(headings), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(headings) - 1)]
    room = _room(sum(widths) + _GAP_COLUMNS * len(widths))
    for index, row in enumerate(table):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        if colour in headings and index:
            column = list(headings).index(str(colour))
            cells[column] = coloured(cells[column])
        click.echo((" " * _GAP_COLUMNS).join([*cells, _cut(row[-1], room)]).rstrip())


def print_indented(*texts: str | None) -> None:
    """Print each text that is there on a line of its own, under what it belongs to."""
    for text in filter(None, texts):
        click.echo(f"  {plain(text)}")


def print_finding(finding: JSONObject, place: str) -> None:
    """Print what is wrong and what to do about it: `severity`, `id`, `message` and `mend` of the finding."""
    where = f": {plain(place)}" if place else ""
    click.echo(f"  {coloured(finding['severity'])} {plain(finding['id'])}{where}")
    click.echo(f"    {plain(finding['message'])}")
    if finding.get("mend"):
        click.echo(f"    {plain(finding['mend'])}")


def note(text: str) -> None:
    """Tell something on stderr that is not the command's answer."""
    click.echo(plain(text), err=True)


def counted(number: int, noun: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _room(taken: int) -> int | None:
    """Columns left for the last cell on a terminal, None where the output goes elsewhere."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    import shutil

    return max(_MIN_LAST_CELL_COLUMNS, shutil.get_terminal_size().columns - taken)


def _cut(cell: str, room: int | None) -> str:
    return cell if room is None or len(cell) <= room else cell[: room - 1] + "…"


def home_as_tilde(path: str) -> str:
    """`/home/me/.ikigai/tools` -> `~/.ikigai/tools`, for people to read."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if home != "/" and path.startswith(home + "/") else path
