"""A launcher that was built with sanitizers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule_testkit.launcher import SANITIZED, SOURCE, STRICT, Linked, load_hook


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with sanitizers, and with every warning an error."""
    hook = load_hook()
    compiler = hook.find_compiler()
    if not compiler:
        pytest.skip("there is no C compiler; scripts/install-system-packages installs one")
    program = tmp_path_factory.mktemp("launcher") / "ferrule-launcher"
    hook.compile_launcher(compiler, SOURCE, program, (*SANITIZED, *STRICT))
    return program


@pytest.fixture
def linked(launcher: Path, tmp_path: Path) -> Iterator[Linked]:
    made = Linked(launcher, tmp_path)
    yield made
    made.close()
