"""What a whole search costs, cold, in starts of a bare interpreter (`python -I -c pass` in the same environment = 1.0).

Usage: python bench/search.py [--runs N] [--json]
"""

from __future__ import annotations

import argparse
import json
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import trustme
from installations.installation import ROOT, Installation
from measuring import Command, compare

from ferrule_dev.testing import Server
from ferrule_testkit.search.server import (
    BRAVE_KEY,
    BRAVE_PATH,
    ENGINE,
    GOOGLE_KEY,
    GOOGLE_PATH,
    Brave,
    Google,
    Rate,
    some_hits,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = ("web_search_brave", "web_search_google")
QUERY = b'{"query": "what a search costs"}'


class Row(NamedTuple):
    """One measured call, and the ratio that it is meant to stay under (None if there is no such aim)."""

    name: str
    command: Command
    goal: float | None = None


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        installation = Installation(folder / "environment")
        plugins = [str(ROOT / "plugins" / provider) for provider in ("brave", "google")]
        installation.install(f"{ROOT / 'host'}[http,httpx]", *plugins)
        ferrule = [str(installation.scripts / "ferrule"), "link", *TOOLS, "--to", str(folder / "links")]
        subprocess.run(ferrule, check=True, stdout=subprocess.DEVNULL, stderr=sys.stderr)
        report(installation, folder, options.runs, as_json=options.json)


def report(installation: Installation, folder: Path, runs: int, *, as_json: bool) -> None:
    """Measure every row against the bare interpreter and print it as soon as it is known."""
    baseline = Command([installation.python, "-I", "-c", "pass"])
    if not as_json:
        print(f"{'call':52} {'cpu':>6} {'wall':>6} {'aim':>7}")
    for row in rows(installation, folder):
        ratio = compare(row.command, baseline, runs=runs)
        if as_json:
            print(json.dumps({"call": row.name, "cpu": ratio.cpu, "wall": ratio.wall, "aim": row.goal}))
        else:
            aim = "" if row.goal is None else f"≤ {row.goal:.2f}"
            print(f"{row.name:52} {ratio.cpu:6.2f} {ratio.wall:6.2f} {aim:>7}", flush=True)


def rows(installation: Installation, folder: Path) -> Iterator[Row]:
    """Searches over http and https, and what part of them is not ours."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    yield Row("import httpx, for comparison", Command([installation.python, "-I", "-c", "import httpx"]))
    with Server() as server:
        yield Row("search by Brave, http", brave(server, folder), 10.0)
        yield Row("search by Google, http", google(server, folder), 10.0)
        no_key = Command([folder / "links" / "web-search-brave-tool"], QUERY, {**plain(folder), "BRAVE_API_KEY": ""})
        yield Row("search without a key", no_key)
    with Server(context) as server:
        yield Row("search by Brave, https, SSL_CERT_FILE", brave(server, folder))


def brave(server: Server, folder: Path) -> Command:
    """A call of web_search_brave that gets ten results from a plan with room."""
    server.route("*", Brave(some_hits(20), rate=Rate(1000)))
    environ = {**plain(folder), "BRAVE_API_KEY": BRAVE_KEY, "FERRULE_BRAVE_ENDPOINT": server.url + BRAVE_PATH}
    return Command([folder / "links" / "web-search-brave-tool"], QUERY, environ)


def google(server: Server, folder: Path) -> Command:
    """A call of web_search_google that gets ten results."""
    server.route("*", Google(some_hits(20)))
    keys = {"GOOGLE_SEARCH_API_KEY": GOOGLE_KEY, "GOOGLE_SEARCH_ENGINE_ID": ENGINE}
    environ = {**plain(folder), **keys, "FERRULE_GOOGLE_ENDPOINT": server.url + GOOGLE_PATH}
    return Command([folder / "links" / "web-search-google-tool"], QUERY, environ)


def plain(folder: Path) -> dict[str, str]:
    """A machine of its own, as far as a search looks at it."""
    return {
        "FERRULE_STATE": str(folder / "state"),
        "IKIGAI_CONFIG_DIR": str(folder / "configuration"),
        "SSL_CERT_FILE": str(folder / "authority.pem"),
        "NO_PROXY": "*",
    }


if __name__ == "__main__":
    main()
