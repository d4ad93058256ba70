"""The search tools of one kind, such as news, with a server in the place of all providers."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ferrule_dev.testing import Request, Server
from ferrule_testkit.runs import Run, run_forked
from ferrule_testkit.schemas.declared_results import require_declared_shape
from ferrule_testkit.search.posted import TAVILY_KEY
from ferrule_testkit.search.server import BRAVE_KEY, BRAVE_PATH, GOOGLE_KEY, GOOGLE_PATH, KEYS, params_of

_PACKAGES = ("ferrule", "ferrule_brave", "ferrule_research", "ferrule_websearch")
_PLACES = {"brave": BRAVE_PATH, "google": GOOGLE_PATH, "tavily": "/tavily", "gdelt": "/gdelt"}
_SECRETS = (BRAVE_KEY, GOOGLE_KEY, TAVILY_KEY)


class KindsWeb:
    """All providers, which have keys, at one server, and the executable of one tool."""

    def __init__(self, tool: str, folder: Path, server: Server) -> None:
        self.tool = tool
        self.server = server
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            **KEYS,
            "TAVILY_API_KEY": TAVILY_KEY,
            **{f"FERRULE_{name.upper()}_ENDPOINT": server.url + path for name, path in _PLACES.items()},
            "FERRULE_SEARXNG_URL": server.url + "/searxng",
            "FERRULE_STATE": str(folder / "state"),
            "FERRULE_WRAPPERS": "",  # or else the second of two equal searches would ask nobody
            "FERRULE_CONFIG": str(folder / "configuration" / "config.toml"),
            "IKIGAI_CONFIG_DIR": str(folder / "configuration"),
        }

    def run(self, *, environment: Mapping[str, str] | None = None, **arguments: Any) -> Run:
        """Call the executable, and make sure that no key and no process is left."""
        return self._run(self.tool, {"query": "some words", **arguments}, environment)

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The document of another tool on the same machine, which succeeds."""
        done = self._run(tool, arguments)
        assert done.exit_code == 0, done.stdout
        return done.document

    def _run(self, tool: str, arguments: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Run:
        executable = Path(sys.executable).parent / f"{tool.replace('_', '-')}-tool"
        data = json.dumps(arguments).encode()
        merged = {**self.environment, **(environment or {})}
        done = run_forked(executable, data, environment=merged, cwd=self.folder, packages=_PACKAGES)
        for key in _SECRETS:
            assert key.encode() not in done.stdout + done.stderr
        assert done.left == [], done.left
        return done

    def found(self, **arguments: Any) -> dict[str, Any]:
        """The document of a search that succeeds."""
        done = self.run(**arguments)
        assert done.exit_code == 0, done.stdout
        require_declared_shape(self.tool, done.document)
        return done.document

    def failed(self, **arguments: Any) -> dict[str, Any]:
        """The error of a search that fails: one JSON object, and no traceback."""
        done = self.run(**arguments)
        assert done.exit_code == 1, done.stdout
        assert b"Traceback" not in done.stdout + done.stderr
        return done.document

    def asked(self, path: str) -> list[dict[str, Any]]:
        """What the requests at a path asked for: their JSON, or else their query strings without keys."""
        requests = [one for one in self.server.requests if one.target.partition("?")[0] == path]
        return [_parameters(one) for one in requests]


def _parameters(request: Request) -> dict[str, Any]:
    if request.body:
        posted: dict[str, Any] = json.loads(request.body)
        return posted
    return {name: value for name, value in params_of(request).items() if name not in ("key", "cx")}


@contextmanager
def kinds_web(tool: str, folder: Path) -> Iterator[KindsWeb]:
    """The machine, as long as the block lasts."""
    with Server() as server:
        yield KindsWeb(tool, folder, server)


def ignored(document: Mapping[str, Any]) -> dict[str, str]:
    """What had no effect, with the reasons."""
    return {one["name"]: one["why"] for one in document.get("ignoredParameters", [])}
