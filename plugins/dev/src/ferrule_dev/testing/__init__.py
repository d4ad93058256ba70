"""Public: what the tests of a tool need: its real executable, started as a client starts it, and a real Context.

    from ferrule_dev.testing import run_tool

    def test_greets_a_city():
        run = run_tool("weather", {"city": "Oslo"})
        assert run.exit_code == 0
        assert run.document == {"success": True, "greeting": "Hello, Oslo!"}

It needs no test framework. The plugin has to be installed, `pip install -e .` is enough. Where pytest is installed, it
also has the fixtures `ferrule_tool`, `ferrule_credentials`, `ferrule_settings`, `ferrule_environment`, `ferrule_server`
and `ferrule_exchanges`; `pytest --fixtures` describes them.

Each name is imported when it is first used, and `ferrule_dev.testing.pytest_plugin` imports nothing but pytest.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule_dev.testing.environment import Environment
    from ferrule_dev.testing.exchanges.exchanges import Exchanges
    from ferrule_dev.testing.executables import Run, executable, run_tool, schema_of
    from ferrule_dev.testing.http_server import Exchange, Request, Server, refused_port
    from ferrule_dev.testing.tool import Tool, context

__all__ = [
    "Environment",
    "Exchange",
    "Exchanges",
    "Request",
    "Run",
    "Server",
    "Tool",
    "context",
    "executable",
    "refused_port",
    "run_tool",
    "schema_of",
]

__getattr__ = attach(
    __name__,
    {
        "Environment": "ferrule_dev.testing.environment",
        "Exchange": "ferrule_dev.testing.http_server",
        "Exchanges": "ferrule_dev.testing.exchanges.exchanges",
        "Request": "ferrule_dev.testing.http_server",
        "Run": "ferrule_dev.testing.executables",
        "Server": "ferrule_dev.testing.http_server",
        "Tool": "ferrule_dev.testing.tool",
        "context": "ferrule_dev.testing.tool",
        "executable": "ferrule_dev.testing.executables",
        "refused_port": "ferrule_dev.testing.http_server",
        "run_tool": "ferrule_dev.testing.executables",
        "schema_of": "ferrule_dev.testing.executables",
    },
)
