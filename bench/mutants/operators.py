"""The small changes of Python source that tests should notice, each at a node of the syntax tree."""

from __future__ import annotations

import ast
import bisect
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: (r"<", "<="),
    ast.LtE: (r"<=", "<"),
    ast.Gt: (r">", ">="),
    ast.GtE: (r">=", ">"),
    ast.Eq: (r"==", "!="),
    ast.NotEq: (r"!=", "=="),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: (r"\+", "-"),
    ast.Sub: (r"-", "+"),
    ast.Mult: (r"\*", "//"),
    ast.Div: (r"/", "*"),
    ast.FloorDiv: (r"//", "*"),
    ast.Mod: (r"%", "*"),
    ast.Pow: (r"\*\*", "*"),
    ast.LShift: (r"<<", ">>"),
    ast.RShift: (r">>", "<<"),
    ast.BitAnd: (r"&", "|"),
    ast.BitOr: (r"\|", "&"),
    ast.BitXor: (r"\^", "&"),
}
_CALLED = (ast.Call, ast.Await)
_SWAPPED = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)  # whose swap is the negation


class Span(NamedTuple):
    """Bytes of a file, from start to before end."""

    start: int
    end: int


class Change(NamedTuple):
    """An operator by its name, the bytes that it replaces and what stands there then."""

    operator: str
    span: Span
    text: str


class Source:
    """The bytes of a module, with places of the syntax tree found in them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts = [0]
        for line in data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Where a node begins."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Where a node has ended."""
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """All of a node."""
        return Span(self.start(node), self.end(node))

    def place(self, offset: int) -> tuple[int, int]:
        """The line, from 1, and the column, from 0 in bytes, of an offset."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def between(self, left: ast.expr, right: ast.expr, pattern: str) -> Span | None:
        """The first match between two nodes; None if there is none outside of comments."""
        gap = self.data[self.end(left) : self.start(right)].decode()
        code = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0].encode()), gap)
        found = re.search(pattern, code)
        return None if found is None else Span(self.end(left) + found.start(), self.end(left) + found.end())


def changes(source: Source, node: ast.AST) -> Iterator[Change]:
    """What may be changed at a node itself; its children have changes of their own."""
    match node:
        case ast.Compare():
            yield from _comparisons(source, node)
        case ast.BoolOp():
            yield from _connectives(source, node)
        case ast.UnaryOp(op=ast.Not()):
            rest = source.data[source.start(node) + 3 : source.end(node)].decode().lstrip()
            yield Change("not", source.span(node), rest)
        case ast.BinOp():
            yield from _arithmetic(source, node.left, node.op, node.right)
        case ast.AugAssign():
            yield from _arithmetic(source, node.target, node.op, node.value)
        case ast.Constant():
            yield from _constants(source, node)
        case ast.If() | ast.IfExp():
            yield from _condition(source, node.test)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _defaults(source, node.args)
        case _:
            yield from _statements(source, node)


def _comparisons(source: Source, node: ast.Compare) -> Iterator[Change]:
    for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
        pattern, new = _COMPARISONS[type(operator)]
        span = source.between(left, right, pattern)
        if span:
            yield Change("comparison", span, new)


def _connectives(source: Source, node: ast.BoolOp) -> Iterator[Change]:
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in zip(node.values, node.values[1:], strict=False):
        span = source.between(left, right, rf"\b{old}\b")
        if span:
            yield Change("connective", span, new)


def _arithmetic(source: Source, left: ast.expr, operator: ast.operator, right: ast.expr) -> Iterator[Change]:
    if type(operator) not in _ARITHMETIC or _is_text(left) or _is_text(right):
        return
    pattern, new = _ARITHMETIC[type(operator)]
    span = source.between(left, right, pattern)
    if span:
        yield Change("arithmetic", span, new)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _constants(source: Source, node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield Change("truth", source.span(node), str(not node.value))
    elif isinstance(node.value, int):
        yield Change("integer", source.span(node), str(node.value + 1))


def _condition(source: Source, test: ast.expr) -> Iterator[Change]:
    is_other_operators = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    if isinstance(test, ast.Compare):
        is_other_operators = len(test.ops) == 1 and isinstance(test.ops[0], _SWAPPED)
    if not is_other_operators:
        span = source.span(test)
        yield Change("condition", span, f"(not ({source.data[span.start : span.end].decode()}))")


def _defaults(source: Source, arguments: ast.arguments) -> Iterator[Change]:
    for default in filter(None, (*arguments.defaults, *arguments.kw_defaults)):
        match default:
            case ast.Constant(value=bool() | int()):
                continue  # changed as any constant is
            case ast.Constant(value=None):
                new = "0"
            case ast.Constant(value=str() as text):
                new = '""' if text else '"x"'
            case _:
                new = "None"
        yield Change("default", source.span(default), new)


def _statements(source: Source, node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Return(value=ast.Constant(value=None | False)):
            return  # nothing changes, or what the operator "truth" does better
        case ast.Return(value=ast.expr() as value):
            yield Change("return", source.span(value), "None")
        case ast.Expr(value=value) if isinstance(value, _CALLED):
            yield Change("call", source.span(node), "pass")
        case ast.Raise():
            yield Change("raise", source.span(node), "pass")
        case ast.Break():
            yield Change("loop", source.span(node), "continue")
        case ast.Continue():
            yield Change("loop", source.span(node), "break")
