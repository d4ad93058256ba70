"""Bundles: what their manifests say, and archives that nobody should unpack."""

from __future__ import annotations

import json
import shutil
import stat
import sys
import zipfile
from pathlib import Path

import pytest

from ferrule_mcp.launch import bundles
from ferrule_mcp.launch.bundles import read_bundle, unpack_bundle
from ferrule_mcp.launch.plan import FILE, MODULE, NONE, PROGRAM, PYPI, LaunchRefused

NODE = {
    "manifest_version": "0.3",
    "name": "notes",
    "version": "1.0.0",
    "server": {
        "type": "node",
        "entry_point": "server/index.js",
        "mcp_config": {
            "command": "node",
            "args": ["${__dirname}/server/index.js", "--limit=${user_config.limit}", "${user_config.folders}"],
            "env": {"API_KEY": "${user_config.api_key}", "AUTH": "Bearer ${user_config.api_key}", "MODE": "x"},
            "platform_overrides": {sys.platform: {"env": {"MODE": "here"}}, "win32": {"command": "node.exe"}},
        },
    },
    "user_config": {
        "api_key": {"type": "string", "title": "Key", "sensitive": True, "required": True},
        "limit": {"type": "number", "default": 10},
        "folders": {"type": "directory", "multiple": True, "default": ["${HOME}/a"]},
    },
}

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


def write_bundle(path: Path, manifest: object, files: dict[str, str] | None = None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, text in (files or {}).items():
            archive.writestr(name, text)
    return path


def server(kind: str, **config: object) -> dict[str, object]:
    return {"name": "b", "version": "1", "server": {"type": kind, **config}}


def test_a_bundle_for_node_is_read_before_anything_is_unpacked(tmp_path):
    found = read_bundle(write_bundle(tmp_path / "a.mcpb", NODE, {"server/index.js": ""}))
    assert (found.name, found.version, found.kind) == ("notes", "1.0.0", "node")
    assert [(one.name, one.is_secret, one.is_required, one.takes_several) for one in found.settings] == [
        ("api_key", True, True, False), ("limit", False, False, False), ("folders", False, False, True),
    ]  # fmt: skip
    assert found.settings[2].default == (f"{Path.home()}/a",)


@needs_node
def test_settings_and_the_folder_are_put_into_the_command(tmp_path):
    bundle = read_bundle(write_bundle(tmp_path / "a.mcpb", NODE, {"server/index.js": ""}))
    launch = bundle.fill({"api_key": "hidden-value", "folders": ["/x", "/y"]}).unpack(tmp_path / "env")
    inside = tmp_path / "env" / "bundle"
    assert (launch.ecosystem, launch.kind, launch.executable) == (NONE, FILE, f"{inside}/server/index.js")
    assert launch.arguments == ("--limit=10", "/x", "/y")
    assert launch.variables == {"AUTH": "Bearer {api_key}", "MODE": "here"}
    assert [tuple(one) for one in launch.secrets] == [
        ("api_key", "hidden-value", "API_KEY"), ("api_key", "hidden-value", ""),
    ]  # fmt: skip
    assert "hidden-value" not in repr(launch)


@needs_node
def test_a_secret_without_a_value_is_a_credential_to_be_set(tmp_path):
    bundle = read_bundle(write_bundle(tmp_path / "a.mcpb", NODE, {"server/index.js": ""}))
    launch = bundle.fill({}).unpack(tmp_path / "env")
    assert tuple(launch.secrets[0]) == ("api_key", "", "API_KEY")


@pytest.mark.parametrize(
    ("answers", "part", "hint"),
    [({"nope": "1"}, "no setting nope", "api_key, folders, limit"), ({"limit": ["1", "2"]}, "takes one value", "once")],
)
def test_an_answer_that_fits_nothing_is_refused(tmp_path, answers, part, hint):
    bundle = read_bundle(write_bundle(tmp_path / "a.mcpb", NODE))
    with pytest.raises(LaunchRefused, match=part) as caught:
        bundle.fill(answers)
    assert hint in str(caught.value.hint)


def test_a_setting_that_is_required_is_asked_for(tmp_path):
    manifest = {
        **server("node", entry_point="i.js"),
        "user_config": {"folder": {"type": "directory", "required": True}},
    }
    with pytest.raises(LaunchRefused, match="needs settings: folder") as caught:
        read_bundle(write_bundle(tmp_path / "a.mcpb", manifest)).fill({})
    assert caught.value.hint == "Add --set folder=VALUE."


def test_a_bundle_in_python_gets_an_environment_and_a_program_its_mode(tmp_path):
    config = {"command": "python", "args": ["-m", "own.server"], "env": {"PYTHONPATH": "${__dirname}/lib"}}
    made = write_bundle(tmp_path / "p.mcpb", server("python", entry_point="main.py", mcp_config=config))
    launch = read_bundle(made).fill({}).unpack(tmp_path / "p")
    assert (launch.ecosystem, launch.kind, launch.executable, launch.requirements) == (PYPI, MODULE, "own.server", ())
    assert launch.variables == {"PYTHONPATH": f"{tmp_path}/p/bundle/lib"}
    made = write_bundle(tmp_path / "b.dxt", server("binary", entry_point="bin/x"), {"bin/x": "#!/bin/sh\n"})
    launch = read_bundle(made).fill({}).unpack(tmp_path / "b")
    assert (launch.kind, launch.executable) == (PROGRAM, f"{tmp_path}/b/bundle/bin/x")


def test_a_bundle_for_uv_installs_what_its_project_depends_on(tmp_path):
    project = (
        '[project]\nname = "x"\nversion = "1"\ndependencies = ["mcp<2"]\n[tool.uv]\nfind-links = ["wheels", ".."]\n'
    )
    files = {"pyproject.toml": project, "server.py": "", "wheels/a": ""}
    made = write_bundle(tmp_path / "u.mcpb", server("uv", entry_point="server.py"), files)
    launch = read_bundle(made).fill({}).unpack(tmp_path / "u")
    assert (launch.kind, launch.requirements) == (FILE, ("mcp<2",))
    assert launch.options == ("--find-links", f"{tmp_path}/u/bundle/wheels")


@pytest.mark.parametrize(
    "name",
    ["../out", "/etc/out", "a/../../out", "..\\out", "a\\b"],
)
def test_a_path_that_leads_out_is_refused(tmp_path, name):
    made = write_bundle(tmp_path / "a.mcpb", NODE)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr(zipfile.ZipInfo("x"), "x")
        info = zipfile.ZipInfo("y")
        info.filename = name
        archive.writestr(info, "x")
    with pytest.raises(LaunchRefused, match="leads out"):
        unpack_bundle(made, tmp_path / "out" / "bundle")
    assert not (tmp_path / "out" / "out").exists()


def test_a_link_and_a_name_that_comes_twice_are_refused(tmp_path):
    made = write_bundle(tmp_path / "a.mcpb", NODE)
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(LaunchRefused, match="is a link"):
        unpack_bundle(made, tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "b.mcpb", "w") as archive:
        archive.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a", "2")
    with pytest.raises(LaunchRefused, match="twice"):
        unpack_bundle(tmp_path / "b.mcpb", tmp_path / "y")


def test_what_unpacks_to_too_much_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(bundles, "_MAX_BYTES", 1000)
    made = tmp_path / "a.mcpb"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * 1_000_000)
    with pytest.raises(LaunchRefused, match="unpacks to more than"):
        unpack_bundle(made, tmp_path / "x")
    monkeypatch.setattr(bundles, "_MAX_MEMBERS", 0)
    with pytest.raises(LaunchRefused, match="has 1 files"):
        unpack_bundle(made, tmp_path / "y")


