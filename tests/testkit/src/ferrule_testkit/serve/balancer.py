"""nginx before several servers, with the configuration that the documentation shows."""

import shutil
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from ferrule_testkit import PROJECT
from ferrule_testkit.runs import wait_for

_SHOWN = PROJECT / "docs/how-to/nginx.conf"
_PORT, _REPLICAS = 8700, (8701, 8702)
_AROUND = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/shown.conf;
}}
"""


def free_ports(count: int) -> list[int]:
    """Ports of loopback on which nobody listens."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


class Balancer:
    """nginx as long as the `with` block lasts; where it is missing, the test is skipped. url: of MCP behind it."""

    def __init__(self, folder: Path, port: int, replicas: Sequence[int]) -> None:
        self._program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
        if self._program is None:
            pytest.skip("nginx is not installed")
        self._folder, self._port = folder, port
        self.url = f"http://127.0.0.1:{port}/mcp"
        shown = _SHOWN.read_text()
        for written, real in zip((_PORT, *_REPLICAS), (port, *replicas), strict=True):
            assert f":{written}" in shown
            shown = shown.replace(f":{written}", f":{real}")
        (folder / "shown.conf").write_text(shown)
        (folder / "nginx.conf").write_text(_AROUND.format(folder=folder))

    def __enter__(self) -> "Balancer":
        words = [str(self._program), "-p", str(self._folder), "-e", str(self._folder / "nginx.log")]
        self._process = subprocess.Popen([*words, "-c", str(self._folder / "nginx.conf")], stdin=subprocess.DEVNULL)
        wait_for(self._listens)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def _listens(self) -> bool:
        assert self._process.poll() is None, (self._folder / "nginx.log").read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0
