"""Every place of a source where a mutation may stand, and the seeded choice among them."""

from __future__ import annotations

import ast
import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mutants.operators import Change, Source, changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

MOST_PER_FUNCTION = 2
# Mutants of these would kill processes that have nothing to do with the tests.
LEFT_ALONE = {("host/src/ferrule/supervision/processes.py", name) for name in ("_found_children", "_kill", "_try")}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """A change at a place of a source. file: from the root. line: from 1. column: from 0, in bytes.

    function: its qualified name, or the class or "<module>" the place is in. start, end: the bytes replaced by `text`.
    old, new: the lines before and after. lines: which of the source a test executes that may notice.
    """

    file: str
    line: int
    column: int
    operator: str
    function: str
    start: int
    end: int
    text: str
    old: str
    new: str
    lines: tuple[int, ...]

    @property
    def id(self) -> str:
        """What it is called: the same for the same source."""
        return f"{self.file}:{self.line}:{self.column}:{self.operator}"

    @property
    def likeness(self) -> tuple[str, ...]:
        """What stays of it while other lines of the file come and go."""
        return self.file, self.function, self.operator, self.old, self.new

    def applied(self, data: bytes) -> bytes:
        """The source with the change."""
        return data[: self.start] + self.text.encode() + data[self.end :]


def mutants(root: Path, folder: str) -> list[Mutant]:
    """All of the sources in a folder, by file, line, column and operator."""
    found: list[Mutant] = []
    for path in sorted((root / folder).rglob("*.py")):
        found += _of_module(path.relative_to(root).as_posix(), path.read_bytes())
    return sorted(found, key=lambda mutant: (mutant.file, mutant.line, mutant.column, mutant.operator))


def chosen(root: Path, all_mutants: Iterable[Mutant], seed: int, count: int) -> list[Mutant]:
    """So many, shuffled by the seed, no function with more than two; each compiles and is another program."""
    shuffled = list(all_mutants)
    random.Random(seed).shuffle(shuffled)
    taken: Counter[tuple[str, str]] = Counter()
    kept: list[Mutant] = []
    for mutant in shuffled:
        place = (mutant.file, mutant.function)
        if len(kept) < count and taken[place] < MOST_PER_FUNCTION and _is_other_program(root, mutant):
            taken[place] += 1
            kept.append(mutant)
    return kept


def _is_other_program(root: Path, mutant: Mutant) -> bool:
    data = (root / mutant.file).read_bytes()
    changed = mutant.applied(data)
    try:
        compile(changed, mutant.file, "exec")
    except SyntaxError:
        return False
    return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(data))


def _of_module(file: str, data: bytes) -> Iterator[Mutant]:
    source = Source(data)
    for place in _Walk(ast.parse(data)).places():
        is_left_alone = (file, place.function) in LEFT_ALONE
        for change in () if is_left_alone else changes(source, place.node):
            yield _mutant(file, source, change, place)


def _mutant(file: str, source: Source, change: Change, place: _Place) -> Mutant:
    start, end = change.span
    line, column = source.place(start)
    first = start - column
    newline = source.data.find(b"\n", end)
    last = len(source.data) if newline < 0 else newline
    old = source.data[first:last].decode()
    new = (source.data[first:start] + change.text.encode() + source.data[end:last]).decode()
    return Mutant(
        file, line, column, change.operator, place.function, start, end, change.text, old, new, tuple(place.lines)
    )


class _Place(NamedTuple):
    """A node, the function or class that it is in, and the lines that a test executes that may see its change."""

    node: ast.AST
    function: str
    lines: Sequence[int]


class _Walk:
    """The nodes of a module that may be changed."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
        # What is executed at the import may be seen by any test that executes a function of the module.
        self._all = sorted({line for function in functions for line in _body_lines(function)})

    def places(self) -> Iterator[_Place]:
        """In the order of the source."""
        for statement in self._tree.body:
            yield from self._visit(statement, "", self._all)

    def _visit(self, node: ast.AST, name: str, lines: Sequence[int]) -> Iterator[_Place]:
        if _is_left_alone(node):
            return
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            name = f"{name}.{node.name}".lstrip(".")
            lines = self._all if isinstance(node, ast.ClassDef) else _body_lines(node)
        yield _Place(node, name or "<module>", lines)
        for part, child in _children(node):
            is_executed_in_call = part == "body" and isinstance(node, _FUNCTIONS)
            own = isinstance(child, ast.stmt | ast.match_case) and (is_executed_in_call or lines is not self._all)
            yield from self._visit(child, name, _head_lines(child) if own else lines)


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The nodes below, with the names of their fields; not the annotations."""
    for part, value in ast.iter_fields(node):
        if part in {"annotation", "returns"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield part, child


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[int]:
    return [statement.lineno for statement in function.body]


def _head_lines(node: ast.AST) -> range:
    """The lines of a statement without the statements in it."""
    first = node.pattern.lineno if isinstance(node, ast.match_case) else getattr(node, "lineno", 0)
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return range(first, (getattr(node, "end_lineno", None) or first) + 1)
    below = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    return range(first, max(first + 1, below.lineno))


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return True
        case ast.If(test=ast.Compare(left=ast.Name("__name__"))):
            return True
        case ast.Assign(targets=[ast.Name("__all__")]):
            return True
        case ast.AnnAssign(target=ast.Name("__all__")) | ast.AnnAssign(annotation=ast.Name("TypeAlias")):
            return True
    return isinstance(node, ast.JoinedStr)
