"""A key that a tool can do without, and that cannot be one: asking and the host do the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule_ask.keys import Keys
from ferrule_testkit.model.offered_tools import add_to_path, executed

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("keyless")]
TOOL = """
from ferrule import Credential, ToolError, hookimpl

@hookimpl
def credentials():
    return [Credential("api_key", environment="TIDES_API_KEY", path="tides.api_key", required=False)]
@hookimpl
def schema():
    return {"name": "tides", "description": "Tides.", "parameters": {"type": "object", "properties": {}}}
@hookimpl
def execute(arguments, context):
    try:
        return {"key": bool(context.credential("api_key"))}
    except ToolError as error:
        return {"key": False, "code": error.code}
"""
WITHOUT = {"key": False, "code": "AUTH_MISSING"}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a tool whose key is optional."""
    site = tmp_path / "tides"
    (site / "tides-1.0.dist-info").mkdir(parents=True)
    (site / "tides-1.0.dist-info/entry_points.txt").write_text("[ferrule.tools]\ntides = tides\n")
    (site / "tides.py").write_text(TOOL)
    add_to_path(site, monkeypatch)
    return site


@pytest.mark.parametrize(
    ("value", "answer", "warned"),
    [
        ("", WITHOUT, ""),
        ("your-api-key-here", WITHOUT, "is a placeholder, and no key. It is done without."),
        ("k3y of-two-words", WITHOUT, "so it cannot be a key. It is done without."),
        ("k3y-0123456789", {"key": True}, ""),
    ],
)
def test_what_cannot_be_a_key_counts_as_none(
    value: str, answer: dict[str, object], warned: str, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDES_API_KEY", value)
    keys = Keys()
    result = executed("tides", keys=keys)
    assert (json.loads(result.content), result.is_error) == (answer, False)
    assert "".join(keys.warnings).endswith(warned)
    assert len(keys.warnings) == bool(warned)
    assert not value or value not in str(keys.warnings)
    command = [sys.executable, "-m", "ferrule", "run", "tides", "{}"]
    environ = {**os.environ, "PYTHONPATH": str(site)}
    by_host = subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert json.loads(by_host.stdout) == answer
