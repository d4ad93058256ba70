"""Environments that npm makes of packages from this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ferrule_mcp.environment.installation import install, move_environment
from ferrule_mcp.environment.record import InstallFailed
from ferrule_mcp.environment.verification import verify
from ferrule_mcp.launch.plan import NPM, SCRIPT, Launch

pytestmark = pytest.mark.slow


def test_a_server_on_node_starts_without_its_install_scripts(start, node_launch, tmp_path):
    environment = install(node_launch, tmp_path / "greeting")
    assert "Could not locate the bindings file" in start(environment)
    assert [(one.name, one.version, one.wants_script) for one in environment.packages] == [
        ("@own/greeting-mcp", "1.0.0", False), ("native-part", "1.0.0", True),
    ]  # fmt: skip
    assert environment.version == "1.0.0"
    assert environment.left_out_scripts == ["native-part"]
    assert "native-part" in environment.notes[-1]
    assert all(one.archive.startswith("sha512-") for one in environment.packages)
    assert Path(environment.command[0]).name == "node"
    assert os.path.isabs(environment.command[0])
    assert verify(environment) == []


def test_an_install_script_runs_where_it_was_allowed_by_name(start, node_launch, tmp_path):
    environment = install(node_launch, tmp_path / "greeting", allowed=["native-part"])
    assert start(environment) == "hello x"
    assert environment.left_out_scripts == []
    moved = move_environment(environment, tmp_path / "other")
    assert (start(moved), verify(moved)) == ("hello x", [])


def test_a_package_with_several_commands_wants_one_named(start, tarballs, tmp_path):
    many = Launch(NPM, SCRIPT, "", requirements=(str(tarballs / "many-1.0.0.tgz"),), options=("--offline",))
    with pytest.raises(InstallFailed, match="several commands") as caught:
        install(many, tmp_path / "a")
    assert caught.value.hint == "Name one of them: npx -y --package=many one"
    assert start(install(many._replace(executable="one"), tmp_path / "b")) == "1"
    with pytest.raises(InstallFailed, match="no command three; there are one, two"):
        install(many._replace(executable="three"), tmp_path / "c")
    nothing = many._replace(requirements=(str(tarballs / "nothing-1.0.0.tgz"),))
    with pytest.raises(InstallFailed, match="nothing brings no command"):
        install(nothing, tmp_path / "d")


def test_npm_says_why_a_package_cannot_be_had(tmp_path):
    with pytest.raises(InstallFailed, match="not-there-at-all") as caught:
        install(Launch(NPM, SCRIPT, "", requirements=("not-there-at-all",), options=("--offline",)), tmp_path / "a")
    assert "registry" in str(caught.value.hint)
    assert [path.name for path in tmp_path.iterdir()] == [".a.lock"]
