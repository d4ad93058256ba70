"""Installations for the tests of this folder, which all workers of pytest share, and users of these with a new home."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ferrule_testkit.installation.environment import INSTALLERS, PIP, PIPX, UV, Installation, Recipe, installed
from ferrule_testkit.installation.offer import VERSIONS, Offer, find_python, projects

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
PLUGINS = tuple(name for name in projects() if name != "ferrule")
ALONE = [Recipe(PIPX, OWN, ()), *(Recipe(UV, OWN, (name,)) for name in PLUGINS)]
TOGETHER = [Recipe(installer, version, PLUGINS) for version in VERSIONS for installer in INSTALLERS]
USUAL = {*((UV, version) for version in VERSIONS), (PIP, VERSIONS[-1]), (PIPX, VERSIONS[0])}
"""Each Python by the installer that takes seconds, and each of the others, which take a minute, once."""
ONCE = {(UV, VERSIONS[1]), (PIP, VERSIONS[-1]), (PIPX, VERSIONS[0])}
"""Of those, each Python and each installer once."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `alone` gets the host, and the host with each plugin; the others get all that there is."""
    for name, recipes, usual in (("alone", ALONE, None), ("together", TOGETHER, USUAL), ("once", TOGETHER, ONCE)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, [_case(one, usual) for one in recipes], indirect=True)


def _case(recipe: Recipe, usual: set[tuple[str, str]] | None) -> ParameterSet:
    is_usual = usual is None or (recipe.installer, recipe.python) in usual
    return pytest.param(recipe, id=recipe.name, marks=[] if is_usual else [pytest.mark.full])


@pytest.fixture(scope="session")
def offer(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Offer:
    """The folder that stands for the package index."""
    assert pytestconfig.cache is not None
    return Offer(_shared(tmp_path_factory), Path(pytestconfig.cache.mkdir("installation")))


@pytest.fixture
def make_user(
    offer: Offer, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> Callable[[Recipe], Installation]:
    """Make a user of an installation, which is made where it is not there yet."""

    def make(recipe: Recipe) -> Installation:
        if find_python(recipe.python) is None:
            pytest.skip(f"elsewhere there is Python {recipe.python}")
        return installed(recipe, _shared(tmp_path_factory), offer).of_another_user(tmp_path)

    return make


@pytest.fixture
def own_python() -> str:
    """The version of the running interpreter."""
    return OWN


@pytest.fixture
def alone(request: pytest.FixtureRequest, make_user: Callable[[Recipe], Installation]) -> Installation:
    """A user of the host, or of the host with one plugin."""
    return make_user(request.param)


@pytest.fixture
def together(request: pytest.FixtureRequest, make_user: Callable[[Recipe], Installation]) -> Installation:
    """A user of all distributions."""
    return make_user(request.param)


@pytest.fixture
def once(request: pytest.FixtureRequest, make_user: Callable[[Recipe], Installation]) -> Installation:
    """A user of all distributions, as `together`, where each Python and each installer is of use once."""
    return make_user(request.param)


def _shared(factory: pytest.TempPathFactory) -> Path:
    """A folder of the run, outside of the repository."""
    folder = factory.getbasetemp().parent if os.environ.get("PYTEST_XDIST_WORKER") else factory.getbasetemp()
    return folder / "installations"
