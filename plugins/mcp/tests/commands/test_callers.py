"""A server's tool, called by each of those who call tools: a model, SQL, Python, and a server of all tools."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule_testkit.machine import Machine
from ferrule_testkit.mcp_servers import scripted_server
from ferrule_testkit.model.server import MODEL_KEY, ModelServer, calls, says

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel holds less"),
]

TOOL, TEXT = "talk_say", "It said so."
_SQL = """\
import duckdb, json, ferrule_duckdb
with duckdb.connect() as con:
    ferrule_duckdb.register(con, tools=("talk_say",), remember=0)
    rows = con.execute("SELECT a.text FROM (SELECT ask_ai('', 'Say hi.') AS a)").fetchall()
    print(json.dumps(rows))
"""
_PYTHON = """\
import asyncio, os
from ferrule.installed import InventorySnapshot, OK, execute
(tool,) = InventorySnapshot(["talk_say"]).document(60)["tools"]
assert (tool["state"], tool["schema"]["name"]) == (OK, "talk_say"), tool
print(asyncio.run(execute("talk_say", b'{"text": "hi"}', 20, os.environ)).stdout.decode())
"""
_DOCTOR = '"severity": "error"'


@pytest.fixture
def talking(machine: Machine, tmp_path: Path, model_server: ModelServer) -> Machine:
    """A machine with a server that has one tool, and a model."""
    scenario = tmp_path / "scenario.json"
    schema = {"type": "object", "properties": {"text": {"type": "string", "description": "A text."}}}
    listed = {"tools": [{"name": "say", "description": "Says it.", "inputSchema": schema}]}
    script = {"tools/list": [[{"result": listed}]], "tools/call": [[{"echo": True}]]}
    scenario.write_text(json.dumps({"on": script}))
    command = [sys.executable, "-I", "-S", scripted_server.__file__, str(scenario)]
    added = machine.ferrule("mcp", "add", "talk", "--allow", f"read={scenario}", "--", *command)
    assert added.code == 0, added.err
    machine.environment.update(
        ANTHROPIC_API_KEY=MODEL_KEY,
        ANTHROPIC_BASE_URL=model_server.url,
        FERRULE_ASK_TOOLS=TOOL,
        FERRULE_ASK_BUDGETS="20 20 20",
    )
    return machine


def run_python(machine: Machine, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=machine.environment, cwd=machine.work, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def said(answer: Any) -> dict[str, Any]:
    """What the server got, as it says it in the text of its answer."""
    found: dict[str, Any] = json.loads(answer["content"][0]["text"])
    return found


def test_a_model_calls_it(talking: Machine, model_server: ModelServer) -> None:
    model_server.script(calls(TOOL, {"text": "hi"}), says(TEXT))
    done = talking.ferrule("ask", "Say hi.", close_fds=True)
    assert (done.code, done.out) == (0, f"{TEXT}\n"), done.err
    first, second = model_server.bodies
    assert [one["name"] for one in first["tools"]] == [TOOL]
    (result,) = second["messages"][-1]["content"]
    assert '"hi"' in result["content"]
    assert not result.get("is_error")


def test_sql_calls_it(talking: Machine, model_server: ModelServer) -> None:
    model_server.script(calls(TOOL, {"text": "hi"}), says(TEXT))
    assert json.loads(run_python(talking, _SQL)) == [[TEXT]]
    (result,) = model_server.bodies[1]["messages"][-1]["content"]
    assert '"hi"' in result["content"]
    assert not result.get("is_error")


def test_python_calls_it(talking: Machine) -> None:
    assert said(json.loads(run_python(talking, _PYTHON)))["arguments"] == {"text": "hi"}


def test_an_executable_calls_it_and_a_lock_holds_it(talking: Machine, tmp_path: Path) -> None:
    assert talking.ferrule("lock").code == 0
    configuration = talking.home / ".config/ferrule/config.toml"
    configuration.write_text("locked = true\n")
    assert talking.ferrule("link", TOOL, "--to", str(tmp_path)).code == 0
    done = subprocess.run(
        [tmp_path / "talk-say-tool"], input=b'{"text": "hi"}', env=talking.environment, capture_output=True
    )
    assert said(json.loads(done.stdout))["arguments"] == {"text": "hi"}
    schemas = list((talking.home / ".local/share/ferrule/sources").rglob("*schema*.json"))
    assert schemas
    for path in schemas:
        os.chmod(path, 0o600)
        path.write_text(path.read_text().replace("Says it.", "Says something else."))
    done = subprocess.run(
        [tmp_path / "talk-say-tool"], input=b'{"text": "hi"}', env=talking.environment, capture_output=True
    )
    assert json.loads(done.stdout)["error_code"] == "TOOL_LOCKED_OUT"


def test_the_commands_for_admins_know_it(talking: Machine) -> None:
    assert talking.ferrule("validate", TOOL).code == 0
    assert talking.ferrule("check", TOOL, close_fds=True).code == 0
    diagnoses = talking.ferrule("doctor", "--json", close_fds=True).document
    assert [one for one in json.dumps(diagnoses).split("},") if _DOCTOR in one and "talk" in one] == []
