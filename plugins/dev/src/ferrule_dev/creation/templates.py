"""The templates of `ferrule new`: packages that work as they are, and copies of them under another name.

A template is a folder in `ferrule_dev/templates`, such as `hooks`. Its package is called `new_hooks` wherever a name
stands, which a copy replaces. `template.toml` says what the template is for; the folder `common` holds the files that
every copy has.
"""

from __future__ import annotations

import ast
import os
import shutil
import tomllib
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError
from ferrule_dev.creation.template_texts import Texts

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT = "function"
_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "templates")
_COMMON = "common"
_FACTS = "template.toml"
_LEFT_OUT = ("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache")


class Template(NamedTuple):
    """What can be made.

    kind: its folder, and its option. purpose: one line for people. sentence: the description of what it makes, which
    another description replaces. steps: commands to try it with; in them, `{tool}`, `{name}` and `{executable}` stand
    for the new ones. tool: what its tool is called, with `{}` for the new name; empty where it makes no tool.
    group: of the entry point that has the new name, where that is not the tool's.
    """

    kind: str
    purpose: str
    sentence: str
    steps: tuple[str, ...] = ()
    tool: str = "{}"
    group: str = ""

    @property
    def name(self) -> str:
        """What stands for the new name in its files."""
        return f"new_{self.kind}"


def templates() -> dict[str, Template]:
    """All templates by kind, the default first.

    Raises FerruleError where they are missing from this installation.
    """
    try:
        kinds = [kind for kind in os.listdir(_FOLDER) if os.path.exists(os.path.join(_FOLDER, kind, _FACTS))]
    except OSError:
        hint = "Install ferrule-dev anew."
        raise FerruleError("The templates are missing from this installation.", hint=hint) from None
    return {kind: _read(kind) for kind in sorted(kinds, key=lambda kind: (kind != DEFAULT, kind))}


def names_in_use(template: Template) -> frozenset[str]:
    """What the code of a template calls by a plain name, where a function is named like the tool.

    A tool of such a name would hide it: `tool` itself, or `any`.
    """
    source = os.path.join(_FOLDER, template.kind, "src", f"ferrule_{template.name}", "__init__.py")
    if not os.path.exists(source):
        return frozenset()
    with open(source, encoding="utf-8") as file:
        nodes = list(ast.walk(ast.parse(file.read())))
    if not any(isinstance(node, ast.FunctionDef) and node.name == template.name for node in nodes):
        return frozenset()
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return frozenset(node.id for node in names) - own


def create(template: Template, name: str, parent: str, *, description: str = "", author: str = "") -> str:
    """Copy a template into `PARENT/ferrule-NAME`, with the new name in files and in their names; the folder's path.

    Args:
        name: in snake_case, without faults.
        description: what it does, as one sentence; that of the template if empty.
        author: `NAME` or `NAME <ADDRESS>`.

    Raises:
        FerruleError where the folder is there already. A folder that could not be filled is taken away again.
    """
    target = os.path.join(parent, f"ferrule-{name.replace('_', '-')}")
    if os.path.lexists(target):
        raise FerruleError(f"{target} is there already; it was left as it is.")
    texts = Texts(template.name, name, template.sentence, description, author)
    os.makedirs(target)
    try:
        for folder in (_COMMON, template.kind):
            for path in _files(os.path.join(_FOLDER, folder)):
                _copy(os.path.join(_FOLDER, folder, path), os.path.join(target, texts.renamed(path)), texts)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target


def _read(kind: str) -> Template:
    with open(os.path.join(_FOLDER, kind, _FACTS), "rb") as file:
        facts = tomllib.load(file)
    return Template(kind, **{**facts, "steps": tuple(facts["steps"])})


def _files(source: str) -> Iterator[str]:
    for place, folders, files in os.walk(source):
        folders[:] = sorted(one for one in folders if one not in _LEFT_OUT)
        for file in sorted(files):
            if file != _FACTS and not file.endswith(".pyc"):
                yield os.path.relpath(os.path.join(place, file), source)


def _copy(source: str, target: str, texts: Texts) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(source, encoding="utf-8") as file:
        text = file.read()
    with open(target, "x", encoding="utf-8") as file:
        file.write(texts.written(text, target))
    if text.startswith("#!"):  # whatever has become of its mode on the way from the repository
        mode = os.stat(target).st_mode
        os.chmod(target, mode | (mode & 0o444) >> 2)  # executable for whoever may read it
