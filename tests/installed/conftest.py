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
ONCE = {(UV, VERSIONS[1]), (PIP, VERSIONS[-1]), (PIPX, VERSIONS[0])}
"""Each Python and each installer once; each of the others is in `full`."""
OVER_STDIO, OVER_HTTP = {(PIPX, VERSIONS[0])}, {(PIP, VERSIONS[-1])}
"""Of those, one for each way of serving, which finds the same distributions as calls do."""
ALIKE = {"exa", "google", "searxng", "tavily"}
"""Providers of search with the same requirements and no commands, as brave, which is installed alone for all tests."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `alone` gets the host, and the host with each plugin; the others get all that there is."""
    calls_tools = metafunc.module.__name__.endswith("test_calls")
    for name, usual in (("together", ONCE), ("over_stdio", OVER_STDIO), ("over_http", OVER_HTTP)):
        if name in metafunc.fixturenames:
            cases = [_case(one, is_usual=(one.installer, one.python) in usual) for one in TOGETHER]
            metafunc.parametrize(name, cases, indirect=True)
    if "alone" in metafunc.fixturenames:
        cases = [_case(one, is_usual=calls_tools or not _is_alike(one)) for one in ALONE]
        metafunc.parametrize("alone", cases, indirect=True)


def _is_alike(recipe: Recipe) -> bool:
    return bool(ALIKE & {one.removeprefix("ferrule-") for one in recipe.plugins})


def _case(recipe: Recipe, *, is_usual: bool) -> ParameterSet:
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
def over_stdio(request: pytest.FixtureRequest, make_user: Callable[[Recipe], Installation]) -> Installation:
    """A user of all distributions, whose tools are served over stdio."""
    return make_user(request.param)


@pytest.fixture
def over_http(request: pytest.FixtureRequest, make_user: Callable[[Recipe], Installation]) -> Installation:
    """A user of all distributions, whose tools are served over HTTP."""
    return make_user(request.param)


def _shared(factory: pytest.TempPathFactory) -> Path:
    """A folder of the run, outside of the repository."""
    folder = factory.getbasetemp().parent if os.environ.get("PYTEST_XDIST_WORKER") else factory.getbasetemp()
    return folder / "installations"
