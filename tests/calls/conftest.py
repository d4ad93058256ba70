"""Calls of linked executables both ways: each makes its call itself, or has it made by a keeper."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule.links.launchers import find_launcher
from ferrule_testkit.corpus import Site
from ferrule_testkit.keeper import WITHOUT_LAUNCHER, KeptHome
from ferrule_testkit.own_keeper import OwnKeeper, own_keepers

BOTH_WAYS = {"test_input": (), "test_signals": (), "test_streams": (), "test_surroundings": pytest.mark.full}
"""Modules whose calls are made both ways, and the marks of those that a keeper makes: most of the last one's go to no
keeper, since their variables are others."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    module = metafunc.module.__name__.rpartition(".")[2]
    has_chosen = any("keeping" in str(mark.args[0]) for mark in metafunc.definition.iter_markers("parametrize"))
    if module in BOTH_WAYS and "here" in metafunc.fixturenames and not has_chosen:
        metafunc.parametrize("keeping", ["cold", pytest.param("kept", marks=BOTH_WAYS[module])], indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The scripts that `pip` installs ask no keeper, so they are called one way."""
    items[:] = [item for item in items if not _asks_nobody(item)]


def _asks_nobody(item: pytest.Item) -> bool:
    chosen = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return chosen.get("keeping") == "kept" and chosen.get("kind") == "scripts"


@pytest.fixture(scope="session")
def kept_home(healthy: Site) -> Iterator[KeptHome]:
    if not find_launcher():
        pytest.skip(WITHOUT_LAUNCHER)
    found = KeptHome(healthy.links / "example-tool", b'{"city": "Oslo"}', {"PYTHONPATH": str(healthy.path)})
    yield found
    found.close()


@pytest.fixture
def keeping(request: pytest.FixtureRequest) -> Iterator[KeptHome | None]:
    """The home whose keeper makes the calls; None where it is to be none."""
    home: KeptHome | None = None
    if getattr(request, "param", "cold") == "kept":
        home = request.getfixturevalue("kept_home")
        home.renew()
    yield home
    if home is not None:
        home.end_others()


@pytest.fixture
def here(environment: dict[str, str], healthy: Site, written: Path, keeping: KeptHome | None) -> dict[str, str]:
    """The environment in which the healthy tools are installed, and maybe kept."""
    known = environment if keeping is None else keeping.environment
    return {**known, "PYTHONPATH": str(healthy.path), "PROBE_WRITES": str(written)}


@pytest.fixture(params=["cold", "kept"])
def own_keeper(request: pytest.FixtureRequest) -> Iterator[OwnKeeper | None]:
    """What has each call made by a keeper of its own; None where it makes itself."""
    if request.param == "cold":
        yield None
        return
    with own_keepers() as found:
        yield found
