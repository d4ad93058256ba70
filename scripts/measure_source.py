"""Measure the source: lines of code of each distribution, turns that are to go, and functions without a verb.

Usage: python scripts/measure_source.py [--write]

--write: keep the numbers in tests/source_measures.json, to which a test holds the source.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "tests" / "source_measures.json"
_FEW_ARGUMENTS = 3  # from which on a docstring has headed parts
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_TURNS = ("told", "beside", "where there is", "so many", "in the place of", "whoever", "as of", "mend")
_PARTICIPLES = {"bound", "found", "given", "held", "hidden", "kept", "known", "left", "made", "said", "taken", "told"}
_PREPOSITIONS = {
    "after",
    "at",
    "before",
    "behind",
    "below",
    "beside",
    "by",
    "for",
    "in",
    "inside",
    "of",
    "on",
    "without",
}
_NO_PARTICIPLES = {"embed", "feed", "need", "seed", "speed", "shed", "red", "exceed", "proceed", "succeed"}


class Measures(TypedDict):
    """code_lines: by the folder of a distribution. turns: how often each stands in the source. verbless: functions.

    unheaded: docstrings that say in running text what several arguments are.
    """

    code_lines: dict[str, int]
    turns: dict[str, int]
    verbless: int
    unheaded: int


def main() -> None:
    """Print the numbers, or keep them."""
    text = json.dumps(measure(), indent=2) + "\n"
    if sys.argv[1:] == ["--write"]:
        KEPT.write_text(text)
    else:
        sys.stdout.write(text)


def measure() -> Measures:
    """The numbers of the source as it is."""
    folders = [ROOT / "host", *sorted((ROOT / "plugins").iterdir())]
    sources = {
        str(folder.relative_to(ROOT)): [path.read_text() for path in (folder / "src").rglob("*.py")]
        for folder in folders
        if (folder / "src").is_dir()
    }
    texts = [text for listed in sources.values() for text in listed]
    return {
        "code_lines": {name: sum(map(count_code_lines, listed)) for name, listed in sources.items()},
        "turns": {turn: sum(len(re.findall(rf"\b{turn}\b", text)) for text in texts) for turn in _TURNS},
        "verbless": sum(1 for text in texts for _ in find_verbless(text)),
        "unheaded": sum(1 for text in texts for _ in find_unheaded(text)),
    }


def count_code_lines(source: str) -> int:
    """Lines of a module without blank lines, comments and docstrings.

    >>> count_code_lines('"A docstring."\\n\\nx = 1  # a comment\\n# another one\\ny = (\\n    2\\n)\\n')
    4
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - _docstring_lines(source))


def find_verbless(source: str) -> Iterator[str]:
    """The functions of a module, no properties, whose names begin with a participle or a preposition.

    >>> list(find_verbless('def _kept(): ...\\ndef read(): ...\\ndef of_host(): ...\\ndef feed(): ...\\n'))
    ['_kept', 'of_host']
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.decorator_list:
            first = node.name.strip("_").partition("_")[0]
            is_participle = first.endswith("ed") and first not in _NO_PARTICIPLES
            if is_participle or first in _PARTICIPLES or first in _PREPOSITIONS:
                yield node.name


def find_unheaded(source: str) -> Iterator[str]:
    """The functions of more than three arguments whose docstring says in running text what one of them is.

    >>> body = "    'Do it. a: of the first. b: of the second.'"
    >>> list(find_unheaded(f'def do(a, b, c, d):\\n{body}\\ndef go(a, b):\\n{body}\\n'))
    ['do']
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
            documented: list[tuple[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, ast.arguments]]
            documented = [(node, one.args) for one in made]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = [(node, node.args)]
        else:
            continue
        for owner, arguments in documented:
            listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            names = [one.arg for one in listed if one.arg not in ("self", "cls")]
            running = re.compile(rf"(?:^|\. )(?:{'|'.join(names)})(?:, [a-z_]+)*: ", re.MULTILINE)
            if len(names) > _FEW_ARGUMENTS and running.search(ast.get_docstring(owner) or ""):
                yield owner.name


def _docstring_lines(source: str) -> set[int]:
    bodies = [body for node in ast.walk(ast.parse(source)) if isinstance(body := getattr(node, "body", None), list)]
    texts = [
        line
        for body in bodies
        for line in body
        if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)
    ]
    return {number for text in texts for number in range(text.lineno, (text.end_lineno or text.lineno) + 1)}


if __name__ == "__main__":
    main()
