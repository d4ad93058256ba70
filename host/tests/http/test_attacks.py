"""What hostile URLs, resolvers and servers get httpx to connect to, where it has the transport and the guard."""

import asyncio
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from ferrule.errors import ToolError
from ferrule.http import AddressGuard, AsyncHTTPXTransport, HTTPXTransport
from ferrule_testkit.hostile import urls as hostile_urls
from ferrule_testkit.hostile.urls import PUBLIC, Case
from ferrule_testkit.web.fake_internet import Internet

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ferrule_environment")]

SECONDS = 10


def _fetch(url: str) -> str:
    transport = HTTPXTransport(time.monotonic() + SECONDS, guard=AddressGuard())
    with httpx.Client(transport=transport, follow_redirects=True) as client:
        return client.get(url).text


def _fetch_by_asyncio(url: str) -> str:
    async def fetch() -> str:
        transport = AsyncHTTPXTransport(time.monotonic() + SECONDS, guard=AddressGuard())
        async with httpx.AsyncClient(transport=transport, follow_redirects=True) as client:
            return (await client.get(url)).text

    return asyncio.run(fetch())


@pytest.fixture(scope="module")
def internet() -> Iterator[Internet]:
    with Internet() as internet:
        yield internet


def _outcome(fetch: Callable[[str], str], url: str) -> str:
    try:
        fetch(url)
    except (ToolError, httpx.InvalidURL, httpx.HTTPError, UnicodeError) as error:
        return type(error).__name__
    return "page"


@pytest.mark.slow
@pytest.mark.parametrize("fetch", [_fetch, _fetch_by_asyncio])
def test_an_attack_reaches_no_special_address(internet: Internet, fetch: Callable[[str], str]) -> None:
    reached: list[tuple[Case, list[str]]] = []
    for case in [*hostile_urls.ATTACKS, *hostile_urls.RESERVED]:
        internet.resolve(case.answers)
        _outcome(fetch, case.url)
        if set(internet.connected) - {PUBLIC}:
            reached.append((case, list(internet.connected)))
    assert reached == []


def test_most_of_the_legal_web_is_reached(internet: Internet) -> None:
    refused: list[tuple[str, str]] = []
    for case in hostile_urls.LEGAL:
        internet.resolve(case.answers)
        outcome = _outcome(_fetch, case.url)
        if outcome in ("ToolError", "LocalProtocolError"):
            refused.append((case.url, outcome))
    assert refused == []
