"""What the cache costs and saves, cold, in starts of a bare interpreter (`python -I -c pass` there = 1.0).

Usage: python bench/caching.py [--runs N] [--json]

The tool is the search by Brave, linked, against a server on loopback; the last rows are a hundred processes at once on
one question, of which one is to ask the server.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from installations.installation import ROOT, Installation
from measuring import Command, compare

from ferrule_dev.testing import Server
from ferrule_testkit.search.server import Brave, settings, some_hits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TOOL = "web_search_brave"
OFF, ON = {"FERRULE_WRAPPERS": ""}, {"FERRULE_WRAPPERS": "cache"}
TOGETHER = 100


class Row(NamedTuple):
    """One measured call."""

    name: str
    command: Command


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Server() as server:
        folder = Path(name)
        server.route("*", Brave(some_hits(30)))
        installation = Installation(folder / "environment")
        installation.install(f"{ROOT / 'host'}[http,redis]", str(ROOT / "plugins" / "brave"))
        ferrule = [str(installation.scripts / "ferrule"), "link", TOOL, "--to", str(folder / "links")]
        subprocess.run(ferrule, check=True, stdout=subprocess.DEVNULL, stderr=sys.stderr)
        with redis() as url:
            report(installation, folder, server, url, options.runs, as_json=options.json)


def report(
    installation: Installation, folder: Path, server: Server, url: str | None, runs: int, *, as_json: bool
) -> None:
    """Measure every row against the bare interpreter and print it as soon as it is known."""
    baseline = Command([installation.python, "-I", "-c", "pass"])
    if not as_json:
        print(f"{'call':52} {'cpu':>6} {'wall':>6}")
    for row in rows(folder, server, url):
        ratio = compare(row.command, baseline, runs=runs)
        if as_json:
            print(json.dumps({"call": row.name, "cpu": ratio.cpu, "wall": ratio.wall}))
        else:
            print(f"{row.name:52} {ratio.cpu:6.2f} {ratio.wall:6.2f}", flush=True)
    for backend, environ in backends(url):
        seconds, requests = together(folder, server, environ)
        facts = {"processes": TOGETHER, "backend": backend, "requests": requests, "seconds": round(seconds, 2)}
        print(json.dumps(facts) if as_json else f"{TOGETHER} at once, {backend}: {requests} requests, {seconds:.2f} s")


def rows(folder: Path, server: Server, url: str | None) -> Iterator[Row]:
    """The call without the cache, that which finds nothing, and that which is answered from it."""
    tool = folder / "links" / "web-search-brave-tool"
    plain = environment(folder, server, "plain")
    yield Row("search, no wrapper on", Command([tool], question("plain"), {**plain, **OFF}))
    for backend, environ in backends(url):
        own = {**environment(folder, server, backend), **environ, **ON}
        yield Row(f"hit, {backend}", Command([tool], question(f"hit {backend}"), own))
        # Nothing is kept in no time at all, so that every call has to ask.
        config = folder / f"{backend}.toml"
        config.write_text(f"[wrappers.cache.tools.{TOOL}]\nseconds = 0.000001\n")
        yield Row(
            f"miss, {backend}", Command([tool], question(f"miss {backend}"), {**own, "FERRULE_CONFIG": str(config)})
        )
    nobody = {**environment(folder, server, "nobody"), "FERRULE_REDIS": "redis://127.0.0.1:1/0", **ON}
    yield Row("search, Redis is not there", Command([tool], question("nobody"), nobody))


def together(folder: Path, server: Server, environ: Mapping[str, str]) -> tuple[float, int]:
    """Seconds until as many processes have their answer that start at once, and the requests that came of it."""
    before, started = len(server.requests), time.monotonic()
    own = {**os.environ, **environment(folder, server, "together"), **environ, **ON, "FERRULE_DEADLINE": "100"}
    config = folder / "together.toml"
    config.write_text("[wrappers.cache]\nredis_seconds = 60\n")  # a hundred interpreters at once are late themselves
    processes = []
    for _ in range(TOGETHER):
        process = subprocess.Popen(
            [folder / "links" / "web-search-brave-tool"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**own, "FERRULE_CONFIG": str(config)},
        )
        assert process.stdin
        process.stdin.write(question("together"))
        process.stdin.close()
        processes.append(process)
    for process in processes:
        process.wait()
    return time.monotonic() - started, len(server.requests) - before


def question(about: str) -> bytes:
    """Arguments of the search, equal to no others."""
    return json.dumps({"query": f"what a search costs: {about}"}).encode()


def environment(folder: Path, server: Server, name: str) -> dict[str, str]:
    """The variables of the search, with a state folder of its own."""
    return {**settings(folder, server), "FERRULE_STATE": str(folder / "states" / name)}


def backends(url: str | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Each store, and the variable that chooses it."""
    yield "files", {"FERRULE_REDIS": ""}
    if url:
        yield "redis", {"FERRULE_REDIS": url}


@contextmanager
def redis() -> Iterator[str | None]:
    """The URL of a server that ends with the block; None where the program is not installed."""
    program = shutil.which("redis-server")
    if program is None:
        print("redis-server is not installed", file=sys.stderr)
        yield None
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.01)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
