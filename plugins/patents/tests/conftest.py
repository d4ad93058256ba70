"""Both offices on loopback, and their keys."""

import pytest

from ferrule_dev.testing import Environment, Server
from ferrule_testkit.search.patents import KEYS, put_up_offices


@pytest.fixture(autouse=True)
def _settings(ferrule_environment: Environment, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has the keys, and the server in the place of the offices."""
    for name, value in {**KEYS, **put_up_offices(server)}.items():
        monkeypatch.setenv(name, value)
