"""The policy of a call: what of the permissions is there on one machine, and what this system cannot hold."""

import ctypes
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule import discovery
from ferrule.config import configuration
from ferrule.confinement import Policy
from ferrule.trust import policy_for
from ferrule.trust.resolution.resolver import Resolution
from ferrule_testkit.machine import BIN, Machine

pytestmark = pytest.mark.process

_LANDLOCK_CREATE_RULESET = 444
_ENOSYS = 38
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2


def declare(machine: Machine, name: str, **permissions: object) -> None:
    (machine.site / f"module_{name}.tool.json").write_text(json.dumps({"permissions": permissions}))


def configure(machine: Machine, text: str) -> Path:
    path = machine.home / ".config" / "ferrule" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def policy(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The policy of a call of one of the machine's tools, by its name."""

    def policy(name: str, **environ: str) -> Policy:
        monkeypatch.chdir(machine.work)
        monkeypatch.syspath_prepend(machine.site)
        merged = {**machine.environment, **environ}
        for key in ("HOME", "FERRULE_STATE", "XDG_STATE_HOME"):
            if key in merged:
                monkeypatch.setenv(key, merged[key])
            else:
                monkeypatch.delenv(key, raising=False)
        (tool,) = discovery.scan()[name]
        return policy_for(tool, configuration.read(merged), merged)

    return policy


def test_keys_configuration_state_and_code_stay_out_of_whatever_is_granted(machine: Machine, policy: Any) -> None:
    machine.install("alpha")
    granted = 'read = ["~", "~/.config/ferrule/config.toml"]\nwrite = ["~"]\n'
    config = configure(machine, f"[tools.alpha.permissions]\n{granted}")
    machine.credentials.parent.mkdir(parents=True)
    machine.credentials.write_text("{}")
    machine.tools.mkdir(parents=True)
    (machine.home / "notes").mkdir()
    (machine.home / ".config" / "other").mkdir()
    found = policy("alpha")
    state = machine.home / ".local" / "state" / "ferrule"
    for hidden in (config, machine.credentials, state / "permissions"):
        assert not any(Path(path) in (hidden, *hidden.parents) for path in (*found.read, *found.write)), hidden
    assert not any(Path(path) in (machine.tools, *machine.tools.parents) for path in found.write)
    assert any(Path(path) in machine.tools.parents for path in found.read)
    assert {str(machine.home / "notes"), str(machine.home / ".config" / "other")} <= {*found.read} & {*found.write}
    assert str(state / "tools" / "alpha") in found.write


def test_a_tool_that_has_others_run_may_nothing_that_they_may(machine: Machine, policy: Any) -> None:
    for name in ("beta", "alpha_one"):
        machine.install(name)
    declare(machine, "beta", network=[], tools=["alpha_*"], state=["shared"])
    declare(machine, "alpha_one", network=["two.example:443"], read=["/srv/one"], environment=["ONE_*"], processes=3)
    found = policy("beta", ONE_PLACE="here")
    assert (tuple(found.network), tuple(found.programs), found.processes, found.isolation) == ((), (), 0, "standard")
    assert "/srv/one" not in found.read
    assert "ONE_PLACE" not in found.environment
    assert str(machine.home / ".local/state/ferrule/shared") in found.write


def test_the_admin_says_how_tools_are_held(machine: Machine, policy: Any) -> None:
    machine.install("alpha")
    assert policy("alpha").isolation == "standard"
    declare(machine, "alpha", network=["public"])
    machine.ferrule("permissions", "accept", "alpha")
    assert policy("alpha").isolation == "strict"
    configure(machine, '[permissions]\nisolation = "off"\n')
    assert policy("alpha").isolation == "off"


def lose_landlock() -> None:
    """Make this process one on a system without Landlock, for good, as an old kernel or a container is."""
    code = struct.pack(
        "HBBIHBBIHBBIHBBI",
        *(0x20, 0, 0, 0),  # the number of the system call
        *(0x15, 0, 1, _LANDLOCK_CREATE_RULESET),
        *(0x06, 0, 0, 0x00050000 | _ENOSYS),
        *(0x06, 0, 0, 0x7FFF0000),
    )
    steps = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(steps)))
    library = ctypes.CDLL(None, use_errno=True)
    assert library.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert library.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is held")
def test_what_a_system_cannot_hold_is_told_tool_by_tool_and_refused_where_the_admin_wants_that(
    machine: Machine,
) -> None:
    machine.install("alpha")
    machine.install("beta")

    def run(*arguments: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [BIN / "ferrule", *arguments],
            env=machine.environment,
            cwd=machine.work,
            capture_output=True,
            preexec_fn=lose_landlock,
            timeout=60,
        )

    shown = json.loads(run("permissions", "--json").stdout)
    unenforced = {one["tool"]: " ".join(one["unenforced"]) for one in shown["tools"]}
    assert "no Landlock" in unenforced["alpha"]
    assert "no Landlock" in unenforced["beta"]
    found = json.loads(run("doctor", "--json").stdout)["findings"]
    told = {(one["subject"], one["severity"]) for one in found if one["id"] == "permissions-unenforced"}
    assert {("alpha", "warning"), ("beta", "warning")} <= told
    assert run("run", "alpha", "city=Oslo").returncode == 0
    configure(machine, '[permissions]\nunenforced = "refuse"\n')
    refused = run("run", "alpha", "city=Oslo")
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["error_code"] == "PERMISSION_DENIED"
    assert b"cannot hold alpha to its permissions" in refused.stdout
    found = json.loads(run("doctor", "--json").stdout)["findings"]
    assert ("alpha", "error") in {(one["subject"], one["severity"]) for one in found}
    assert machine.ferrule("run", "alpha", "city=Oslo").code == 0


def test_what_others_may_write_is_not_asked_for_a_program_that_nobody_may_write(tmp_path: Path) -> None:
    kept, open_to_all = tmp_path.resolve() / "kept", tmp_path.resolve() / "open"
    for folder in (kept, open_to_all):
        folder.mkdir()
    program, linked = kept / "program", open_to_all / "linked"
    program.touch(mode=0o755)
    linked.symlink_to(program)
    asked: list[str] = []

    def find_writable() -> list[str]:
        asked.append("others")
        return [str(open_to_all)]

    here = Resolution({}, {})
    assert here.granted_programs([str(program)], find_writable, lambda: [str(kept)]) == [str(program)]
    assert not asked
    assert here.granted_programs([str(linked)], find_writable, lambda: [str(kept)]) == []
    assert here.refused == {str(linked): "lies in a folder that a tool may write"}
    assert asked
