"""Programs from npm, as scripts/install-node-programs installs them, and a Node that is new enough for them."""

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ferrule_testkit import PROJECT

_PROGRAMS = PROJECT / ".node"
_CLIENTS = _PROGRAMS / "clients"
_MODULES = _PROGRAMS / "node_modules"
_OLDEST = (22, 19)

INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
CONFORMANCE = "@modelcontextprotocol/conformance/dist/index.js"
TYPESCRIPT_SDK = "@modelcontextprotocol/sdk/package.json"
CONFORMANCE_2026 = "conformance-of-2026-07-28/dist/index.js"
BUNDLER = "esbuild/package.json"


def command(program: str) -> list[str]:
    """What starts a program. Where it is not installed, the test is skipped."""
    if not (_MODULES / program).exists():
        pytest.skip(_why_missing(_PROGRAMS))
    return [_node(), str(_MODULES / program)]


def script(name: str, needs: str) -> list[str]:
    """What starts a script of tests/node, which is handed the folder of the packages. needs: a file of one of them."""
    node, _ = command(needs)
    return [node, str(PROJECT / "tests/node" / name), str(_MODULES)]


@functools.cache
def _node() -> str:
    """That of npm's package, which there is not for every system, else the machine's own."""
    for node in (str(_MODULES / ".bin/node"), shutil.which("node")):
        if node and Path(node).exists() and _version(node) >= _OLDEST:
            return node
    pytest.skip(f"no Node of version {'.'.join(map(str, _OLDEST))} or newer is installed")


def _version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(number) for number in re.findall(r"\d+", said)[:2])


def client(pattern: str) -> str:
    """A client of MCP that a package brings for this system, by a pattern of its path; skips the test as above."""
    found = sorted((_CLIENTS / "node_modules").glob(pattern))
    if not found:
        pytest.skip(_why_missing(_CLIENTS))
    return str(found[0])


def _why_missing(folder: Path) -> str:
    said = folder / "unavailable"
    return said.read_text().strip() if said.exists() else "scripts/install-node-programs was not run"
