"""Servers that others wrote, from npm and from Python's index: added, checked, linked and called as an admin would."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule_testkit import PATIENCE_SECONDS, PROJECT
from ferrule_testkit.machine import Finished, Machine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel holds less"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is missing"),
]

_CACHE = PROJECT / ".tools" / "mcp-cache"
_SERVERS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("servers.toml").read_text())
_OF_INSTALLERS = ("UV_", "PIP_", "npm_config_", "SSL_CERT_", "NODE_EXTRA_CA_CERTS")  # which index, and whom they trust
_TIMES = 2


class Place:
    """The machine of one test. work: a folder with a note, which is a repository."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine = machine
        self.name = name
        self.work = machine.work.resolve() / "notes"
        self.work.mkdir()
        (self.work / "note.txt").write_text("a note\n")
        subprocess.run(["git", "init", "--quiet", self.work], check=True, env={**os.environ, "HOME": str(machine.home)})
        home = machine.home.resolve() / f".local/share/ferrule/homes/mcp/{name}"
        self._places = {"{work}": str(self.work), "{home}": str(home)}
        machine.environment.update(
            {name: value for name, value in os.environ.items() if name.startswith(_OF_INSTALLERS)}
        )
        machine.environment.update(UV_CACHE_DIR=str(_CACHE / "uv"), npm_config_cache=str(_CACHE / "npm"))

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

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """What the client is shown of one call. The client is a process of its own: a late tool ends it."""
        words = [sys.executable, "-m", "ferrule_testkit.ikigai", "call", tool, json.dumps(self.fill(arguments))]
        environment = {**self.machine.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            words, capture_output=True, cwd=self.machine.work, env=environment, timeout=PATIENCE_SECONDS, check=False
        )
        assert done.stdout, (done.returncode, done.stderr[-500:])
        return json.loads(done.stdout)


@pytest.mark.parametrize("name", list(_SERVERS))
def test_a_server_of_others_is_added_checked_linked_and_called(name: str, machine: Machine) -> None:
    server, place = _SERVERS[name], Place(machine, name)
    added = place.add(server)
    assert added.code == 0, added.err
    tools = {one["name"].replace("-", "_"): one["tool"] for one in added.document["tools"]}
    assert len(tools) == server["tools"]
    assert "network" not in {one["key"] for one in added.document["wanted"]}
    assert machine.ferrule("validate", *tools.values()).code == 0
    linked = machine.ferrule("link", *tools.values(), "--json")
    assert {one["result"] for one in linked.document["tools"]} == {"linked"}
    for _ in range(_TIMES):
        for tool, arguments, *expected in filter(None, [server.get("good")]):
            answer = place.call(tools[tool], arguments)
            assert answer["tool_success"] is True
            assert answer["result"].get("success", True) is True, answer
            assert expected[0] in json.dumps(answer["result"])
        for tool, arguments in filter(None, [server.get("bad")]):
            answer = place.call(tools[tool], arguments)
            is_said = server.get("bad_is_success", False)
            assert answer["result"].get("success", True) is is_said, answer
            assert is_said or answer["result"]["error_code"] in ("TOOL_ERROR", "INVALID_INPUT", "PERMISSION_DENIED")
    assert f"Removed {name}" in machine.ferrule("mcp", "remove", name).out
