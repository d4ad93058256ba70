"""What fetches a page, by name; run as a program, it tries all hostile URLs on one of them.

Usage: python bench/peers/ssrf_fetchers.py NAME

Prints one JSON array a line, in the order of the table: the addresses connected to, and whether the page came back.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import os
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# A peer's environment has nothing of the project, and the server that answers them stands on its kit.
sys.path += [
    str(Path(__file__).resolve().parents[2] / one) for one in ("tests/testkit/src", "plugins/dev/src", "host/src")
]
from ferrule_testkit.hostile.urls import PARTS, Case
from ferrule_testkit.web.fake_internet import Internet

Fetch = Callable[[str], str]
SECONDS = 5  # for one URL; loopback answers at once
REACHED = "reached"


def ferrule() -> Fetch:
    """web_fetch itself, in this process."""
    tool, testing = import_module("ferrule_fetch"), import_module("ferrule_dev.testing")
    return lambda url: str(tool.execute({"url": url}, testing.context("web_fetch", seconds=SECONDS))["content"])


def httpx_get() -> Fetch:
    """What most tools do that have no guard."""
    httpx = import_module("httpx")
    return lambda url: str(httpx.get(url, follow_redirects=True, timeout=SECONDS).text)


def requests_get() -> Fetch:
    """The same with the other library, as smolagents' VisitWebpageTool does it."""
    requests = import_module("requests")
    return lambda url: str(requests.get(url, timeout=SECONDS).text)


def is_global() -> Fetch:
    """The check that is most often written at home: resolve, ask ipaddress, fetch."""
    httpx = import_module("httpx")

    def fetch(url: str) -> str:
        for _ in range(10):
            for *_, address in socket.getaddrinfo(urlsplit(url).hostname or "", None):
                if not ipaddress.ip_address(address[0]).is_global:
                    raise ValueError
            response = httpx.get(url, timeout=SECONDS)
            if not response.has_redirect_location:
                return str(response.text)
            url = str(response.next_request.url)
        raise ValueError

    return fetch


def pydantic_ai() -> Fetch:
    """What pydantic-ai's web_fetch tool downloads with."""
    download = import_module("pydantic_ai._ssrf").safe_download
    return lambda url: str(asyncio.run(download(url, timeout=SECONDS)).text)


def langchain() -> Fetch:
    """langchain-core's client for URLs that nobody vouches for."""
    client = import_module("langchain_core._security._transport").ssrf_safe_client
    policy = import_module("langchain_core._security._policy").SSRFPolicy(allowed_schemes=frozenset(["http", "https"]))

    def fetch(url: str) -> str:
        with client(policy, timeout=SECONDS, follow_redirects=True) as made:
            return str(made.get(url).text)

    return fetch


def drawbridge() -> Fetch:
    """An httpx client with a guard of its own."""
    library = import_module("drawbridge.sync")
    return lambda url: str(library.get(url).text)


def advocate() -> Fetch:
    """requests with a guard, IPv6 switched on."""
    library = import_module("advocate")
    validator = library.AddrValidator(allow_ipv6=True)
    return lambda url: str(library.get(url, validator=validator, timeout=SECONDS).text)


def requests_hardened() -> Fetch:
    """requests with a filter of addresses."""
    library = import_module("requests_hardened")
    config = library.Config(
        ip_filter_enable=True,
        ip_filter_allow_loopback_ips=False,
        never_redirect=False,
        default_timeout=(SECONDS, SECONDS),
    )
    return lambda url: str(library.Manager(config).send_request("GET", url).text)


def safehttpx() -> Fetch:
    """gradio's guarded httpx, following redirects by hand, since it follows none."""
    library, httpx2 = import_module("safehttpx"), import_module("httpx2")

    async def get(url: str) -> str:
        for _ in range(10):
            response = await library.get(url, timeout=SECONDS)
            if not response.has_redirect_location:
                return str(response.text)
            url = str(httpx2.URL(url).join(response.headers["location"]))
        raise ValueError

    return lambda url: asyncio.run(get(url))


OURS = {"ferrule-fetch": ferrule}
PEERS: dict[str, Callable[[], Fetch]] = {
    "drawbridge": drawbridge,
    "advocate": advocate,
    "pydantic-ai": pydantic_ai,
    "requests-hardened": requests_hardened,
    "langchain-core": langchain,
    "safehttpx": safehttpx,
    "not is_global, then httpx.get": is_global,
    "httpx.get": httpx_get,
    "requests.get": requests_get,
}


def attempt(fetch: Fetch, internet: Internet, case: Case) -> tuple[list[str], bool]:
    """The addresses that were connected to for a URL, and whether the page came back."""
    internet.resolve(case.answers)
    signal.alarm(2 * SECONDS)
    try:
        answered = REACHED in fetch(case.url)
    except (Exception, asyncio.CancelledError):  # noqa: BLE001 - a refusal, in whatever way the library says it
        answered = False
    finally:
        signal.alarm(0)
    return list(internet.connected), answered


def _late(*_: Any) -> None:
    raise TimeoutError


def main() -> None:
    """Try every URL on the fetcher that is named."""
    logging.disable()
    warnings.simplefilter("ignore")
    for name in [name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("FERRULE_")]:
        del os.environ[name]
    signal.signal(signal.SIGALRM, _late)
    fetch = {**OURS, **PEERS}[sys.argv[1]]()
    with Internet() as internet:
        for case in chain.from_iterable(PARTS.values()):
            print(json.dumps(attempt(fetch, internet, case)), flush=True)


if __name__ == "__main__":
    main()
