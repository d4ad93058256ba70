"""A Redis server of a test's own, from the system's packages.

with RedisServer(tmp_path) as server:
    ...                              # FERRULE_REDIS=server.url
"""

import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ferrule.storage import RedisConnection, StorageError
from ferrule_testkit.runs import wait_for


class RedisServer:
    """A server on loopback, without anything on the disk. Where the program is missing, the test is skipped.

    options: what stands on its command line, such as `--requirepass`, "secret".
    """

    def __init__(self, folder: Path, *options: str) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is not installed")
        self.port = _free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._log = (folder / f"redis-{self.port}.log").open("wb")
        fixed = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._command = [program, *fixed, "--dir", str(folder), *options]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "RedisServer":
        self._process = subprocess.Popen(self._command, stdout=self._log, stderr=self._log)
        wait_for(self._listens)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._log.close()

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    def ask(self, *command: str | int | bytes, url: str | None = None) -> Any:
        """What the server answers to a command."""
        connection = RedisConnection(url or self.url, 10.0)
        try:
            return connection.ask(command)[0]
        finally:
            connection.close()

    def names(self) -> list[str]:
        """The names of all that it keeps."""
        return sorted(name.decode() for name in self.ask("KEYS", "*"))

    def _listens(self) -> bool:
        try:
            self.ask("PING")
        except StorageError as failure:
            return "NOAUTH" in str(failure)
        return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
