"""Grants of files lead where nobody but the user has made them lead: the attacks, by every way of calling a tool."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule.confinement.kernel import landlock
from ferrule.trust.resolution.paths import walk
from ferrule_testkit.machine import Machine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="elsewhere: this kernel holds less"),
]
_CODE = {"code": {"type": "string", "description": "What it runs."}}
_RUN = "got = {}; exec(arguments['code'], {'got': got}); return got"
_STEAL = "got['loot'] = open({path!r}).read()"
_WRITE = "open({path!r}, 'a').write('mine')"
_KEY, _BASHRC = "a private key", "# mine alone"


@pytest.fixture
def call(machine: Machine) -> Callable[..., Any]:
    """Run code in a tool: its answer."""
    (machine.home / ".ssh").mkdir()
    (machine.home / ".ssh/id").write_text(_KEY)
    (machine.home / ".bashrc").write_text(_BASHRC)
    (machine.home / "data/sub").mkdir(parents=True)

    def call(name: str, code: str, **environment: str) -> Any:
        answer = machine.ferrule("run", name, json.dumps({"code": code}), environment=environment)
        return answer.document

    return call


def is_stopped(machine: Machine, *answers: Any) -> bool:
    """Whether nothing of the home was read or written."""
    kept = (machine.home / ".ssh/id").read_text(), (machine.home / ".bashrc").read_text()
    return kept == (_KEY, _BASHRC) and _KEY not in json.dumps(answers)


def install(machine: Machine, name: str, **permissions: object) -> None:
    machine.install(name, properties=_CODE, execute=_RUN, permissions={"network": [], **permissions})


@pytest.mark.parametrize(
    "permissions",
    [
        {"write": ["~/data", "~/data/sub"]},
        {"write": ["~/data"], "read": ["~/data/sub"]},
        {"write": ["~/data", "variable:TARGET"], "environment": ["TARGET"]},
    ],
)
def test_a_grant_below_a_folder_that_the_tool_may_write_follows_no_link(
    permissions: dict[str, Any], machine: Machine, call: Callable[..., Any]
) -> None:
    install(machine, "evil", **permissions)
    sub, target = machine.home / "data/sub", {"TARGET": str(machine.home / "data/sub")}
    made = call("evil", f"import os; os.rmdir({str(sub)!r}); os.symlink({str(machine.home)!r}, {str(sub)!r})", **target)
    assert sub.is_symlink(), made

    stolen = call("evil", _STEAL.format(path=f"{sub}/.ssh/id"), **target)
    written = call("evil", _WRITE.format(path=f"{sub}/.bashrc"), **target)

    assert is_stopped(machine, stolen, written)
    assert stolen["error_code"] == written["error_code"] == "PERMISSION_DENIED"
    assert "is not granted" in stolen["error"]


def test_a_link_to_a_part_of_the_home_is_not_followed_either_and_is_named(
    machine: Machine, call: Callable[..., Any]
) -> None:
    install(machine, "evil", write=["~/data"], read=["~/data/sub"])
    sub = machine.home / "data/sub"
    call("evil", f"import os; os.rmdir({str(sub)!r}); os.symlink('../.ssh', {str(sub)!r})")

    stolen = call("evil", _STEAL.format(path=f"{sub}/id"))

    assert is_stopped(machine, stolen)
    assert "is reached by a link in" in stolen["error"]
    assert "is reached by a link in" in machine.ferrule("permissions", "evil").out.replace("\n", " ")


def test_a_grant_of_the_folder_that_a_tool_is_called_in_follows_no_link_that_it_made(
    machine: Machine, call: Callable[..., Any]
) -> None:
    install(machine, "evil", write=["."], read=["./lib"])
    call("evil", f"import os; os.symlink({str(machine.home / '.ssh')!r}, 'lib')")

    assert is_stopped(machine, call("evil", _STEAL.format(path="lib/id")))


def test_a_grant_below_another_tools_folder_follows_no_link(machine: Machine, call: Callable[..., Any]) -> None:
    install(machine, "evil", write=["~/data"])
    install(machine, "reader", read=["~/data/sub"], network=[])
    sub = machine.home / "data/sub"
    call("evil", f"import os; os.rmdir({str(sub)!r}); os.symlink('../.ssh', {str(sub)!r})")

    assert is_stopped(machine, call("reader", _STEAL.format(path=f"{sub}/id")))


def test_a_program_in_a_folder_that_another_tool_may_write_is_not_run(
    machine: Machine, call: Callable[..., Any]
) -> None:
    install(machine, "evil", write=["~/data"])
    install(machine, "runner", programs=["helper"], read=["~/data"])
    helper = machine.home / "data/helper"
    call(
        "evil", f"import os; open({str(helper)!r}, 'w').write('#!/bin/sh\\necho run'); os.chmod({str(helper)!r}, 0o755)"
    )
    path = f"{helper.parent}:{machine.environment['PATH']}"

    ran = call("runner", "import subprocess; got['loot'] = subprocess.check_output(['helper']).decode()", PATH=path)

    assert "loot" not in ran, ran


def test_a_link_of_the_users_own_is_followed(machine: Machine, call: Callable[..., Any]) -> None:
    (machine.work / "elsewhere").mkdir()
    (machine.work / "elsewhere/note").write_text("a note")
    os.symlink(machine.work / "elsewhere", machine.home / "notes")
    install(machine, "reader", read=["~/notes"])

    assert call("reader", _STEAL.format(path=str(machine.home / "notes/note"))) == {"loot": "a note"}


def test_a_folder_of_the_state_folder_that_became_a_link_is_not_followed(
    machine: Machine, call: Callable[..., Any]
) -> None:
    install(machine, "evil", state=["artifacts"])
    install(machine, "victim")
    call("victim", "pass")
    own = machine.home / ".local/state/ferrule/artifacts/tools/victim"
    call("evil", f"import shutil, os; shutil.rmtree({str(own)!r}); os.symlink({str(machine.home)!r}, {str(own)!r})")
    assert own.is_symlink()

    assert is_stopped(machine, call("victim", _WRITE.format(path=f"{machine.home}/.bashrc")))


@pytest.mark.parametrize(
    ("entry", "environment"),
    [
        ("~", {}),
        ("/", {}),
        ("variable:HOME", {}),
        ("variable:PLACE", {"PLACE": "/"}),
        ("variable:PLACE", {"PLACE": "~/data/.."}),
        ("~/.ikigai", {}),
        ("~/.ikigai/tools", {}),
    ],
)
def test_no_declaration_opens_the_home_the_root_or_the_clients_tools(
    entry: str, environment: dict[str, str], machine: Machine, call: Callable[..., Any]
) -> None:
    machine.tools.mkdir(parents=True)
    install(machine, "evil", write=[entry], environment=["PLACE"])

    stolen = call("evil", _STEAL.format(path=str(machine.home / ".ssh/id")), **environment)
    written = call("evil", _WRITE.format(path=str(machine.home / ".bashrc")), **environment)
    planted = call("evil", _WRITE.format(path=str(machine.tools / "planted-tool")), **environment)

    assert is_stopped(machine, stolen, written)
    assert not (machine.tools / "planted-tool").exists(), planted
    shown = machine.ferrule("permissions", "evil", environment=environment)
    assert "is not granted" in shown.out.replace("\n", " ")


def test_the_working_folder_is_not_granted_where_it_is_the_home(machine: Machine, call: Callable[..., Any]) -> None:
    install(machine, "evil", write=["."])
    machine.work = machine.home

    assert is_stopped(machine, call("evil", _WRITE.format(path=".bashrc")))


def test_the_admin_may_grant_the_home_by_its_name(machine: Machine, call: Callable[..., Any]) -> None:
    install(machine, "trusted")
    machine.ferrule("permissions", "grant", "trusted", "--read", "~")

    assert call("trusted", _STEAL.format(path=str(machine.home / ".ssh/id"))) == {"loot": _KEY}


@pytest.mark.parametrize("command", [("permissions",), ("show",), ("link",)])
def test_what_an_entry_stands_for_is_shown(
    command: tuple[str, ...], machine: Machine, call: Callable[..., Any]
) -> None:
    install(machine, "reader", read=["variable:PLACE", "."], environment=["PLACE"])

    shown = machine.ferrule(*command, "reader", environment={"PLACE": str(machine.home / "data")}).out

    unfolded = "".join(shown.split())
    assert f"variable:PLACEis{machine.home}/data" in unfolded
    assert f".is{machine.work}" in unfolded


def test_a_path_is_walked_as_the_kernel_does(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    os.symlink("a", tmp_path / "l")
    os.symlink("loop", tmp_path / "loop")
    for path in ("l/b/..", "l/../a", "a//b/.", "missing/x", "l/missing/../b"):
        assert walk(f"{tmp_path}/{path}").path == os.path.realpath(tmp_path / path), path
    assert walk(f"{tmp_path}/l/b").folders == [str(tmp_path)]
    assert walk(f"{tmp_path}/loop").path.startswith(str(tmp_path))


def test_a_path_that_became_a_link_since_it_was_judged_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    os.symlink("a", tmp_path / "l")
    os.close(landlock.open_without_links(str(tmp_path / "a/b")))
    for path in ("l", "l/b", "a/../a"):
        with pytest.raises(OSError, match=r"link|directory"):
            landlock.open_without_links(str(tmp_path / path))
