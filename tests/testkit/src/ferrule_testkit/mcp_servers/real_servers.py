"""Servers that others wrote, as scripts/install-mcp-servers installs them. A test of one that is missing is skipped."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from ferrule_testkit import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

SERVERS = PROJECT / ".tools" / "mcp-servers"
_NODE_MODULES = SERVERS / "npm" / "node_modules" / "@modelcontextprotocol"


def node_server(name: str, *arguments: str) -> list[str]:
    """The command of a server of npm, such as `everything`."""
    _require("npm")
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is missing")
    return [os.path.realpath(node), str(_NODE_MODULES / f"server-{name}" / "dist" / "index.js"), *arguments]


def python_server(name: str, *arguments: str) -> list[str]:
    """The command of a server of Python, such as `git`, in its own environment."""
    _require(name)
    return [str(SERVERS / name / "bin" / "python"), "-m", f"mcp_server_{name}", *arguments]


def sqlite_server(database: Path) -> list[str]:
    """The command of the server of SQLite, which has no module to be run by."""
    _require("sqlite")
    return [str(SERVERS / "sqlite" / "bin" / "mcp-server-sqlite"), "--db-path", str(database)]


def _require(name: str) -> None:
    if not (SERVERS / name / "installed").exists():
        said = SERVERS / f"{name}.unavailable"
        pytest.skip(said.read_text().strip() if said.exists() else "scripts/install-mcp-servers was not run")
