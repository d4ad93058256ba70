"""What the tests of the server share."""

from pathlib import Path

import pytest
from machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with nothing on it but what the test installs, and the tools of the project that need no key."""
    return Machine(tmp_path)
