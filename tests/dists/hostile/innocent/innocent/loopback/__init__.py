"""What is allowed to reach this machine."""

from __future__ import annotations

import http.client
import time
import urllib.request

from ..table import innocent


@innocent
def page_by_urllib(scene):
    """Requests a page by urllib."""
    with urllib.request.urlopen(_url(scene), timeout=10) as answer:
        return answer.status, answer.read().decode()


@innocent
def page_by_http_client(scene):
    """Requests a page by http.client, by the name localhost."""
    connection = http.client.HTTPConnection("localhost", scene["port"], timeout=10)
    connection.request("GET", "/page")
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@innocent
def page_by_httpx(scene):
    """Requests a page by httpx."""
    import httpx

    with httpx.Client(timeout=10, trust_env=False) as client:
        answer = client.get(_url(scene))
    return answer.status_code, answer.text


@innocent
def pages_by_an_event_loop(scene):
    """Requests pages side by side by httpx in an event loop."""
    import asyncio

    import httpx

    async def main():
        async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
            return [one.status_code for one in await asyncio.gather(*(client.get(_url(scene)) for _ in range(4)))]

    return asyncio.run(main())


@innocent
def page_by_the_hosts_client(scene):
    """Requests a page by the host's own client."""
    from ferrule.http import Client

    with Client(time.monotonic() + 10) as client, client.open("GET", _url(scene)) as answer:
        return answer.status


def _url(scene):
    return f"http://127.0.0.1:{scene['port']}/page"


from ..plugin import Tools  # noqa: E402 - the table has to be full first

tools = Tools()
