"""`ferrule mcp add` with bundles and the entries of registries, from the file to the call of a tool."""

import json
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule_testkit.machine import Machine
from ferrule_testkit.mcp_servers import scripted_server
from ferrule_testkit.programs.mcp_servers import SECOND, serve

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel holds less"),
]

SECRET = "s3cr3t-of-the-bundle-1893"
_TOOL = {"name": "say", "description": "Says it.", "inputSchema": {"type": "object", "properties": {}}}
_SCENARIO = {"on": {"tools/list": [[{"result": {"tools": [_TOOL]}}]], "tools/call": [[{"file": "/proc/self/environ"}]]}}
MANIFEST: dict[str, Any] = {
    "manifest_version": "0.3",
    "name": "talk",
    "version": "1.2.3",
    "server": {
        "type": "python",
        "entry_point": "server.py",
        "mcp_config": {
            "command": "python",
            "args": ["${__dirname}/server.py", "${__dirname}/scenario.json"],
            "env": {"SKY_KEY": "${user_config.key}", "SKY_COLOUR": "${user_config.colour}"},
        },
    },
    "user_config": {
        "key": {"type": "string", "title": "Key", "sensitive": True, "required": True},
        "colour": {"type": "string", "default": "blue"},
    },
}


def write_bundle(path: Path, manifest: object, more: dict[str, str | zipfile.ZipInfo] | None = None) -> Path:
    files = {"server.py": Path(scripted_server.__file__).read_text(), "scenario.json": json.dumps(_SCENARIO)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if manifest is not None:
            archive.writestr("manifest.json", json.dumps(manifest))
        for name, text in {**files, **(more or {})}.items():
            archive.writestr(text if isinstance(text, zipfile.ZipInfo) else name, "../../x" if name == "link" else text)
    return path


def list_left(machine: Machine) -> list[str]:
    """What an addition that failed has left: locks stay, and a home that the server never wrote to."""
    data = machine.home / ".local/share/ferrule"
    found = [*data.glob("sources/*"), *data.glob("environments/mcp/*")]
    return [path.name for path in found if not path.name.endswith(".lock")]


@pytest.mark.slow
def test_a_bundle_is_added_with_its_answers_and_its_secret_is_a_credential(machine: Machine, tmp_path: Path) -> None:
    file = write_bundle(tmp_path / "talk.mcpb", MANIFEST)
    added = machine.ferrule("mcp", "add", "talk", str(file), "--set", f"key={SECRET}", "--set", "colour=red", "--json")
    assert added.code == 0, added.err
    assert [one["tool"] for one in added.document["tools"]] == ["talk_say"]
    environ = json.dumps(machine.ferrule("run", "talk_say", "{}").document)
    assert ("SKY_COLOUR=red" in environ, "SKY_KEY=" in environ, SECRET in environ) == (True, True, False)
    assert json.loads(machine.credentials.read_text())["mcp"]["talk"]["key"] == SECRET
    files = [path for path in (machine.home / ".local").rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert SECRET not in added.out + added.err
    assert machine.ferrule("mcp", "refresh", "talk").out == "talk is as it was.\n"
    assert machine.ferrule("mcp", "remove", "talk").code == 0
    assert list_left(machine) == []


def _link() -> zipfile.ZipInfo:
    made = zipfile.ZipInfo("link")
    made.external_attr = (stat.S_IFLNK | 0o777) << 16
    return made


_SERVER = MANIFEST["server"]


@pytest.mark.parametrize(
    ("manifest", "more"),
    [
        (None, {}),
        ([], {}),
        ("talk", {}),
        ({**MANIFEST, "server": "python server.py"}, {}),
        ({**MANIFEST, "server": {"type": ["python"]}}, {}),
        ({**MANIFEST, "server": {**_SERVER, "entry_point": "../../server.py", "mcp_config": {}}}, {}),
        ({**MANIFEST, "server": {**_SERVER, "entry_point": 7, "mcp_config": 7}}, {}),
        ({**MANIFEST, "server": {**_SERVER, "mcp_config": {"command": {"a": 1}, "args": [{}, 1]}}}, {}),
        ({**MANIFEST, "server": {**_SERVER, "mcp_config": {"command": "python", "args": ["${user_config.nope}"]}}}, {}),
        ({**MANIFEST, "user_config": ["key"]}, {}),
        ({**MANIFEST, "compatibility": {"platforms": ["plan9"]}}, {}),
        (MANIFEST, {"../../../../slip.py": "1"}),
        (MANIFEST, {"/slip.py": "1"}),
        (MANIFEST, {"a\\..\\slip.py": "1"}),
        (MANIFEST, {"link": _link()}),
    ],
)
def test_a_hostile_bundle_leaves_nothing(
    manifest: object, more: dict[str, str | zipfile.ZipInfo], machine: Machine, tmp_path: Path
) -> None:
    file = write_bundle(tmp_path / "talk.mcpb", manifest, more)
    done = machine.ferrule("mcp", "add", "talk", str(file), "--set", f"key={SECRET}")
    assert done.code > 0
    assert "Traceback" not in done.err
    assert SECRET not in done.out + done.err
    assert list_left(machine) == []
    assert list(tmp_path.rglob("slip.py")) == []
    assert machine.ferrule("mcp", "list", "--json").document == {"servers": []}


@pytest.mark.parametrize(
    ("content", "said", "words"),
    [
        (b"x", 3 << 30, "The bundle unpacks to more than 2 GiB."),
        (bytes(80 << 20), None, "The bundle unpacks to 80 MiB, which is more than 200 times its own size."),
        (bytes(9000), 10, "The bundle cannot be unpacked: Bad CRC-32"),
    ],
)
def test_a_bundle_that_unpacks_to_too_much_is_refused_in_one_sentence(
    content: bytes, said: int | None, words: str, machine: Machine, tmp_path: Path
) -> None:
    file = write_bundle(tmp_path / "talk.mcpb", {**MANIFEST, "user_config": {}})
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", content)
        archive.infolist()[-1].file_size = said or len(content)
    done = machine.ferrule("mcp", "add", "talk", str(file))
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 2), done.err
    assert words in done.err
    assert list_left(machine) == []


@pytest.mark.slow
def test_an_entry_of_a_registry_adds_its_server_over_http(machine: Machine, tmp_path: Path) -> None:
    with serve(SECOND) as url:
        entry = {
            "name": "io.github.ann/far",
            "version": "1.0.0",
            "remotes": [
                {
                    "type": "streamable-http",
                    "url": url.replace("127.0.0.1", "{host}"),
                    "variables": {"host": {"isRequired": True}},
                    "headers": [{"name": "X-Key", "value": "{token}", "variables": {"token": {"isSecret": True}}}],
                }
            ],
        }
        file = tmp_path / "server.json"
        file.write_text(json.dumps(entry))
        lacks = machine.ferrule("mcp", "add", "far", str(file))
        assert (lacks.code, "host" in lacks.err, "Traceback" in lacks.err) == (1, True, False)
        added = machine.ferrule("mcp", "add", "far", str(file), "--set", "host=127.0.0.1", "--set", f"token={SECRET}")
        assert added.code == 0, added.err
        assert "hi" in machine.ferrule("run", "far_echo", '{"text": "hi"}').out
        assert SECRET not in added.out + added.err
        assert SECRET in machine.credentials.read_text()
        files = [path for path in (machine.home / ".local").rglob("*") if path.is_file()]
        assert not [path for path in files if SECRET.encode() in path.read_bytes()]
