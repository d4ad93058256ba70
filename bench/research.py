"""What web_search costs: cold beside the one search tool that it uses, and over providers that are slow or down;
and what search_and_scrape takes for ten pages that are slow.

Usage: python bench/research.py [--runs N] [--json]

The ratios are to the provider's own tool, paired call by call; the seconds are medians on the wall. Every call has a
state folder of its own where it says nothing else, so that no breaker is open.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from installations.installation import ROOT, Installation
from measuring import Command, compare, run

from ferrule_dev.testing import Exchange, Server
from ferrule_testkit.search.server import BRAVE_PATH, GOOGLE_PATH, KEYS, Brave, Google, Hit, some_hits

PLUGINS = ("brave", "google", "fetch", "research")
TOOLS = ("web_search_brave", "web_search", "search_and_scrape")
QUERY = b'{"query": "what a search costs"}'
BUNDLE = b'{"query": "what a search costs", "num_results": 10, "provider": "brave"}'
FORCED = b'{"query": "what a search costs", "provider": "google"}'
SLOW = 0.5  # seconds until a slow provider answers
PAGES, PAGE_SECONDS = 10, 0.2  # of a search, and until each answers
DEADLINE = "12"  # seconds, so that a provider that never answers has five

Route = Callable[[Exchange], None]


class Row(NamedTuple):
    """One measured call. seconds: on the wall. ratio: to the provider's own tool, where that is the question."""

    name: str
    seconds: float
    ratio: float | None = None


class Bench:
    """The tools, and the two providers that they ask."""

    def __init__(self, folder: Path, brave: Server, google: Server, runs: int) -> None:
        self.brave = brave
        self.google = google
        self._folder = folder
        self._runs = runs
        self._numbers = itertools.count()

    def command(self, tool: str, data: bytes = QUERY, state: str = "", **more: str) -> Command:
        """A call of a tool."""
        environ: Mapping[str, str] = {
            **KEYS,
            "FERRULE_BRAVE_ENDPOINT": self.brave.url + BRAVE_PATH,
            "FERRULE_GOOGLE_ENDPOINT": self.google.url + GOOGLE_PATH,
            "FERRULE_STATE": str(self._folder / (state or f"state-{next(self._numbers)}")),
            "FERRULE_CONFIG": str(self._folder / "config.toml"),
            "NO_PROXY": "*",
            **more,
        }
        return Command([self._folder / "links" / f"{tool.replace('_', '-')}-tool"], data, environ)

    def providers(self, brave: Route, google: Route) -> None:
        """Put these in the providers' places."""
        self.brave.route("*", brave)
        self.google.route("*", google)

    def seconds(self, data: bytes = QUERY, *, state: str = "", runs: int = 0, **more: str) -> float:
        """The median of some calls of web_search."""
        return statistics.median(
            run(self.command("web_search", data, state, **more)).wall for _ in range(runs or self._runs)
        )

    def bundle(self, pages: Server) -> Row:
        """search_and_scrape with ten pages, each of which takes its time."""
        text = "".join(
            f"<p>Paragraph {number}. {'A search costs what it costs, and no more. ' * 6}</p>" for number in range(8)
        )
        body = f"<!DOCTYPE html><title>A page</title><main><h1>A page</h1>{text}</main>".encode()
        pages.route("*", after(PAGE_SECONDS, lambda exchange: exchange.answer(body, "text/html")))
        hits = [Hit(f"Title {number}", f"{pages.url}/{number}", "Text") for number in range(PAGES)]
        self.providers(Brave(hits), Google(hits))
        call = self.command("search_and_scrape", BUNDLE, FERRULE_FETCH_ALLOW="loopback", FERRULE_WRAPPERS="")
        seconds = [run(call).wall for _ in range(self._runs)]
        return Row(f"search_and_scrape, {PAGES} pages of {PAGE_SECONDS} s each", statistics.median(seconds))

    def cold(self) -> Row:
        """web_search beside web_search_brave, which does the same request."""
        own = self.command("web_search_brave", state="cold")
        general = self.command("web_search", state="cold")
        ratio = compare(general, own, runs=self._runs)
        return Row("web_search, cold, beside web_search_brave", run(general).wall, ratio.wall)


def after(seconds: float, route: Route) -> Route:
    """A provider that takes its time."""

    def answer(exchange: Exchange) -> None:
        time.sleep(seconds)
        route(exchange)

    return answer


def down(exchange: Exchange) -> None:
    """A provider that is down and says so."""
    exchange.answer(b"{}", "application/json", status=503)


def silent(exchange: Exchange) -> None:
    """A provider that never answers."""
    exchange.hang()


def rows(bench: Bench, pages: Server) -> Iterator[Row]:
    """Every call that is measured."""
    yield bench.bundle(pages)
    good, other = Brave(some_hits(10)), Google(some_hits(10))
    bench.providers(good, other)
    yield bench.cold()
    bench.providers(after(SLOW, good), after(SLOW, other))
    yield Row(f"the first answers after {SLOW} s", bench.seconds())
    yield Row(f"the second alone (forced), after {SLOW} s", bench.seconds(FORCED))
    bench.providers(after(SLOW, down), after(SLOW, other))
    yield Row(f"the first fails after {SLOW} s, the second answers after {SLOW} s", bench.seconds())
    bench.seconds(state="open", runs=3)
    yield Row("the same, once the breaker of the first is open", bench.seconds(state="open"))
    bench.providers(silent, after(SLOW, other))
    yield Row(f"the first never answers, deadline {DEADLINE} s", bench.seconds(runs=1, FERRULE_DEADLINE=DEADLINE))


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Server() as brave, Server() as google, Server() as pages:
        folder = Path(name)
        installation = Installation(folder / "environment")
        plugins = [str(ROOT / "plugins" / plugin) for plugin in PLUGINS]
        installation.install(f"{ROOT / 'host'}[http]", *plugins)
        link = [str(installation.scripts / "ferrule"), "link", *TOOLS, "--to", str(folder / "links")]
        subprocess.run(link, check=True, stdout=subprocess.DEVNULL, stderr=sys.stderr)
        for row in rows(Bench(folder, brave, google, options.runs), pages):
            show(row, as_json=options.json)


def show(row: Row, *, as_json: bool) -> None:
    """Print a row as soon as it is known."""
    if as_json:
        print(json.dumps(row._asdict()), flush=True)
        return
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    print(f"{row.name:64} {row.seconds:7.3f} s {ratio:>6}", flush=True)


if __name__ == "__main__":
    main()
