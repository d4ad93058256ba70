"""Servers of others, from the package index and from npm: installed, started without a network, and repaired."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from ferrule_mcp.environment.breaks import explain_failure, repair
from ferrule_mcp.environment.installation import install
from ferrule_mcp.environment.verification import verify
from ferrule_mcp.launch.command_line import parse_command

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule_mcp.environment.record import Environment

pytestmark = [pytest.mark.slow, pytest.mark.index, pytest.mark.timeout(600)]

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture(scope="session")
def cut_off() -> list[str]:
    """What a command begins with to have no network; nothing where this user cannot take it away."""
    words = ["unshare", "--net"]
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [shutil.which("unshare") or "unshare", "--net"]


def greet(environment: Environment, cut_off: list[str], folder: Path) -> tuple[str, str]:
    """Start the server with no PATH and no network, initialize it; the name that it gives itself, and its stderr."""
    process = subprocess.Popen(
        [*cut_off, *environment.command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, cwd=folder, env={"PATH": "", "HOME": str(folder)},
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(INITIALIZE) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    _, errors = process.communicate()
    return json.loads(line)["result"]["serverInfo"]["name"] if line else "", errors


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("uvx mcp-server-time --local-timezone=UTC", "mcp-server-time"),
        ("pipx run mcp_server_calculator", "mcp-server-calculator"),
        pytest.param(
            "npx -y @modelcontextprotocol/server-everything", "@modelcontextprotocol/server-everything", marks=needs_npm
        ),
    ],
)  # fmt: skip
def test_a_start_resolves_nothing(tmp_path, cut_off, text, package):
    environment = install(parse_command(shlex.split(text), tmp_path), tmp_path / "server")
    name, errors = greet(environment, cut_off, tmp_path)
    assert name, errors
    assert package in [one.name for one in environment.packages]
    assert all(one.digest.startswith("sha256=") and one.version for one in environment.packages)
    assert verify(environment) == []
    assert environment.version


def test_a_server_for_the_first_sdk_is_repaired(tmp_path, cut_off):
    launch = parse_command(["uvx", "mcp-server-sqlite", "--db-path", str(tmp_path / "a.db")], tmp_path)
    name, errors = greet(install(launch, tmp_path / "server"), cut_off, tmp_path)
    assert not name
    found = repair(launch, errors)
    assert found is not None
    environment = install(found.launch, tmp_path / "server")
    name, errors = greet(environment, cut_off, tmp_path)
    assert name == "sqlite", errors
    assert found.reason in environment.notes


@needs_npm
def test_a_part_that_an_install_script_brings_is_named(tmp_path, cut_off):
    launch = parse_command(["npx", "-y", "mcp-server-sqlite-npx", str(tmp_path / "a.db")], tmp_path)
    environment = install(launch, tmp_path / "server")
    name, errors = greet(environment, cut_off, tmp_path)
    assert not name
    assert environment.left_out_scripts == ["sqlite3"]
    assert "--allow-scripts sqlite3" in str(explain_failure(environment, errors))
