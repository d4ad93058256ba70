"""Fixtures for tests of asking: a server in the model's place, and nothing of this machine's settings.

A module of tests imports the names that it uses, `ask_environment` always.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from memory_tools import MemoryTools
from model_server import MODEL_KEY, ModelServer

from ferrule_ask import Client

_UNSET = ("ANTHROPIC_AUTH_TOKEN", "FERRULE_ASK_MODEL", "FERRULE_ASK_MAX_TOKENS", "FERRULE_ASK_BUDGETS")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@pytest.fixture
def ask_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_server: ModelServer) -> None:
    """The server and its key in the environment; a home, a configuration and a state of the test's own."""
    for name in (*_UNSET, *_PROXIES, "FERRULE_CONFIG", "FERRULE_ASK_TOOLS", "FERRULE_ASK_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "XDG_CONFIG_HOME", "IKIGAI_CONFIG_DIR", "FERRULE_STATE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", MODEL_KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", model_server.url)


@pytest.fixture
def client(ask_environment: None) -> Iterator[Callable[..., Client]]:
    """Makes clients with one tool in memory, which are closed at the end."""
    made: list[Client] = []

    def make(**settings: Any) -> Client:
        made.append(Client(**{"toolbox": MemoryTools(), **settings}))
        return made[-1]

    yield make
    for one in made:
        one.close()
