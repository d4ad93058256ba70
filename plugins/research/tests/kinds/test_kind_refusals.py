"""What is said where a provider of news or images refuses, sends half, or sends something else."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ferrule_dev.testing import Exchange
from ferrule_testkit.search.kinds import BRAVE_IMAGES_PATH, BRAVE_NEWS_PATH, Route
from ferrule_testkit.search.server import GOOGLE_PATH, JSON
from ferrule_testkit.web.kinds_web import KindsWeb, kinds_web

pytestmark = pytest.mark.process

SEARXNG_PATH = "/searxng/search"
PLACES = [
    ("news_search", "brave", BRAVE_NEWS_PATH),
    ("news_search", "google", GOOGLE_PATH),
    ("news_search", "searxng", SEARXNG_PATH),
    ("news_search", "tavily", "/tavily"),
    ("news_search", "gdelt", "/gdelt"),
    ("image_search", "brave", BRAVE_IMAGES_PATH),
    ("image_search", "google", GOOGLE_PATH),
    ("image_search", "searxng", SEARXNG_PATH),
]


def sends_bytes(body: bytes, content_type: str = JSON, *, status: int = 200, **headers: str) -> Route:
    def answer(exchange: Exchange) -> None:
        exchange.read_body()
        exchange.answer(body, content_type, status=status, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return answer


def half(exchange: Exchange) -> None:
    exchange.read_body()
    exchange.answer(b'{"results": [{"title": "T', JSON, headers={"Content-Length": "5000"})
    exchange.close_connection = True


FAULTS: dict[str, tuple[Route, tuple[str, ...]]] = {
    "429": (sends_bytes(b"{}", status=429, Retry_After="600"), ("rate_limited",)),
    "403": (sends_bytes(b"<h1>Forbidden</h1>", "text/html", status=403), ("auth_required", "upstream_unavailable")),
    "empty": (sends_bytes(b""), ("upstream_unavailable",)),
    "half": (half, ("network", "upstream_unavailable")),
    "html": (sends_bytes(b"<!DOCTYPE html><title>Sign in</title>", "text/html"), ("upstream_unavailable",)),
    "other charset": (sends_bytes('{"results": [{"title": "é'.encode("latin-1")), ("upstream_unavailable",)),
    "other shape": (sends_bytes(b'{"results": 5, "items": 5, "articles": 5}'), ("upstream_unavailable",)),
}


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[dict[str, KindsWeb]]:
    with ExitStack() as stack:
        yield {tool: stack.enter_context(kinds_web(tool, tmp_path)) for tool in ("news_search", "image_search")}


def each_pair() -> list[object]:
    """Every fault of every provider. In the tier `process`, each fault and each provider is in one at least."""
    pairs = [(*place, fault) for place in PLACES for fault in FAULTS]
    quick = {(*place, list(FAULTS)[number % len(FAULTS)]) for number, place in enumerate(PLACES)}
    return [pytest.param(*one, marks=[] if one in quick else pytest.mark.slow) for one in pairs]


@pytest.mark.parametrize(("tool", "provider", "path", "fault"), each_pair())
def test_each_fault_of_each_provider_is_an_error_that_says_what_to_do(
    machines: dict[str, KindsWeb], tool: str, provider: str, path: str, fault: str
) -> None:
    route, kinds = FAULTS[fault]
    web = machines[tool]
    web.server.route(path, route)
    failure = web.failed(provider=provider)
    assert failure["success"] is False
    assert failure["kind"] in kinds
    assert failure["provider"] == provider
    assert failure["suggestedAction"] in ("retry_after_delay", "check_api_key", "inform_user", "try_different_provider")
    if fault == "429":
        assert failure["retryAfterSeconds"] == 600


def test_gdelts_refusals_in_plain_text_are_told_with_their_words(machines: dict[str, KindsWeb]) -> None:
    web = machines["news_search"]
    web.server.route("/gdelt", sends_bytes(b"Your query was too short or too long.\n", "text/html"))
    failure = web.failed(provider="gdelt")
    assert failure["kind"] == "validation"
    assert "GDELT answered with HTTP 200: Your query was too short or too long (invalid query)." in failure["error"]
