"""Both search providers on servers of their own, and the executables of the tools that search in front of them."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ferrule_dev.testing import Exchange, Server
from ferrule_testkit.runs import Run, run_forked
from ferrule_testkit.schemas.declared_results import require_declared_shape
from ferrule_testkit.search.server import (
    BRAVE_KEY,
    BRAVE_PATH,
    GOOGLE_KEY,
    GOOGLE_PATH,
    JSON,
    KEYS,
    Brave,
    Google,
    asked,
    some_hits,
)

FOLDER = Path(sys.executable).parent
_PACKAGES = ("ferrule", "ferrule_brave", "ferrule_fetch", "ferrule_google", "ferrule_research", "ferrule_websearch")

Route = Callable[[Exchange], None]


class Web:
    """Brave and Google, each with thirty results, until a test puts something else in their place."""

    def __init__(self, folder: Path, brave: Server, google: Server) -> None:
        self.brave = brave
        self.google = google
        self._folder = folder
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            **KEYS,
            "FERRULE_BRAVE_ENDPOINT": brave.url + BRAVE_PATH,
            "FERRULE_GOOGLE_ENDPOINT": google.url + GOOGLE_PATH,
            "FERRULE_STATE": str(folder / "state"),
            "FERRULE_WRAPPERS": "",  # or else the second of two equal searches would ask nobody
            "FERRULE_CONFIG": str(folder / "configuration" / "config.toml"),
            "IKIGAI_CONFIG_DIR": str(folder / "configuration"),
        }
        brave.route("*", Brave(some_hits(30, "brave.example")))
        google.route("*", Google(some_hits(30, "google.example")))

    @property
    def asked_brave(self) -> list[dict[str, str]]:
        """The query strings that Brave got."""
        return asked(self.brave)

    @property
    def asked_google(self) -> list[dict[str, str]]:
        """The query strings that Google got, without those of the key."""
        hidden = ("key", "cx")
        return [{name: value for name, value in one.items() if name not in hidden} for one in asked(self.google)]

    def search(
        self, query: str = "some words", *, environment: Mapping[str, str] | None = None, **arguments: Any
    ) -> Run:
        """Call the executable of web_search, see `call`."""
        return self.call("web_search", {"query": query, **arguments}, environment)

    def call(self, tool: str, arguments: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Run:
        """Call an executable, and make sure that no key and no process is left."""
        data = json.dumps(arguments).encode()
        merged = {**self.environment, **(environment or {})}
        executable = FOLDER / f"{tool.replace('_', '-')}-tool"
        done = run_forked(executable, data, environment=merged, cwd=self._folder, packages=_PACKAGES)
        for key in (BRAVE_KEY, GOOGLE_KEY):
            assert key.encode() not in done.stdout + done.stderr
        assert done.left == [], done.left
        return done

    def found(self, query: str = "some words", **arguments: Any) -> dict[str, Any]:
        """The document of a search that succeeds."""
        done = self.search(query, **arguments)
        assert done.exit_code == 0, done.stdout
        require_declared_shape("web_search", done.document)
        return done.document

    def answer(self, tool: str, arguments: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Any:
        """The document of a call that succeeds, which has the shape that the tool declares."""
        done = self.call(tool, arguments, environment)
        assert done.exit_code == 0, done.stdout
        require_declared_shape(tool, done.document)
        return done.document

    def configure(self, text: str) -> None:
        """Write config.toml."""
        path = Path(self.environment["FERRULE_CONFIG"])
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def lens(self, name: str, text: str) -> None:
        """Write a lens of the admin."""
        folder = Path(self.environment["FERRULE_CONFIG"]).parent / "lenses"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@contextmanager
def research_web(folder: Path) -> Iterator[Web]:
    """A web with both providers, as long as the block lasts."""
    with Server() as brave, Server() as google:
        yield Web(folder, brave, google)


def answers(document: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None) -> Route:
    """A route that answers everything with a document."""
    return lambda exchange: exchange.answer(json.dumps(document).encode(), JSON, status=status, headers=headers)


def fails(exchange: Exchange) -> None:
    """A route of a provider that is down."""
    exchange.answer(b'{"error": {"detail": "oh"}}', JSON, status=503)


def events(done: Run) -> list[dict[str, Any]]:
    """The events on stderr."""
    return [json.loads(line) for line in done.stderr.splitlines() if line.startswith(b"{")]
