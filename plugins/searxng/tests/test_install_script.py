"""The script that installs SearXNG for tests, with a Python that only pretends to."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule_testkit import PROJECT

pytestmark = pytest.mark.process
# `python -m venv FOLDER` puts itself there; `-m pip` does what FAILS says, and everything else succeeds.
PYTHON = """#!/bin/sh
case "$2" in
venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
pip) echo "ERROR: $FAILS: https://host.example/simple/ in $PWD/x" >&2; [ -z "$FAILS" ] ;;
esac
"""

Install = Callable[[str], str]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Run a copy of the script in a project of its own. fails: what pip says when it fails, "" where it does not."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(PROJECT / "scripts" / "install-searxng", tmp_path / "scripts")
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)

    def install(fails: str) -> str:
        environment = {"PATH": os.environ["PATH"], "PYTHON": str(python), "FAILS": fails}
        command = ["sh", str(tmp_path / "scripts" / "install-searxng")]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stderr

    return install


def test_what_cannot_be_installed_is_recorded_with_its_reason_and_tried_again(install: Install, tmp_path: Path) -> None:
    told = install("no matching version")
    record = tmp_path / ".tools" / "searxng.unavailable"
    reason = "ERROR: no matching version: the package index in x"
    assert record.read_text() == f"SearXNG could not be installed: {reason}\n"
    assert reason in told
    assert not (tmp_path / ".tools" / "searxng").exists()
    assert "is installed" in install("")
    assert not record.exists()
    assert "is there" in install("it is not asked again")
