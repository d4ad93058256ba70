"""Which function of Python's was refused, by the place in the source from which it was called.

Some of these functions raise an error that says neither what they were to do nor with what.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator
    from types import CodeType, FrameType, TracebackType

_MAX_LINES = 20  # of one call
_MAX_SOURCE_BYTES = 4 << 20
_MAX_DEPTH = 20
_FROZEN = "<frozen "
_JOINING = frozenset(("join", "Path", "PurePath", "PosixPath", "fspath", "fsdecode", "fsencode", "str"))


class RefusedCall:
    """A call as it stands in the source. name: the last name of the function, such as `mkfifo`.

    Where the source does not tell, there is no name and there are no arguments.
    """

    __slots__ = ("_call", "_frame", "name")

    def __init__(self, call: ast.Call | None, frame: FrameType | None) -> None:
        self._call, self._frame = call, frame
        named = None if call is None else call.func
        self.name: str = getattr(named, "attr", "") or getattr(named, "id", "")

    def argument(self, place: int, name: str = "") -> object:
        """What an argument was, by its place or its name; None where that cannot be said without running anything."""
        call, frame = self._call, self._frame
        if call is None or frame is None:
            return None
        node = next((one.value for one in call.keywords if one.arg == name), None)
        if node is None and place < len(call.args):
            node = call.args[place]
        return None if node is None else _value(node, frame, _MAX_DEPTH)

    def has(self, name: str) -> bool:
        """Whether an argument of this name was given."""
        return self._call is not None and any(one.arg == name for one in self._call.keywords)

    def texts(self) -> list[str]:
        """The arguments that are a text or a path, in their order."""
        if self._call is None or self._frame is None:
            return []
        nodes = [*self._call.args, *(one.value for one in self._call.keywords)]
        return list(filter(None, (as_text(_value(node, self._frame, _MAX_DEPTH)) for node in nodes)))


def refused_call(place: TracebackType | None) -> RefusedCall:
    """The call that was made there."""
    text = "" if place is None else _source_of(place)
    if place is None or not text:
        return RefusedCall(None, None)
    import ast

    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return RefusedCall(None, None)
    return RefusedCall(call, place.tb_frame) if isinstance(call, ast.Call) else RefusedCall(None, None)


def is_raised(place: TracebackType | None) -> bool:
    """Whether a statement of Python has raised the error there, and no function of the interpreter or of a library."""
    if place is None:
        return False
    from opcode import opmap

    code = place.tb_frame.f_code.co_code
    return 0 <= place.tb_lasti < len(code) and code[place.tb_lasti] == opmap["RAISE_VARARGS"]


def as_text(value: object) -> str:
    """A text, bytes or a path as a text; empty for anything else."""
    if type(value) is bytes:
        return os.fsdecode(value)
    paths = sys.modules.get("pathlib")
    if paths is not None and type(value) in (paths.PosixPath, paths.PurePosixPath):
        return str(value)
    return value if type(value) is str else ""


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
        with open(_file_of(code), "rb") as file:
            lines = file.read(_MAX_SOURCE_BYTES).split(b"\n")[line - 1 : last]
    except OSError:
        return ""
    if len(lines) != last - line + 1:
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][column:]
    return b" ".join(lines).decode(errors="replace")


def _file_of(code: CodeType) -> str:
    """The file of a function's source, also where the interpreter has the module built in, as it has `os`."""
    name = code.co_filename
    if not name.startswith(_FROZEN):
        return name
    module = sys.modules.get(name[len(_FROZEN) : -1])
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else name


def _value(node: ast.AST, frame: FrameType, depth: int) -> object:
    """What an expression was, of those that run no code of the tool's: names, constants, and paths put together."""
    import ast

    if depth <= 0:
        return None
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, frame, depth - 1)
        return vars(owner).get(node.attr) if type(owner) is type(sys) else None
    if isinstance(node, ast.Tuple):
        return tuple(_value(one, frame, depth - 1) for one in node.elts)
    return _combined(node, frame, depth - 1)


def _combined(node: ast.AST, frame: FrameType, depth: int) -> object:
    import ast

    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, frame, depth), _value(node.right, frame, depth)
        if type(left) is int and type(right) is int and isinstance(node.op, ast.BitOr):
            return left | right
        parts = as_text(left), as_text(right)
        if not all(parts) or not isinstance(node.op, ast.Add | ast.Div):
            return None
        return "".join(parts) if isinstance(node.op, ast.Add) else os.path.join(*parts)
    if isinstance(node, ast.JoinedStr):
        texts = [as_text(_value(part, frame, depth)) for part in _parts(node)]
        return "".join(texts) if all(texts) else None
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _JOINING:
        texts = [as_text(_value(one, frame, depth)) for one in node.args]
        return os.path.join(*texts) if texts and all(texts) else None
    return None


def _parts(node: ast.JoinedStr) -> Iterator[ast.AST]:
    """Those of a text with values in it; what is formatted in a way of its own has none."""
    import ast

    for part in node.values:
        is_plain = isinstance(part, ast.FormattedValue) and part.conversion == -1 and part.format_spec is None
        yield part.value if is_plain and isinstance(part, ast.FormattedValue) else part
