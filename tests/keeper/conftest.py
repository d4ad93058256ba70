"""A machine whose tools are kept."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule.links.launchers import find_launcher
from ferrule_testkit.keeper import WITHOUT_LAUNCHER, KeptMachine, LinkedMachine
from ferrule_testkit.machine import Machine


@pytest.fixture
def kept(machine: Machine) -> Iterator[KeptMachine]:
    """A machine whose tools are kept. It has no keeper until `start`."""
    with tempfile.TemporaryDirectory(prefix="f-") as folder:  # a short path, as a socket has to have
        found = KeptMachine(machine, Path(folder) / "run")
        yield found
        found.close()


@pytest.fixture
def linked(kept: KeptMachine) -> LinkedMachine:
    """The same with executables that ask the keeper."""
    if not find_launcher():
        pytest.skip(WITHOUT_LAUNCHER)
    return LinkedMachine(kept)
