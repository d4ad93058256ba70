"""Connections whose questions go to a server on loopback, and the command that asks about rows."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ferrule_duckdb
from ferrule_dev.testing import Environment
from ferrule_testkit.machine import Finished
from ferrule_testkit.model.server import MODEL_KEY, ModelRequest, ModelServer, Reply, says
from ferrule_testkit.processes import fork_server

Query = Callable[..., list[tuple[Any, ...]]]
FERRULE = Path(sys.executable).parent / "ferrule"
_LOADED = ("ferrule", "ferrule_ask", "ferrule_duckdb", "httpx", "pyarrow.compute")


@pytest.fixture
def run_ask() -> Callable[..., Finished]:
    """Runs `ferrule ask ARGUMENT…` in an environment and a folder to its end.

    That is in a fork, since these tests look at what it does: those that end it while it is at work start it.
    """

    def run(environment: Mapping[str, str], folder: Path, *arguments: object) -> Finished:
        command = [str(FERRULE), "ask", *map(str, arguments)]
        environment = {name: value for name, value in environment.items() if not name.startswith("PYTHON")}
        if fork_server.is_possible(environment):
            entry = "ferrule.cli:main"
            ended = fork_server.run(entry, command, b"", environment=environment, cwd=folder, packages=_LOADED)
            return Finished(ended.exit_code, ended.stdout.decode(), ended.stderr.decode())
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, cwd=folder
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def server(ferrule_environment: Environment, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """A server that answers each question with the question, instead of the model; nothing else is configured."""
    for name in ("ANTHROPIC_AUTH_TOKEN", "BRAVE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", MODEL_KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", model_server.url)
    model_server.script(echo)
    return model_server


def echo(request: ModelRequest) -> Reply:
    """The question as the answer."""
    return says(request.question)


@pytest.fixture
def con(server: ModelServer) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that is not registered yet."""
    with duckdb.connect() as con:
        yield con


@pytest.fixture
def query(con: duckdb.DuckDBPyConnection) -> Query:
    """Run SQL on the connection, which is registered without tools: the rows."""
    ferrule_duckdb.register(con, tools=())
    return lambda sql, *values: con.execute(sql, *values).fetchall()


@pytest.fixture(
    params=["a,c", "q,n", "rowid,source,first", "ferrule answer,ferrule number,Ferrule Context,ferrule question,prompt"]
)
def wanted_names(request: pytest.FixtureRequest) -> list[str]:
    """Names of a file's columns that the statements of `ferrule ask --rows` would like to have for themselves."""
    return str(request.param).split(",")
