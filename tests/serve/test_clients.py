"""The snippets of docs/how-to/connect-mcp-clients.md, by the clients themselves, else by the official client."""

import asyncio
import json
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.programs.node import INSPECTOR, client, command
from ferrule_testkit.serve.service import BIN, ERAS, SECONDS, HttpService, connected
from ferrule_testkit.serve.tools import install

pytestmark = pytest.mark.slow


PAGE = (Path(__file__).parents[2] / "docs/how-to/connect-mcp-clients.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
WRITTEN = "http://127.0.0.1:8700/mcp"
TOKEN = "a-token-of-the-tests-0815"
PROGRAMS = {
    "claude": "@anthropic-ai/claude-code-*/claude",
    "codex": "@openai/codex-*/vendor/*/bin/codex",
}


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)


def servers(found: Any) -> Iterator[dict[str, Any]]:
    """Each server that a client's configuration names, wherever it stands there."""
    if isinstance(found, dict):
        if "command" in found or "url" in found:
            yield found
        for value in found.values():
            yield from servers(value)


SERVERS = [
    pytest.param(server, id=f"{section}-{'http' if 'url' in server else 'stdio'}")
    for section in SECTIONS
    for text in [*blocks(section, "json"), *blocks(section, "toml")]
    for server in servers(json.loads(text) if text.startswith("{") else tomllib.loads(text))
]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return install(Machine(tmp_path_factory.mktemp("clients")))


@pytest.fixture(scope="module")
def service(machine: Machine) -> Iterator[HttpService]:
    with HttpService(
        {**machine.environment, "FERRULE_SERVE_TOKEN": TOKEN}, "--workers=2", work=machine.work
    ) as service:
        yield service


@pytest.fixture
def shell(machine: Machine, service: HttpService, tmp_path: Path) -> "Shell":
    return Shell(machine, service, tmp_path)


class Shell:
    """Runs the lines of the page with the programs of the tests, against the server of the tests."""

    def __init__(self, machine: Machine, service: HttpService, folder: Path) -> None:
        self.work, self.home = folder / "project", folder / "home"
        self._url = service.url
        self._programs = folder / "programs"
        for each in (self.work, self.home, self._programs):
            each.mkdir()
        self._environment = {
            **machine.environment,
            "PATH": f"{self._programs}:{BIN}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "FERRULE_SERVE_TOKEN": TOKEN,
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def provide(self, name: str, words: list[str]) -> None:
        """Let a command of the page be a program of the tests."""
        program = self._programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        program.chmod(0o755)

    def run(self, line: str) -> str:
        """What a line prints."""
        done = subprocess.run(
            ["sh", "-c", line.replace(WRITTEN, self._url)],
            env=self._environment, cwd=self.work, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS * 2, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.mark.parametrize("server", [entry for entry in SERVERS if "url" not in entry.values[0]])  # type: ignore[operator] # a parameter's values are objects to type checkers
def test_the_server_that_a_snippet_starts_serves_tools(server: dict[str, Any], machine: Machine) -> None:
    from mcp.client.stdio import StdioServerParameters

    async def listed() -> set[str]:
        environment = {**machine.environment, **server.get("env", {})}
        started = StdioServerParameters(command=str(BIN / server["command"]), args=server["args"], env=environment)
        async with connected(started, ERAS[0]) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert server["command"] == "ferrule"
    assert "echo" in asyncio.run(listed())


@pytest.mark.parametrize("server", [entry for entry in SERVERS if "url" in entry.values[0]])  # type: ignore[operator] # a parameter's values are objects to type checkers
def test_what_a_snippet_sends_is_what_the_server_wants(server: dict[str, Any], service: HttpService) -> None:
    assert server["url"] == WRITTEN
    assert service.post("tools/list", {})[0] == 401
    assert service.post("tools/list", {}, **headers_of(server))[0] == 200


def headers_of(server: Mapping[str, Any]) -> dict[str, str]:
    """The headers that a client makes of its configuration."""
    if "bearer_token_env_var" in server:
        assert server["bearer_token_env_var"] == "FERRULE_SERVE_TOKEN"
        return {"Authorization": f"Bearer {TOKEN}"}
    return {name: re.sub(r"\$\{[^}]+\}|<token>", TOKEN, value) for name, value in server["headers"].items()}


def test_claude_code_connects_to_both_servers(shell: Shell) -> None:
    shell.provide("claude", [client(PROGRAMS["claude"])])
    *adding, listing = blocks("Claude Code", "sh")[0].splitlines()
    for line in adding:
        shell.run(line)
    told = shell.run(listing)
    assert [line.partition(":")[0] for line in told.splitlines() if line.endswith("Connected")] == [
        "ferrule",
        "ferrule-http",
    ]


def test_codex_writes_the_configuration_that_the_page_shows(shell: Shell) -> None:
    shell.provide("codex", [client(PROGRAMS["codex"])])
    folder = shell.home / ".codex"
    folder.mkdir()
    for line in blocks("Codex CLI", "sh")[0].splitlines():
        shell.run(line.replace(WRITTEN, "http://written"))
    written = (folder / "config.toml").read_text().replace("http://written", WRITTEN)
    assert tomllib.loads(written) == tomllib.loads(blocks("Codex CLI", "toml")[0])
    assert {entry["name"] for entry in json.loads(shell.run("codex mcp list --json"))} == {"ferrule", "ferrule-http"}


@pytest.mark.parametrize("number", [0, 1])
def test_the_inspector_lists_the_tools(number: int, machine: Machine, shell: Shell) -> None:
    node, program = command(INSPECTOR)
    shell.provide("npx", ["sh", "-c", 'program=$1; shift 2; exec "$0" "$program" "$@"', node, program])
    line = blocks("The inspector", "sh")[0].splitlines()[number]
    names = ("HOME", "PYTHONPATH")
    handed = " ".join(f"-e {name}='{machine.environment[name]}'" for name in names)
    listed = json.loads(shell.run(f"{line} {handed if number == 0 else ''} --connect-timeout 60000"))
    assert "echo" in {tool["name"] for tool in listed.get("result", listed)["tools"]}
