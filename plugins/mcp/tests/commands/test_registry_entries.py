"""`ferrule mcp add` with the `server.json` of a registry: its package is resolved, installed, started and called."""

import base64
import hashlib
import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule_testkit.machine import Machine
from ferrule_testkit.mcp_servers import scripted_server

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel holds less"),
]

SECRET = "s3cr3t-of-the-entry-2718"
_TOOL = {"name": "say", "description": "Says it.", "inputSchema": {"type": "object", "properties": {}}}
_SCENARIO = {"on": {"tools/list": [[{"result": {"tools": [_TOOL]}}]], "tools/call": [[{"file": "/proc/self/environ"}]]}}
_METADATA = "Metadata-Version: 2.1\nName: talk-mcp\nVersion: {version}\n"
_ENTRY_POINTS = "[console_scripts]\ntalk-mcp = talk_mcp:start\n"
_START = "\ndef start():\n    with open(sys.argv[1]) as file:\n        Server(json.load(file)).run()\n"
_NODE = """\
#!/usr/bin/env node
const answers = {
  "initialize": (asked) => ({protocolVersion: asked.protocolVersion, capabilities: {tools: {}}, serverInfo: {}}),
  "tools/list": () => ({tools: [TOOL]}),
  "tools/call": () => ({content: [{type: "text", text: JSON.stringify([process.argv[2], process.env.SKY_COLOUR])}]}),
}
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const asked = JSON.parse(line), answer = answers[asked.method]
  if (answer) console.log(JSON.stringify({jsonrpc: "2.0", id: asked.id, result: answer(asked.params)}))
})
"""


def write_wheel(folder: Path, version: str) -> None:
    """The wheel of a server that does what a scenario says."""
    code = Path(scripted_server.__file__).read_text().partition('if __name__ == "__main__"')[0] + _START
    metadata = f"talk_mcp-{version}.dist-info"
    files = {
        "talk_mcp/__init__.py": code,
        f"{metadata}/METADATA": _METADATA.format(version=version),
        f"{metadata}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{metadata}/entry_points.txt": _ENTRY_POINTS,
    }
    lines = [f"{name},sha256={_digest(text)},{len(text)}\n" for name, text in files.items()]
    with zipfile.ZipFile(folder / f"talk_mcp-{version}-py3-none-any.whl", "w") as archive:
        for name, text in {**files, f"{metadata}/RECORD": "".join(lines) + f"{metadata}/RECORD,,\n"}.items():
            archive.writestr(name, text)


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def write_entry(folder: Path, kind: str, identifier: str, version: str, argument: str) -> Path:
    """The `server.json` of a server with one package."""
    package: dict[str, Any] = {
        "registryType": kind,
        "identifier": identifier,
        "version": version,
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": argument}],
        "environmentVariables": [
            {"name": "SKY_COLOUR", "default": "blue"},
            {"name": "SKY_KEY", "isSecret": True, "isRequired": True},
        ],
    }
    file = folder / "server.json"
    file.write_text(json.dumps({"name": "io.github.ann/talk", "version": "1.0.0", "packages": [package]}))
    return file


@pytest.mark.slow
def test_a_package_of_an_index_is_installed_in_the_version_of_the_entry(machine: Machine, tmp_path: Path) -> None:
    wheels, scenario = tmp_path / "wheels", tmp_path / "scenario.json"
    wheels.mkdir()
    write_wheel(wheels, "1.0")
    write_wheel(wheels, "2.0")
    scenario.write_text(json.dumps(_SCENARIO))
    settings = machine.home / ".config/uv/uv.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"no-index = true\nfind-links = [{json.dumps(str(wheels))}]\n")
    machine.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels))
    file = write_entry(tmp_path, "pypi", "talk-mcp", "1.0", str(scenario))
    allowed = ["--allow", f"read={scenario}"]
    added = machine.ferrule("mcp", "add", "talk", str(file), "--set", f"SKY_KEY={SECRET}", *allowed, "--json")
    assert added.code == 0, added.err
    (package,) = added.document["environment"]["packages"]
    assert (package["name"], package["version"]) == ("talk-mcp", "1.0")
    environ = json.dumps(machine.ferrule("run", "talk_say", "{}").document)
    assert ("SKY_COLOUR=blue" in environ, "SKY_KEY=" in environ, SECRET in environ) == (True, True, False)
    assert SECRET not in added.out + added.err
    assert machine.ferrule("mcp", "refresh", "talk").out.startswith("talk is as it was.\n")
    assert machine.ferrule("mcp", "remove", "talk").code == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is missing")
def test_a_package_of_npm_is_installed_from_its_archive(machine: Machine, tmp_path: Path) -> None:
    project = tmp_path / "talk-mcp"
    project.mkdir()
    (project / "package.json").write_text(json.dumps({"name": "talk-mcp", "version": "1.0.0", "bin": "talk.js"}))
    (project / "talk.js").write_text(_NODE.replace("TOOL", json.dumps(_TOOL)))
    subprocess.run(["npm", "pack", "--silent", "--pack-destination", tmp_path], cwd=project, check=True)
    machine.environment["npm_config_offline"] = "true"
    file = write_entry(tmp_path, "npm", str(tmp_path / "talk-mcp-1.0.0.tgz"), "", "loud")
    added = machine.ferrule("mcp", "add", "talk", str(file), "--set", f"SKY_KEY={SECRET}", "--json")
    assert added.code == 0, added.err
    (package,) = added.document["environment"]["packages"]
    assert (package["name"], package["version"]) == ("talk-mcp", "1.0.0")
    answer = machine.ferrule("run", "talk_say", "{}").document
    assert json.loads(answer["content"][0]["text"]) == ["loud", "blue"]
    assert machine.ferrule("mcp", "remove", "talk").code == 0


def test_a_package_of_npm_without_npm_says_what_to_install(machine: Machine, tmp_path: Path) -> None:
    machine.environment["PATH"] = str(tmp_path)
    file = write_entry(tmp_path, "npm", "talk-mcp", "1.0.0", "loud")
    done = machine.ferrule("mcp", "add", "talk", str(file), "--set", f"SKY_KEY={SECRET}")
    assert (done.code, done.out) == (1, "")
    assert done.err == "Error: npm is not on PATH.\nInstall Node with npm, and try again.\n"
