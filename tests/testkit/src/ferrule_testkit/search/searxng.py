"""SearXNG for tests: a server that sends what it sends, and the real one, as scripts/install-searxng installs it.

    with Instance(tmp_path, engines) as instance:
        ...                              # FERRULE_SEARXNG_URL=instance.url

The documents of the former are recorded from the latter.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import pytest

from ferrule_dev.testing import Exchange, Server
from ferrule_testkit import PROJECT
from ferrule_testkit.search.server import JSON, Hit

PUBLISHED = "2026-01-02T03:04:05"
_TOOLS = PROJECT / ".tools"
_INSTALLED = _TOOLS / "searxng"
_PAGE_RESULTS = 10

# It prints its port once it listens.
_PROGRAM = """
from searx.webapp import app
from werkzeug.serving import make_server
server = make_server("127.0.0.1", 0, app, threaded=True)
print(server.port, flush=True)
server.serve_forever()
"""


# ---- the pretended one


def searxng_document(hits: Iterable[Hit], *, unresponsive: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    """A page of results."""
    return {
        "query": "some words",
        "results": [_result(place, hit) for place, hit in enumerate(hits, 1)],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [list(one) for one in unresponsive],
    }


def _result(place: int, hit: Hit) -> dict[str, Any]:
    parts = urlsplit(hit.url)
    return {
        "url": hit.url,
        "title": hit.title,
        "content": hit.text,
        "publishedDate": PUBLISHED,
        "pubdate": PUBLISHED.replace("T", " "),
        "engine": "wiki",
        "template": "default.html",
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", "", ""],
        "img_src": "",
        "thumbnail": "",
        "priority": "",
        "engines": ["wiki"],
        "positions": [place],
        "score": 1.0 / place,
        "category": "general",
    }


class SearXNG:
    """Pretends to be an instance: a route. unresponsive: pairs of an engine and why it gave no answer."""

    def __init__(
        self,
        hits: Sequence[Hit] = (),
        *,
        page_results: int = _PAGE_RESULTS,
        unresponsive: Sequence[Sequence[str]] = (),
    ) -> None:
        self._hits = hits
        self._size = page_results
        self._unresponsive = unresponsive

    def __call__(self, exchange: Exchange) -> None:
        params = _params(exchange)
        if params["format"] != "json":
            exchange.answer(b"<title>403 Forbidden</title>", "text/html", status=403)
            return
        start = self._size * (int(params["pageno"]) - 1)
        document = searxng_document(self._hits[start : start + self._size], unresponsive=self._unresponsive)
        exchange.answer(json.dumps(document).encode(), JSON)


def _params(exchange: Exchange) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(exchange.path).query).items()}


# ---- the real one


def require_installed() -> None:
    """Skip the test if there is no SearXNG; "elsewhere" begins the reason where the script could install none."""
    if not (_INSTALLED / "installed").exists():
        record = _TOOLS / "searxng.unavailable"
        why = f"elsewhere: {record.read_text().strip()}" if record.exists() else "scripts/install-searxng was not run"
        pytest.skip(why)


def engine(name: str, server: Server, **settings: object) -> dict[str, object]:
    """An engine that asks a server for JSON: what it is asked says page, language, time range and safe search."""
    return {
        "name": name,
        "engine": "json_engine",
        "shortcut": name,
        "categories": "general",
        "paging": True,
        "time_range_support": True,
        "safesearch": True,
        "search_url": server.url + "/engine?q={query}&page={pageno}&lang={lang}{time_range}{safe_search}",
        "results_query": "hits",
        "url_query": "url",
        "title_query": "title",
        "content_query": "text",
        "enable_http": True,
        **settings,
    }


def find_pages(number: int) -> Callable[[Exchange], None]:
    """A route for `engine`: so many results in pages of ten, every second on docs.example.org, others elsewhere."""

    def answer(exchange: Exchange) -> None:
        page = int(_params(exchange)["page"])
        places = range(_PAGE_RESULTS * (page - 1), min(_PAGE_RESULTS * page, number))
        hosts = ("docs.example.org", "www.example.com")
        hits = [{"title": f"Title {n}", "url": f"https://{hosts[n % 2]}/{n}", "text": f"a < {n}"} for n in places]
        exchange.answer(json.dumps({"hits": hits}).encode(), JSON)

    return answer


class Instance:
    """A SearXNG on loopback with engines of a test's own. Where none is installed, the test is skipped.

    formats: of `search.formats`. redis_url: of the Redis that its limiter counts in; without it there is no limiter.
    """

    def __init__(
        self,
        folder: Path,
        engines: Sequence[Mapping[str, object]],
        *,
        formats: Sequence[str] = ("html", "json"),
        redis_url: str = "",
    ) -> None:
        require_installed()
        self.url = ""
        self._folder = folder
        settings = {
            "use_default_settings": {"engines": {"keep_only": []}},
            "general": {"instance_name": "test", "enable_metrics": False},
            "search": {"formats": list(formats), "autocomplete": ""},
            "server": {"secret_key": "of the tests", "limiter": bool(redis_url)},
            "valkey": {"url": redis_url or False},
            "outgoing": {"request_timeout": 5.0},
            "engines": list(engines),
        }
        (folder / "settings.yml").write_text(json.dumps(settings))  # which is YAML, too
        self._log = (folder / "searxng.log").open("wb")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder),
            "SEARXNG_SETTINGS_PATH": str(self._folder / "settings.yml"),
        }
        command = [str(_INSTALLED / "bin" / "python"), "-c", _PROGRAM]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log, env=environment
        )
        assert self._process.stdout is not None
        port = self._process.stdout.readline().strip().decode()
        if not port:
            self.__exit__()
            pytest.fail(f"SearXNG did not start: {(self._folder / 'searxng.log').read_text()[-2000:]}")
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
        self._log.close()
