"""Draw the two graphs of docs/explanation/architecture.md from the imports of the source.

Usage: make architecture

A room is an entry of the package `ferrule`, or that package's own file. All imports count: those of types, those inside
of functions, and names of modules that are texts, in files that import by text. An arrow is left out where others lead
the same way, so that the graph can be read.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/explanation/architecture.md"
HOST = ROOT / "host/src/ferrule"
BY_TEXT = ("__import__", "import_module", "attach", "load")
LEFT_OUT = ("templates",)  # whose files belong to packages that are made of them

Graph = dict[str, set[str]]
"""What each node imports."""


def imported_names(file: Path) -> Iterator[str]:
    """The full name of each module, or of each name in a module, that a file imports."""
    nodes = list(ast.walk(ast.parse(file.read_bytes())))
    imports_by_text = any(isinstance(node, ast.Call) and called_name(node) in BY_TEXT for node in nodes)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif (
            imports_by_text and isinstance(node, ast.Constant) and isinstance(node.value, str) and is_module(node.value)
        ):
            yield node.value


def is_module(text: str) -> bool:
    """Whether a text is the full name of a module of the host."""
    path = HOST.parent.joinpath(*text.split("."))
    return text.startswith("ferrule.") and (path.with_suffix(".py").is_file() or (path / "__init__.py").is_file())


def called_name(call: ast.Call) -> str:
    """The last part of the name of what is called; empty where it has none."""
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))


def room_names(host: Path = HOST) -> set[str]:
    """All rooms of the host. `ferrule` is the package's own file, from which a plugin imports."""
    entries = {one.stem for one in host.iterdir() if one.suffix == ".py" or (one / "__init__.py").exists()}
    return entries - {"__init__"} | {"ferrule"}


def read_rooms(host: Path = HOST) -> Graph:
    """Which rooms of the host each of them imports."""
    names = room_names(host)
    rooms: Graph = {name: set() for name in names}
    for file in host.rglob("*.py"):
        first = file.relative_to(host).parts[0].removesuffix(".py")
        importer = "ferrule" if first == "__init__" else first
        for name in imported_names(file):
            package, _, rest = name.partition(".")
            if package == "ferrule":
                imported = rest.partition(".")[0]
                rooms[importer].add(imported if imported in names else "ferrule")
    return {name: found - {name} for name, found in rooms.items()}


def read_distributions(root: Path = ROOT) -> Graph:
    """Which distributions each of them imports, all by their names."""
    folders = [root / "host", *(one.parent for one in root.glob("plugins/*/pyproject.toml"))]
    packages = {next(folder.glob("src/*/__init__.py")).parent: project_name(folder) for folder in folders}
    by_module = {package.name: name for package, name in packages.items()}
    found: Graph = {}
    for package, name in packages.items():
        files = [one for one in package.rglob("*.py") if not set(LEFT_OUT) & set(one.parts)]
        modules = {imported.partition(".")[0] for file in files for imported in imported_names(file)}
        found[name] = {by_module[one] for one in modules if one in by_module} - {name}
    return found


def project_name(folder: Path) -> str:
    """The name of the distribution in a folder."""
    name: str = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["name"]
    return name


def floors(graph: Mapping[str, set[str]]) -> dict[str, int]:
    """The floor of each node: 1 for one that imports no other, else one more than the highest that it imports.

    Raises RecursionError where nodes import each other in a circle.
    """

    def floor(name: str) -> int:
        return found[name] if name in found else found.setdefault(name, 1 + max(map(floor, graph[name]), default=0))

    found: dict[str, int] = {}
    return {name: floor(name) for name in graph}


def without_detours(graph: Mapping[str, set[str]]) -> Graph:
    """The graph without each arrow whose end can be reached by others."""

    def reach(name: str) -> set[str]:
        if name not in reached:
            reached[name] = graph[name].union(*map(reach, graph[name]))
        return reached[name]

    reached: Graph = {}
    return {name: found.difference(*map(reach, found)) for name, found in graph.items()}


def to_mermaid(graph: Mapping[str, set[str]], own: str = "") -> str:
    """The graph from its top floor down. own: what all names begin with, which their short names leave out."""
    at = floors(graph)
    names = sorted(graph, key=lambda name: (-at[name], name))
    arrows = [(name, other) for name in names for other in names if other in without_detours(graph)[name]]
    lines, defined = ["```mermaid", "graph TD"], set[str]()
    for pair in arrows:
        shown = [to_node(one, own, is_new=one not in defined) for one in pair]
        defined.update(pair)
        lines.append(f"    {shown[0]} --> {shown[1]}")
    return "\n".join([*lines, "```"])


def to_node(name: str, own: str, *, is_new: bool) -> str:
    """A node by its short name, where it first comes with the whole one: `ask[ferrule-ask]`."""
    short = name.removeprefix(own)
    return f"{short}[{name}]" if is_new and short != name else short


def draw(page: str) -> str:
    """The page with both graphs as the source has them now."""
    graphs = {
        "The rooms of the host": to_mermaid(read_rooms()),
        "The distributions": to_mermaid(read_distributions(), "ferrule-"),
    }
    for heading, graph in graphs.items():
        before, mark, after = page.partition(f"\n## {heading}\n")
        text, _, rest = after.partition("```mermaid\n")
        page = f"{before}{mark}{text}{graph}{rest.partition('```')[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(draw(PAGE.read_text()))
