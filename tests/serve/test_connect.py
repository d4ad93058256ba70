"""Clients of MCP from npm, connected by `ferrule connect`: each starts the server, or lists it where it starts none."""

import os
import subprocess
from pathlib import Path

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.programs.node import client
from ferrule_testkit.serve.service import BIN, SECONDS
from ferrule_testkit.serve.tools import install

pytestmark = pytest.mark.slow

# What starts each, the words that list its servers, and the words by which it says that the server answered.
CLIENTS = {
    "claude-code": ("@anthropic-ai/claude-code-*/claude", "✔ Connected"),
    "codex": ("@openai/codex-*/vendor/*/bin/codex", "enabled"),
    "gemini": ("@google/gemini-cli/bundle/gemini.js", "Connected"),
    "opencode": ("opencode-linux-*/bin/opencode", "connected"),
    "qwen": ("@qwen-code/qwen-code/cli.js", "Connected"),
}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_that_was_connected_reaches_the_server(name: str, tmp_path: Path) -> None:
    pattern, words = CLIENTS[name]
    program = client(pattern)
    machine = install(Machine(tmp_path))
    environment = {
        **machine.environment,
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "DISABLE_AUTOUPDATER": "1",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    shared = [f"--env={key}={machine.environment[key]}" for key in ("HOME", "PYTHONPATH")]
    subprocess.run([BIN / "ferrule", "connect", name, "echo", *shared], env=environment, check=True, cwd=tmp_path)
    start = ["node", program] if program.endswith(".js") else [program]
    done = subprocess.run(
        [*start, "mcp", "list"], env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=SECONDS * 3, check=False,
    )  # fmt: skip
    told = done.stdout + done.stderr
    assert any("ferrule" in line and words in line for line in told.splitlines()), told
