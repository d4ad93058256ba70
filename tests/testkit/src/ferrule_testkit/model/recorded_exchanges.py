"""Exchanges with the real Messages API, as they were recorded for the tests of the official SDK.

They ship with the SDK's sources, and not with what is installed of it: the sources of the installed version are
fetched by name from the package index, once in a run of the tests.
"""

import fcntl
import json
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from ferrule_testkit.model.server import Reply

_PLACE = "__inline_snapshot__"
_OF_THE_CONNECTION = ("connection", "content-length", "content-encoding", "transfer-encoding")


class Exchange(NamedTuple):
    """A request and its response. path: with the query. request, body: as JSON; text for a stream of events."""

    path: str
    request: dict[str, Any]
    status: int
    headers: dict[str, str]
    body: Any

    @property
    def is_streamed(self) -> bool:
        """Whether the response is a stream of events."""
        return isinstance(self.body, str)

    @property
    def content(self) -> list[dict[str, Any]]:
        """The blocks of the response."""
        blocks: list[dict[str, Any]] = self.body["content"]
        return blocks

    @property
    def reply(self) -> Reply:
        """The response, to be answered by a server."""
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OF_THE_CONNECTION}
        headers.pop("content-type", None)
        return Reply(json.dumps(self.body).encode(), self.status, headers)


class Tape(NamedTuple):
    """The exchanges of one conversation."""

    name: str
    exchanges: list[Exchange]

    @property
    def is_streamed(self) -> bool:
        """Whether any response is a stream of events, which `ferrule_ask` never asks for."""
        return any(one.is_streamed for one in self.exchanges)


def tapes(folder: Path) -> list[Tape]:
    """All conversations. folder: where the sources are kept, shared by all workers of a run."""
    with tarfile.open(_sources(folder)) as sources:
        members = [one for one in sources.getmembers() if _PLACE in one.name and one.name.endswith(".json")]
        return [Tape(one.name.partition(_PLACE)[2], _exchanges(sources, one)) for one in members]


def _exchanges(sources: tarfile.TarFile, member: tarfile.TarInfo) -> list[Exchange]:
    file = sources.extractfile(member)
    assert file is not None
    return [
        Exchange(
            "/" + one["request"]["url"].split("/", 3)[3],
            one["request"]["body"],
            one["response"]["status_code"],
            one["response"]["headers"],
            one["response"]["body"],
        )
        for one in json.load(file)
    ]


def _sources(folder: Path) -> Path:
    name = f"anthropic=={version('anthropic')}"
    place = folder / name
    # pip asks a package for its metadata even where it is only to fetch it; what that takes is installed for the tests.
    options = ["--quiet", "--no-deps", "--no-binary", "anthropic", "--no-build-isolation", "--dest", str(place)]
    with (folder / "recorded-exchanges.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(place.glob("*.tar.gz")):
            done = subprocess.run(
                [sys.executable, "-m", "pip", "download", *options, name], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
    return next(place.glob("*.tar.gz"))
