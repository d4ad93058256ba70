"""Connections whose questions go to a server on loopback."""

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest

import ferrule_duckdb
from ferrule_dev.testing import Environment
from ferrule_testkit.model.server import MODEL_KEY, ModelRequest, ModelServer, Reply, says

Query = Callable[..., list[tuple[Any, ...]]]


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
