"""What the tests of the host share."""

from pathlib import Path

import pytest
from machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with nothing on it but what the test installs, beside the tools of the tests' own environment."""
    return Machine(tmp_path)