def test_an_archive_that_was_cut_off_is_refused(tmp_path):
    made = write_bundle(tmp_path / "a.mcpb", NODE, {"server/index.js": "x" * 1000})
    content = made.read_bytes()
    at = content.index(b"x" * 100)
    made.write_bytes(content[:at] + b"y" + content[at + 1 :])
    with pytest.raises(LaunchRefused, match="cannot be unpacked"):
        unpack_bundle(made, tmp_path / "x")


@pytest.mark.parametrize(
    ("manifest", "part"),
    [
        ([], "type None"),
        ({"server": {"type": "wasm"}}, "'wasm'"),
        ({**server("node"), "compatibility": {"platforms": ["plan9"]}}, "is for plan9"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused(tmp_path, manifest, part):
    with pytest.raises(LaunchRefused, match=part):
        read_bundle(write_bundle(tmp_path / "a.mcpb", manifest))


def test_what_is_no_bundle_is_refused(tmp_path):
    (tmp_path / "a.mcpb").write_text("no zip")
    with pytest.raises(LaunchRefused, match="no bundle"):
        read_bundle(tmp_path / "a.mcpb")
    with zipfile.ZipFile(tmp_path / "b.mcpb", "w") as archive:
        archive.writestr("x", "")
    with pytest.raises(LaunchRefused, match="no bundle"):
        read_bundle(tmp_path / "b.mcpb")
    with pytest.raises(LaunchRefused, match="cannot be read"):
        read_bundle(tmp_path / "gone.mcpb")


def test_a_variable_that_is_nothing_is_refused(tmp_path):
    made = write_bundle(tmp_path / "a.mcpb", server("node", mcp_config={"command": "node", "args": ["${unknown}"]}))
    with pytest.raises(LaunchRefused, match=r"\$\{unknown\}"):
        read_bundle(made).fill({}).unpack(tmp_path / "x")
