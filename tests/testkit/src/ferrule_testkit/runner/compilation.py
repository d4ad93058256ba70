"""Plugin of pytest: what several workers import is compiled once, before they start.

In a new checkout nothing is compiled. All workers begin at once, with the same files in the same order, so each of them
would compile everything, which takes twice as long as what they do with it.
"""

from __future__ import annotations

import compileall
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.assertion.rewrite import PYC_TAIL, _read_pyc, _rewrite_test, _write_pyc, assertstate_key, get_cache_dir

from ferrule.admin.packages.bytecode import find_uncompiled
from ferrule_testkit import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SOURCES = ("host/src", "plugins/*/src", "tests/testkit/src")
_OF_TESTS = ("test_*.py", "conftest.py")
_NOT_TESTS = frozenset({"dists", "templates", "node_modules"})


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Compile the tests that were asked for, and what they test, on all processors."""
    if sys.dont_write_bytecode:
        return
    modules = sorted(path for pattern in _SOURCES for path in PROJECT.glob(f"{pattern}/**/*.py"))
    # What `ferrule link` would compile, and tell of, in whichever test is the first.
    modules += [Path(file) for files in find_uncompiled(()).values() for file in files]
    tests = sorted({path for argument in config.args for path in _find_tests(Path(argument.partition("::")[0]))})
    number = os.cpu_count() or 1
    children = []
    for turn in range(number):
        if (child := os.fork()) == 0:
            _compile(config, modules[turn::number], tests[turn::number])
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def _find_tests(asked: Path) -> Iterator[Path]:
    if asked.is_file():
        yield asked.resolve()
    for folder, folders, _ in os.walk(asked):
        folders[:] = [name for name in folders if name not in _NOT_TESTS and not name.startswith(".")]
        for pattern in _OF_TESTS:
            yield from Path(folder).resolve().glob(pattern)


def _compile(config: pytest.Config, modules: Iterable[Path], tests: Iterable[Path]) -> None:
    """Be a child that compiles what is not compiled yet; what cannot be compiled is told where it is imported."""
    try:
        for path in modules:
            compileall.compile_file(path, quiet=2)
        for path in tests:
            _rewrite(config, path)
    finally:
        os._exit(0)


def _rewrite(config: pytest.Config, path: Path) -> None:
    """Compile a module as pytest does, with assertions that show what was compared."""
    pyc = get_cache_dir(path) / f"{path.stem}{PYC_TAIL}"
    if _read_pyc(path, pyc) is None:
        pyc.parent.mkdir(exist_ok=True)
        try:
            source, code = _rewrite_test(path, config)
        except (OSError, SyntaxError, ValueError):
            return
        _write_pyc(config.stash[assertstate_key], code, source, pyc)
