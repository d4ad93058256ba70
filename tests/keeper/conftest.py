"""A machine whose tools are kept."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule_testkit.keeper import KeptMachine
from ferrule_testkit.machine import Machine


@pytest.fixture
def kept(machine: Machine) -> Iterator[KeptMachine]:
    """A machine whose tools are kept. It has no keeper until `start`."""
    with tempfile.TemporaryDirectory(prefix="f-") as folder:  # a short path, as a socket has to have
        found = KeptMachine(machine, Path(folder) / "run")
        yield found
        found.stop()
