"""A cold call of web_fetch for a page over loopback, JSON in to JSON out, beside a plain script that does the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from installations.installation import ROOT, Installation
from measuring import Command, compare

from ferrule_dev.testing import Server
from markdown.sources.pages import Page, pages
from markdown.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown.options import Options

_BYTES = 130_000
_AIM = 0.5
_PLAIN = """\
import json
import sys

import httpx

from ferrule_fetch.markdown import convert

response = httpx.get(json.load(sys.stdin)["url"], follow_redirects=True)
title, markdown, _ = convert(response.text, str(response.url), parser={parser!r})
json.dump({{"success": True, "url": str(response.url), "title": title, "content": markdown}}, sys.stdout)
"""


def cold(options: Options) -> Iterator[Table]:
    """Calls in pairs with the plain script on httpx and html5lib as they come, which is 1."""
    page = min(pages(), key=lambda page: abs(len(page.html.encode()) - _BYTES))
    size = len(page.html.encode()) / 1000
    with tempfile.TemporaryDirectory() as name, Server() as server:
        folder = Path(name)
        installation = Installation(folder / "environment")
        installation.install(f"{ROOT / 'host'}[httpx]", str(ROOT / "plugins" / "fetch"))
        query = json.dumps({"url": server.page("/", page.html)}).encode()
        baseline = _script(installation, folder, query, "html5lib")
        if problem := _problem(baseline, page):
            raise RuntimeError(f"there is nothing to compare with: {problem}")
        rows = []
        for title, command in _calls(installation, folder, query):
            problem = _problem(command, page)
            print(f"{title}: {problem or 'timed …'}", file=sys.stderr)
            rows.append(Row(title, [None, None] if problem else compare(command, baseline, runs=options.runs)))
    note = f"a page of {size:.0f} kB over loopback; httpx and html5lib as they come = 1, a linked call ≤ {_AIM} by aim"
    yield Table("cold", note, ("cpu", "wall"), rows, decimals=2)


def _calls(installation: Installation, folder: Path, query: bytes) -> Iterator[tuple[str, Command]]:
    links = folder / "links"
    linking = [str(installation.scripts / "ferrule"), "link", "web_fetch", "--to", str(links)]
    subprocess.run(linking, check=True, capture_output=True)
    environ = _environ(folder)
    yield "web_fetch, linked", Command([links / "web-fetch-tool"], query, environ)
    yield "web_fetch, console script", Command([installation.scripts / "web-fetch-tool"], query, environ)
    yield "the plain script on turbohtml", _script(installation, folder, query, "turbohtml")
    yield "import httpx, for comparison", Command([installation.python, "-c", "import httpx"])


def _script(installation: Installation, folder: Path, query: bytes, parser: str) -> Command:
    path = folder / f"plain-{parser}.py"
    path.write_text(_PLAIN.format(parser=parser))
    return Command([installation.python, path], query, _environ(folder))


def _environ(folder: Path) -> dict[str, str]:
    """A machine of its own, as far as a call looks at it, where the tool may ask a server on loopback."""
    return {
        "FERRULE_STATE": str(folder / "state"),
        "IKIGAI_CONFIG_DIR": str(folder / "configuration"),
        "FERRULE_FETCH_ALLOW": "loopback",
        "NO_PROXY": "*",
    }


def _problem(command: Command, page: Page) -> str:
    """Why a call is not worth timing; nothing where it gives the page."""
    argv = [str(part) for part in command.argv]
    done = subprocess.run(argv, input=command.stdin, capture_output=True, env={**os.environ, **command.environ})
    if done.returncode or not command.stdin:
        return done.stderr.decode()[-500:] or done.stdout.decode()[-500:]
    answer = json.loads(done.stdout)
    return "" if answer["success"] else f"{page.name}: {answer['error']}"
