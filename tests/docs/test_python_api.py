"""The reference of the public names is what their docstrings say, and these say what is needed."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from ferrule import errors, http
from ferrule.http import errors as http_errors
from ferrule.plugin.function import decorator
from ferrule_dev import testing

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "python-api.md"
MODULES = ["ferrule", http.__name__, testing.__name__]
INTRODUCTION = """\
# Python API

Every name of `ferrule`, `ferrule.http` and `ferrule_dev.testing`, made from the docstrings. [Public
names](public-names.md) lists the other modules that a distribution may import.
"""
HEADED = re.compile(r"^(Args|Returns|Raises):\n((?: {4}.*(?:\n|$))+)", re.MULTILINE)
ITEM = re.compile(r"^(?=\S)", re.MULTILINE)
HANDLERS = re.compile(r"do_[A-Z]+|log_message|protocol_version|disable_nagle_algorithm")  # of http.server


def public(module: str) -> Iterator[tuple[str, object]]:
    for name in importlib.import_module(module).__all__:
        yield name, decorator.tool if name == "tool" else getattr(importlib.import_module(module), name)


def members(owner: type) -> Iterator[tuple[str, Callable[..., object], bool]]:
    """Name, function, and whether it is a property, of each public method that a class defines."""
    for name, member in vars(owner).items():
        is_property = isinstance(member, property)
        function = member.fget if is_property else getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function) and not HANDLERS.fullmatch(name):
            yield name, function, is_property


def is_documented(value: object) -> bool:
    """Whether a docstring of our own belongs to it; a type, a number or a text has a comment instead."""
    return inspect.isclass(value) or inspect.isfunction(value)


# ---- the page


def annotation(value: object) -> str:
    return (
        value if isinstance(value, str) else getattr(value, "__forward_arg__", None) or inspect.formatannotation(value)
    )


def parameter(one: inspect.Parameter) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    typed = f": {annotation(one.annotation)}" if one.annotation is not one.empty else ""
    default = getattr(one.default, "__name__", repr(one.default))
    return f"{stars}{one.name}{typed}{f' = {default}' if one.default is not one.empty else ''}"


def signature(name: str, function: Callable[..., object]) -> str:
    found = inspect.signature(function)
    given = [one for one in found.parameters.values() if one.name not in ("self", "cls")]
    written = [parameter(one) for one in given]
    first = next((at for at, one in enumerate(given) if one.kind is one.KEYWORD_ONLY), None)
    if first is not None and not any(one.kind is one.VAR_POSITIONAL for one in given):
        written.insert(first, "*")
    returned = f" -> {annotation(found.return_annotation)}" if found.return_annotation is not found.empty else ""
    after = "" if inspect.isclass(function) else returned
    line = f"{name}({', '.join(written)}){after}"
    return line if len(line) <= 100 else "\n".join([f"{name}(", *(f"    {one}," for one in written), f"){after}"])


def definition(module: str, name: str) -> tuple[str, str]:
    """The line that defines a name that has no docstring, and the text below it."""
    loader = importlib.import_module(module).__getattr__
    found = inspect.getclosurevars(loader)
    home = (found.nonlocals.get("modules") or found.globals["_MODULES"])[name]
    tree = ast.parse(inspect.getsource(importlib.import_module(home))).body
    # What type checkers alone read stands below `if TYPE_CHECKING`.
    body = [line for part in tree for line in (part.body if isinstance(part, ast.If) else [part])]
    for line, below in pairwise(body):
        targets = line.targets if isinstance(line, ast.Assign) else []
        if name in [one.id for one in targets if isinstance(one, ast.Name)]:
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
            return ast.unparse(line), inspect.cleandoc(str(text))
    raise LookupError(f"{home} does not define {name}")


def rendered(docstring: str) -> str:
    """The docstring with its headed parts as lists: an item for each argument, and for what is returned or raised."""
    return HEADED.sub(lambda part: f"{part[1]}:\n\n{ITEM.sub('- ', textwrap.dedent(part[2]))}", docstring)


def entry(module: str, name: str, value: object) -> Iterator[str]:
    yield f"### `{name}`"
    if not is_documented(value):
        line, text = definition(module, name)
        yield f"```text\n{line}\n```"
        yield text
        return
    assert callable(value)
    yield f"```text\n{signature(name, value)}\n```"
    yield rendered(inspect.getdoc(value) or "")
    for base in value.__bases__ if inspect.isclass(value) else ():
        if base.__module__.startswith("ferrule.") and not base.__name__.startswith("_"):
            yield f"It is a `{base.__name__}`. " + rendered(inspect.getdoc(base) or "")
    for member, function, is_property in members(value) if inspect.isclass(value) else ():
        shown = f"{member}: {annotation(inspect.signature(function).return_annotation)}"
        yield f"**`{name}.{member}`**"
        yield f"```text\n{shown if is_property else signature(member, function)}\n```"
        yield rendered(inspect.getdoc(function) or "")


def written() -> str:
    """The page as it has to be."""
    parts = [INTRODUCTION.rstrip()]
    for module in MODULES:
        parts.append(f"## `{module}`")
        for name, value in public(module):
            parts += entry(module, name, value)
    return "\n\n".join(parts) + "\n"


def test_the_page_is_what_the_docstrings_say() -> None:
    expected = written()
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(expected)
    assert PAGE.read_text() == expected, "run: UPDATE_DOCS=1 pytest tests/docs/test_python_api.py"


# ---- what the docstrings have


def callables() -> list[object]:
    return list(documented())


def documented() -> Iterator[object]:
    for module in MODULES:
        for name, value in public(module):
            if not is_documented(value):
                continue
            yield pytest.param(value, value, id=f"{module}.{name}")
            for member, function, _ in members(value) if inspect.isclass(value) else ():
                yield pytest.param(function, value, id=f"{module}.{name}.{member}")


def raised_by(function: Callable[..., object]) -> Iterator[set[str]]:
    """The names of each exception that a function raises itself, and of the kinds that it is of."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    names = [one.func if isinstance(one, ast.Call) else one for one in raised]
    for one in names:
        if isinstance(one, ast.Name) and one.id[0].isupper():
            known = vars(builtins) | vars(errors) | vars(http_errors) | function.__globals__
            yield {kind.__name__ for kind in known[one.id].__mro__} - {"Exception", "BaseException", "object"}


