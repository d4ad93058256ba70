"""The script that installs servers for tests, with a Python and an npm that only pretend to."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule_testkit import PROJECT

pytestmark = pytest.mark.process
NAMES = ("npm", "time", "git", "sqlite")
# `python -m venv FOLDER` puts itself there; pip and npm do what FAILS says, and note what they were asked for.
PROGRAM = """#!/bin/sh
case "$2" in
venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
*) echo "$*" >>"$ASKED"; echo "ERROR: $FAILS: https://host.example/simple/ in $PWD/x" >&2; [ -z "$FAILS" ] ;;
esac
"""

Install = Callable[[str], str]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Run a copy of the script in a project of its own. fails: what both say when they fail, "" where they do not."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(PROJECT / "scripts" / "install-mcp-servers", tmp_path / "scripts")
    for name in ("python", "npm"):
        (tmp_path / name).write_text(PROGRAM)
        (tmp_path / name).chmod(0o755)

    def install(fails: str) -> str:
        environment = {
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "PYTHON": str(tmp_path / "python"),
            "FAILS": fails,
            "ASKED": str(tmp_path / "asked"),
        }
        command = ["sh", str(tmp_path / "scripts" / "install-mcp-servers")]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stderr

    return install


def test_what_cannot_be_installed_is_recorded_with_its_reason_and_tried_again(install: Install, tmp_path: Path) -> None:
    folder = tmp_path / ".tools/mcp-servers"
    said = install("no matching version")
    for name in NAMES:
        reason = (
            f"The MCP servers ({name}) could not be installed: ERROR: no matching version: the package index in x\n"
        )
        assert (folder / f"{name}.unavailable").read_text() == reason
        assert f"{name} could not be installed" in said
        assert not (folder / name).exists()
    assert [line.split()[1] for line in install("").splitlines()] == list(NAMES)
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)


def test_what_is_there_is_kept_and_one_of_another_version_is_installed_anew(install: Install, tmp_path: Path) -> None:
    install("")
    asked = tmp_path / "asked"
    assert "--ignore-scripts" in asked.read_text()
    assert "mcp<2" in asked.read_text()
    asked.unlink()
    assert install("it is not asked again") == ""
    assert not asked.exists()
    (tmp_path / ".tools/mcp-servers/git/installed").write_text("mcp-server-git==1\n")
    assert install("").endswith("git is installed.\n")
    assert asked.read_text().count("\n") == 1
