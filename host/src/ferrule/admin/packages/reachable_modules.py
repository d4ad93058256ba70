"""The modules of a package that one of them imports, now or later, found in their source: nothing is imported for it.

Later is what stands inside of functions, and what a text names: `ferrule.lazy` and processes of their own are given
modules as texts. What stands below `if TYPE_CHECKING` is imported by no one.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ferrule.schema.schema_file import find_module_file

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_UNREADABLE = (OSError, SyntaxError, ValueError, MemoryError, RecursionError)


def reachable_modules(*modules: str) -> list[str]:
    """Those modules and all of the same packages that they reach, the nearest first. A file of C is a module, too."""
    found = dict.fromkeys(modules)
    waiting = list(modules)
    while waiting:
        module = waiting.pop(0)
        package = module.partition(".")[0]
        for name in _imports(module):
            if name.partition(".")[0] == package and name not in found and find_module_file(name):
                found[name] = None
                waiting.append(name)
    return list(found)


def _imports(module: str) -> list[str]:
    """The names that its source imports, among others that are no module."""
    file = find_module_file(module)
    if file is None:
        return []
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except _UNREADABLE:
        return []  # importing it says so
    package = module if file.endswith("__init__.py") else module.rpartition(".")[0]
    return [name for node in _run_nodes(tree) for name in _names(node, package)]


def _run_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those below `if TYPE_CHECKING`."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and _is_for_types(node.test):
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def _is_for_types(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def _names(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom):
        around = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*around, *([node.module] if node.module else [])])
        yield base
        yield from (f"{base}.{one.name}" for one in node.names)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value.partition(":")[0]
        if _NAME.fullmatch(name):
            yield name
