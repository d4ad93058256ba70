"""What the tests of elements and of whole pages share."""

import pytest


@pytest.fixture(autouse=True)
def _environment() -> None:
    """None of its own, which each of a thousand tests would make: no setting reaches what they call."""
