"""Servers that others wrote, from npm and from Python's index: added, checked, linked and called as an admin would."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule_dev.testing import Server
from ferrule_testkit import PATIENCE_SECONDS, PROJECT
from ferrule_testkit.machine import BIN, Finished, Machine
from ferrule_testkit.mcp_servers import kept_installers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel holds less"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is missing"),
]

_CACHE = PROJECT / ".tools" / "mcp-cache"
_SERVERS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("servers.toml").read_text())
_OF_INSTALLERS = ("UV_", "PIP_", "npm_config_", "SSL_CERT_", "NODE_EXTRA_CA_CERTS")  # which index, and whom they trust
_TWICE = ("memory", "sqlite")
"""One of npm and one of Python, each with a state in its home, whose calls are made twice in every run."""
_IN_FULL = {
    "word": "excel writes files of an office with as many tools",
    "markitdown": "motherduck imports as much, excel has a folder",
    "repomix": "filesystem reads the same folder",
    "mobile": "obsidian calls a failure a success, playwright has as many tools",
    "gitcyan": "git has the same grants, and the same calls",
    "desktop": "playwright is called by nobody either, git may start a program",
    "thinking": "everything is from npm without a grant, memory answers as much",
    "pdf": "everything is from npm without a grant, filesystem refuses a file",
    "mermaid": "playwright imports as much",
    "exa": "playwright is called by nobody either",
    "eslint": "filesystem reads the same folder",
    "antv": "notion asks the same service with as many tools",
    "context7": "notion asks the same service",
    "firecrawl": "notion asks the same service with a key",
    "time": "sqlite is from Python's index without a grant",
    "fetch": "sqlite is from Python's index without a grant, vault fails in the network",
    "calculator": "sqlite is from Python's index without a grant",
    "arxiv": "sqlite has a state in its home, git has as many tools",
    "aws_docs": "sqlite is from Python's index without a grant",
    "duckduckgo": "vault asks the same service",
    "shell": "git may start a program and has the same folder",
}
"""Servers that are added in the tier `full`, each with those that show the same.

What is left has of npm and of Python's index: a server without a grant, one with a folder, one with a service and a
key, one with a state in its home, and one that imports more than the others; and one that may start a program.
"""
_CALLS = """\
import json, sys
from ferrule_testkit import ikigai
tools = ikigai.discover(ikigai.default_folders())
for name, arguments in json.load(sys.stdin):
    print(json.dumps(ikigai.call(tools[name], arguments)), flush=True)
