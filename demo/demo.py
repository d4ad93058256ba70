"""The main job in half a minute: tools are listed, checked and linked, and an agent fetches a page through one.

The page stands beside this file and is served on loopback; no key is needed, and no network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/testkit/src"))

from ferrule_testkit import ikigai  # noqa: E402 - the client that the tests use, which behaves as the agent does

SCRIPTS = Path(sys.executable).parent


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves the folder of this file, and keeps its log to itself."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    """Show the five steps."""
    os.environ["FERRULE_FETCH_ALLOW"] = "loopback"  # which is where this file is served
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FERRULE_STATE"] = str(Path(folder, "state"))  # what the person has accepted is another matter
        tools = Path(folder, ".ikigai", "tools")
        title("1. Which tools are installed, and are they sound?")
        ferrule("list", "--check")
        title("2. Give the page fetcher to the agent: an executable in the folder that it scans.")
        ferrule("link", "web_fetch", "example", home=folder)
        title("3. The agent starts, and asks every executable there for its schema.")
        found = ikigai.discover([str(tools)])
        show_schema(found["web_fetch"])
        title("4. The agent calls the tool: JSON on stdin, JSON on stdout.")
        with served() as address:
            fetch(found["web_fetch"], {"url": f"{address}/page.html"})
        title("5. A call that goes wrong says why.")
        fetch(found["web_fetch"], {"url": "page.html", "lines": 20})
    title("That was the main job. Go on with `. .venv/bin/activate` and `ferrule new`; README.md says more.")


def title(text: str) -> None:
    """A line that stands out where the terminal can show it."""
    has_colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(f"\n\033[1m{text}\033[0m" if has_colour else f"\n{text}", flush=True)


def ferrule(*arguments: str, home: str | None = None) -> None:
    """Run the admin's command, and show it as it would be typed. home: a home other than the person's own."""
    print(f"$ ferrule {' '.join(arguments)}", flush=True)
    subprocess.run(
        [SCRIPTS / "ferrule", *arguments], check=True, env={**os.environ, **({"HOME": home} if home else {})}
    )


def show_schema(tool: ikigai.Tool) -> None:
    """The schema, indented."""
    print(f"$ {Path(tool.path).name} --schema", flush=True)
    print(json.dumps(tool.schema, indent=2))


class served:
    """While it is entered, the folder of this file is served on loopback; gives the address."""

    def __enter__(self) -> str:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=Path(__file__).parent))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def fetch(tool: ikigai.Tool, arguments: dict[str, object]) -> None:
    """Call the tool as the agent does, and show the answer so that a person can read it."""
    print(f"$ echo '{json.dumps(arguments)}' | {Path(tool.path).name}", flush=True)
    answer = ikigai.call(tool, arguments)["result"]
    content = answer.pop("content", None)
    print(json.dumps(answer, indent=2, ensure_ascii=False))
    if content is not None:
        print("content:\n\n" + "\n".join(f"  │ {line}" for line in content.split("\n")))


if __name__ == "__main__":
    main()
