"""Which function of Python's was refused, by the place in the source from which it was called.

Some of these functions raise an error that says neither what they were to do nor with what.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from types import FrameType, TracebackType

_MAX_LINES = 20  # of one call
_MAX_SOURCE_BYTES = 4 << 20


def refused_call(place: TracebackType | None) -> tuple[str, str]:
    """The last name of the function that was called there, such as `mkfifo`, and its first argument where it is a text.

    Each is empty where the source does not tell.
    """
    text = "" if place is None else _source_of(place)
    if place is None or not text:
        return "", ""
    import ast

    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", ""
    if not isinstance(call, ast.Call):
        return "", ""
    named = call.func
    name = named.attr if isinstance(named, ast.Attribute) else named.id if isinstance(named, ast.Name) else ""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Constant):
        return name, _text(first.value)
    return name, _text(_value_of(first.id, place.tb_frame)) if isinstance(first, ast.Name) else ""


def _source_of(place: TracebackType) -> str:
    """The text of the call, as the compiler has noted where it stands."""
    code, step = place.tb_frame.f_code, place.tb_lasti // 2
    try:
        line, last, column, end = next(position for index, position in enumerate(code.co_positions()) if index == step)
    except StopIteration:
        return ""
    if line is None or last is None or column is None or end is None or last - line >= _MAX_LINES:
        return ""
    try:
        with open(code.co_filename, "rb") as file:
            lines = file.read(_MAX_SOURCE_BYTES).split(b"\n")[line - 1 : last]
    except OSError:
        return ""
    if len(lines) != last - line + 1:
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][column:]
    return b" ".join(lines).decode(errors="replace")


def _value_of(name: str, frame: FrameType) -> object:
    return frame.f_locals.get(name, frame.f_globals.get(name))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
