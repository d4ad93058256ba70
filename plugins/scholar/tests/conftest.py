"""A server for every service, which answers by recorded replies, and the tools as the host calls them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule import ToolError
from ferrule_dev.testing import Environment, Exchange, Server, context, refused_port
from ferrule_testkit.installation.declarations import declared_credentials
from ferrule_testkit.schemas.declared_results import require_declared_shape

REPLIES = Path(__file__).parent / "replies"
SERVICES = ("OPENALEX", "CROSSREF", "ARXIV", "SEMANTIC_SCHOLAR", "PUBMED", "EUROPE_PMC", "UNPAYWALL", "DOI", "ARCHIVE")
CONTENT_TYPES = {".json": "application/json", ".xml": "text/xml; charset=utf-8"}
EMAIL = "reader@library.example"

Reply = Callable[..., None]
Call = Callable[..., dict[str, Any]]
Failure = Callable[..., ToolError]


@pytest.fixture(autouse=True)
def _settings(ferrule_environment: Environment, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every service is on loopback: those that a test gives no reply refuse the connection."""
    refusing = f"http://127.0.0.1:{refused_port()}"
    for name in SERVICES:
        monkeypatch.setenv(f"FERRULE_{name}_ENDPOINT", f"{refusing}/{name.lower()}")
    monkeypatch.setenv("FERRULE_SCHOLAR_EMAIL", EMAIL)
    monkeypatch.setenv("FERRULE_FETCH_ALLOW", "loopback")
    monkeypatch.setenv("FERRULE_SCHOLAR_PATIENCE_SECONDS", "30")
    for name in ("OPENALEX_API_KEY", "SEMANTIC_SCHOLAR_API_KEY", "NCBI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def reply(server: Server, monkeypatch: pytest.MonkeyPatch) -> Reply:
    """Put a recorded reply at a path of a service: `reply("openalex", "/works", "openalex-search.json")`."""
    routes: dict[str, Callable[[Exchange], None]] = {}

    def answer(exchange: Exchange) -> None:
        path = exchange.path.partition("?")[0]
        route = routes.get(path) or routes.get(path.split("/")[1] + "*")
        if route is None:
            exchange.answer(b'{"error": "no reply"}', "application/json", status=404)
        else:
            route(exchange)

    server.route("*", answer)

    def reply(
        service: str,
        path: str,
        content: str | bytes | Callable[[Exchange], None],
        *,
        status: int = 200,
        content_type: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        monkeypatch.setenv(f"FERRULE_{service.upper()}_ENDPOINT", f"{server.url}/{service}")
        place = f"/{service}{path}" if path != "*" else f"{service}*"
        if callable(content):
            routes[place] = content
            return
        suffix = Path(content).suffix if isinstance(content, str) else ""
        body = (REPLIES / content).read_bytes() if isinstance(content, str) else content
        kind = content_type or CONTENT_TYPES.get(suffix, "text/html")
        routes[place] = lambda exchange: exchange.answer(body, kind, status=status, headers=headers)

    return reply


@pytest.fixture
def call() -> Call:
    """Call a tool with its arguments, and hold its answer against what it declares."""

    def call(tool: str, *, seconds: float = 60, **arguments: Any) -> dict[str, Any]:
        from ferrule.installed import entry_points, resolve

        module = next(value for name, value, _ in entry_points("ferrule.tools") if name == tool)
        plugin = resolve(module)
        found = plugin.validate(arguments) if hasattr(plugin, "validate") else []
        assert not found, found
        answer: dict[str, Any] = plugin.execute(
            arguments, context(tool, seconds=seconds, credentials=declared_credentials(tool))
        )
        require_declared_shape(tool, answer)
        return json.loads(json.dumps(answer))

    return call


@pytest.fixture
def failure(call: Call) -> Failure:
    """Call a tool, and return the error that it raises."""

    def failure(tool: str, **arguments: Any) -> ToolError:
        with pytest.raises(ToolError) as raised:
            call(tool, **arguments)
        return raised.value

    return failure


def queries(server: Server, service: str) -> list[dict[str, str]]:
    """The parameters of each request to a service."""
    from urllib.parse import parse_qsl, urlsplit

    return [
        dict(parse_qsl(urlsplit(one.target).query))
        for one in server.requests
        if one.target.startswith(f"/{service}/") or one.target.startswith(f"/{service}?")
    ]
