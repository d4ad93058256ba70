"""How the commands print: tables, findings, JSON. Nothing a plugin says can steer the terminal."""

from __future__ import annotations

import os
import sys

from ferrule.cli import columns

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TextIO

    from ferrule.text.json_types import JSONObject

_COLOURS = {
    **dict.fromkeys(("ok", "on", "set", "found", "passed", "as declared", "narrowed", "accepted"), "green"),
    **dict.fromkeys(("disabled", "missing", "skipped", "warned", "warning", "widened"), "yellow"),
    **dict.fromkeys(("broken", "clash", "differs", "error", "failed", "held"), "red"),
    **dict.fromkeys(("invalid", "malformed", "unusable"), "red"),
}
_MIN_COLUMNS = 40  # of a terminal, however narrow it is


def plain(text: object) -> str:
    """The text on one line, without anything that a terminal would obey."""
    shown = str(text)
    if not shown.isprintable():
        shown = "".join(letter if letter.isprintable() else " " for letter in shown)
    return shown.strip()


def coloured(text: str, word: str | None = None) -> str:
    """The text in the colour of a state or severity, where stdout is a terminal and NO_COLOR is not set."""
    colour = _COLOURS.get(word or text.strip())
    if not colour or _width(sys.stdout) is None or os.environ.get("NO_COLOR"):
        return text
    from click import style

    return style(text, fg=colour)


def print_line(text: str = "", *, is_error: bool = False) -> None:
    """Print a line at once; nothing where the process has no such stream. `click.echo` for who does without click."""
    stream = sys.stderr if is_error else sys.stdout
    if stream is not None:
        stream.write(f"{text}\n")
        stream.flush()


def print_json(value: Any) -> None:
    """Print one JSON document, indented, in letters that the stream can hold."""
    import json  # the tables of `ferrule list` need none of it

    is_unicode = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    try:
        text = json.dumps(value, indent=2, ensure_ascii=not is_unicode)
    except RecursionError:
        text = json.dumps(value, ensure_ascii=not is_unicode)  # the encoder in C goes deeper, but does not indent
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    print_line(harmless(text).decode() if is_terminal else text)


def harmless(text: str) -> bytes:
    """Whatever a page or a plugin has put into a string, the terminal is not to obey it; line ends stay."""
    import json

    shown = (letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)
    return "".join(shown).encode()


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, colour: str | None = None) -> None:
    """Print rows under headings. On a terminal cells are wrapped to fit it; elsewhere each row is one line.

    colour: the heading whose cells are states or severities.
    """
    table = [list(headings), *([plain(cell) for cell in row] for row in rows)]
    width = _width(sys.stdout)
    widths = columns.fit(table, width)
    coloured_column = headings.index(colour) if colour in headings else None
    for index, row in enumerate(table):
        if widths is None:
            if index:
                _print_stacked(headings, row, width or 0)
            continue
        for number, cells in enumerate(columns.lines_of(row, widths)):
            if coloured_column is not None and index and not number:
                cells[coloured_column] = coloured(cells[coloured_column])
            print_line((" " * columns.GAP_COLUMNS).join(cells).rstrip())


def _print_stacked(headings: Sequence[str], row: Sequence[str], width: int) -> None:
    for line in columns.stacked(headings, row, width):
        print_line(line)


def print_text(text: object, *, indent: int = 0, hanging: int | None = None, is_error: bool = False) -> None:
    """Print a text as one line, on a terminal as lines that fit it.

    Args:
        indent: columns before the first line.
        hanging: before the others, as many by default.
        is_error: for stderr.
    """
    width = _width(sys.stderr if is_error else sys.stdout)
    shown = plain(text)
    lines = [" " * indent + shown] if width is None else columns.wrap(shown, width, indent, hanging)
    print_line("\n".join(lines), is_error=is_error)


def print_fact(heading: str, text: object, width: int = 13) -> None:
    """Print a heading, in so many columns, and what there is to say of it."""
    print_text(f"{heading:<{width}} {plain(text)}", indent=2, hanging=width + 3)


def print_indented(*texts: str | None) -> None:
    """Print each text that is there on a line of its own, under what it belongs to."""
    for text in filter(None, texts):
        print_text(text, indent=2)


def print_finding(finding: JSONObject, place: str) -> None:
    """Print what is wrong and what to do about it: `severity`, `id`, `message` and `fix` of the finding."""
    head, where = f"  {finding['severity']} {plain(finding['id'])}", plain(place)
    width = _width(sys.stdout)
    is_apart = bool(where) and width is not None and len(head) + len(where) + 2 > width
    told = f": {where}" if where and not is_apart else ""
    print_line(f"  {coloured(finding['severity'])} {plain(finding['id'])}{told}")
    if is_apart:
        print_text(where, indent=4)
    print_text(finding["message"], indent=4)
    if finding.get("fix"):
        print_text(finding["fix"], indent=4)


def note(text: str) -> None:
    """Tell something on stderr that is not the command's answer."""
    print_text(text, is_error=True)


def counted(number: int, noun: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _width(stream: TextIO | None) -> int | None:
    """Columns of the terminal that a stream is, None where it is none."""
    if stream is None or not stream.isatty():
        return None
    import shutil

    return max(_MIN_COLUMNS, shutil.get_terminal_size().columns)


def home_as_tilde(path: str) -> str:
    """`/home/me/.ikigai/tools` -> `~/.ikigai/tools`, for people to read."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if home != "/" and path.startswith(home + "/") else path