"""


class Place:
    """The machine of one test. work: a folder with notes and a script, which is a repository."""

    def __init__(self, machine: Machine, name: str, service: Server) -> None:
        self.machine = machine
        self.name = name
        self.work = machine.work.resolve() / "notes"
        self._fill_work()
        home = machine.home.resolve() / f".local/share/ferrule/homes/mcp/{name}"
        host, port = service.address
        self._places = {"{work}": str(self.work), "{home}": str(home)}
        self._places |= {"{loopback}": f"{host}:{port}", "{port}": str(port)}
        machine.environment.update(
            {name: value for name, value in os.environ.items() if name.startswith(_OF_INSTALLERS)}
        )
        machine.environment.update(UV_CACHE_DIR=str(_CACHE / "uv"), npm_config_cache=str(_CACHE / "npm"))
        self._keep_installations(machine.home / "installers")

    def _fill_work(self) -> None:
        self.work.mkdir()
        (self.work / "note.txt").write_text("a note\n")
        (self.work / "zebra.md").write_text("a zebra\n")
        (self.work / "unused.js").write_text("let x = 1\n")
        (self.work / "eslint.config.mjs").write_text('export default [{rules: {"no-unused-vars": "error"}}]\n')
        own = {**os.environ, "HOME": str(self.machine.home)}
        subprocess.run(["git", "init", "--quiet", self.work], check=True, env=own)

    def _keep_installations(self, folder: Path) -> None:
        """Let npm and uv put what they have installed for the same command before."""
        folder.mkdir()
        for name, program in (
            ("npm", shutil.which("npm")),
            ("uv", shutil.which("uv", path=f"{BIN}:{os.environ['PATH']}")),
        ):
            if program:
                words = [sys.executable, "-I", "-S", kept_installers.__file__, str(_CACHE / "kept"), program]
                (folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
                (folder / name).chmod(0o700)
        self.machine.environment["PATH"] = f"{folder}:{self.machine.environment['PATH']}"

    def fill(self, value: Any) -> Any:
        """A value of the table with the folders of this machine."""
        if isinstance(value, str):
            for key, path in self._places.items():
                value = value.replace(key, path)
            return value
        if isinstance(value, list):
            return [self.fill(one) for one in value]
        return {key: self.fill(one) for key, one in value.items()} if isinstance(value, dict) else value

    def add(self, server: dict[str, Any]) -> Finished:
        """Add the server; the test is skipped where its packages cannot be had."""
        options, words = self.fill(server.get("options", [])), self.fill(server["command"]).split()
        done = self.machine.ferrule("mcp", "add", self.name, *options, "--json", "--", *words)
        if done.code and f"Starting {self.name}." not in done.err:
            pytest.skip(" ".join(done.err.split())[-300:])
        return done

    def call(self, calls: list[list[Any]]) -> list[Any]:
        """What the client is shown of each call. The client is a process of its own: a late tool ends it."""
        environment = {**self.machine.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", _CALLS],
            input=json.dumps(self.fill(calls)).encode(),
            capture_output=True,
            cwd=self.machine.work,
            env=environment,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(calls), (done.returncode, answers, done.stderr[-500:])
        return answers


@pytest.fixture
def service() -> Iterator[Server]:
    """What stands for the services that some servers ask."""
    with Server() as found:
        found.document("/chart", {"success": True, "resultObj": "http://127.0.0.1/chart-of-the-service.png"})
        found.document("/vault/", {"files": ["zebra.md"]})
        found.document("/v2/scrape", {"success": True, "data": {"markdown": "page-of-the-service", "metadata": {}}})
        library = {"id": "/zebra/docs", "title": "Zebra", "description": "Stripes.", "totalSnippets": 7}
        found.document("/context7/v2/libs/search", {"results": [library]})
        found.document("/v1/users/me", {"object": "user", "id": "1", "type": "bot", "name": "zebra-bot"})
        found.page("/page", "<html><body><p>page-of-the-service</p></body></html>")
        found.document("*", {"success": False, "error": "not found", "errorCode": 40400}, status=404)
        yield found


def cases() -> Iterator[Any]:
    """Each server, and how many times its calls are made: once or twice, and in `full` twice."""
    for name in _SERVERS:
        if name not in _IN_FULL:
            yield pytest.param(name, 2 if name in _TWICE else 1, id=name)
        if name not in _TWICE:
            yield pytest.param(name, 2, id=f"{name} twice", marks=pytest.mark.full)


@pytest.mark.timeout(400)  # its packages are installed
@pytest.mark.parametrize(("name", "times"), list(cases()))
def test_a_server_of_others_is_added_checked_linked_and_called(
    name: str, times: int, machine: Machine, service: Server
) -> None:
    server, place = _SERVERS[name], Place(machine, name, service)
    added = place.add(server)
    assert added.code == 0, added.err
    tools = {one["name"].replace("-", "_"): one["tool"] for one in added.document["tools"]}
    assert len(tools) == server["tools"]
    assert "network" not in {one["key"] for one in added.document["wanted"]}
    assert machine.ferrule("validate", *tools.values()).code == 0
    linked = machine.ferrule("link", *tools.values(), "--json")
    assert {one["result"] for one in linked.document["tools"]} == {"linked"}
    good, bad = server.get("good"), server.get("bad")
    calls = [[tools[tool], arguments] for tool, arguments, *_ in filter(None, [good, bad])] * times
    answers = iter(place.call(calls))
    for _ in range(times):
        if good:
            require_good(next(answers), good[2])
        if bad:
            require_bad(next(answers), is_said=server.get("bad_is_success", False))
    assert f"Removed {name}" in machine.ferrule("mcp", "remove", name).out


def require_good(answer: Any, expected: str) -> None:
    """A success that holds the text."""
    assert answer["tool_success"] is True
    assert answer["result"].get("success", True) is True, answer
    assert expected in json.dumps(answer["result"]), answer


def require_bad(answer: Any, *, is_said: bool) -> None:
    """A failure of the server's or ferrule's own. is_said: whether the server calls that a success."""
    assert answer["result"].get("success", True) is is_said, answer
    assert is_said or answer["result"]["error_code"] in ("TOOL_ERROR", "INVALID_INPUT", "PERMISSION_DENIED"), answer
