"""What the tests of the host share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ferrule_testkit.machine import Machine


@pytest.fixture
def machine(machine: Machine) -> Machine:
    """Without commands and tools of other distributions: the host knows none, and `ferrule doctor` loads them."""
    return machine.hide_commands().hide_tools()


@pytest.fixture
def commands(machine: Machine) -> None:
    """The commands of other distributions, for a test that runs one of them."""
    machine.show_commands()