@pytest.mark.parametrize(("value", "owner"), callables())
def test_a_public_name_says_what_it_is_and_what_it_raises(value: Callable[..., object], owner: type) -> None:
    text = inspect.getdoc(value) or ""
    assert text, "it has no docstring"
    function = vars(value).get("__init__") if inspect.isclass(value) else value
    said = set(re.findall(r"\w+", text + (owner.__doc__ or "")))
    for kinds in raised_by(function) if inspect.isfunction(function) else ():
        assert kinds & said, f"its docstring does not say that it raises one of {kinds}"


@pytest.mark.parametrize("module", MODULES)
def test_a_public_name_without_a_docstring_has_a_text_below_it(module: str) -> None:
    assert [
        name for name, value in public(module) if not is_documented(value) and not definition(module, name)[1]
    ] == []


UNITS = {
    "seconds": "second|until its deadline",
    "deadline": "instant",
    "max_bytes": "bytes|size",
    "retry_after": "second",
}


@pytest.mark.parametrize(("value", "owner"), callables())
def test_a_number_of_a_public_name_has_a_unit(value: Callable[..., object], owner: type) -> None:
    text = f"{inspect.getdoc(value)} {inspect.getdoc(owner)}"
    for name in inspect.signature(value).parameters:
        if name in UNITS:
            assert re.search(UNITS[name], text), f"its docstring does not say what {name} counts"
