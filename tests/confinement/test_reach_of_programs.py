"""What a tool reaches by programs, by names of hosts that are none, and in the folders of the system."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule.confinement.broker.address_judge import AddressJudge
from ferrule.confinement.policy import Policy, readable
from ferrule.trust import entries
from ferrule.trust.resolution.resolver import network_of
from ferrule_testkit.machine import Machine

_CODE = {"code": {"type": "string", "description": "What it runs."}}
_RUN = "got = {}; exec(arguments['code'], {'got': got}); return got"
_LOADERS = [
    path for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(path)
]  # fmt: skip
HELD = pytest.mark.skipif(bool(confinement.support().missing), reason="elsewhere: this kernel holds less")


@pytest.mark.parametrize(
    "host", ["0x7f000001", "0X7F000001", "017700000001", "2130706433", "127.1", "0x7f.1", "1", "0x"]
)
def test_a_number_is_no_name_of_a_host(host: str) -> None:
    for entry in (f"{host}:80", f"{host}.:80", f"*.{host}:80"):
        assert entries.problem("network", entry), entry
        assert network_of(f"http://{host}:80/") is None
    judge = AddressJudge(Policy(network=(f"{host}:80",)))
    assert judge.names(80) == []
    judge.learn(host, {"127.0.0.1"})
    assert not judge.allows("127.0.0.1", 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f.example", "1.example.com", "face", "[::1]"])
def test_names_and_plain_addresses_stay_what_they_are(host: str) -> None:
    assert entries.problem("network", f"{host}:80") is None


def test_what_every_call_may_read_holds_no_folder_of_private_keys() -> None:
    folders = readable(with_others=True)
    for private in ("/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/nssdb", "/etc/pki/CA/private"):
        assert not [folder for folder in folders if f"{private}/".startswith(folder.rstrip("/") + "/")], private


@pytest.fixture
def call(machine: Machine) -> Callable[..., Any]:
    """Run code in a tool that may run `true`, and no other program."""
    machine.install("evil", properties=_CODE, execute=_RUN, permissions={"network": [], "programs": ["true"]})

    def call(code: str) -> Any:
        return machine.ferrule("run", "evil", json.dumps({"code": code})).document

    return call


@HELD
@pytest.mark.process
@pytest.mark.skipif(not _LOADERS, reason="elsewhere: the loader has another name")
def test_the_loader_runs_no_program(call: Callable[..., Any]) -> None:
    command = [_LOADERS[0] if _LOADERS else "", os.path.realpath("/bin/sh"), "-c", "echo it has run"]

    run = call(f"import subprocess; got['loot'] = subprocess.run({command}, capture_output=True, text=True).stdout")
    refused = call(f"import subprocess; subprocess.run({command}, check=True)")

    assert "it has run" not in json.dumps([run, refused])
    assert refused["error_code"] == "PERMISSION_DENIED"
    assert "wanted to run" in refused["error"]


WAYS_OF_THE_LOADER = {
    "with options": "words[1:1] = ['--inhibit-cache', '--library-path', '/lib']",
    "by a link": "import tempfile; link = tempfile.mkdtemp() + '/a'; os.symlink(words[0], link); words[0] = link",
    "by a descriptor": "words[0] = f'/proc/self/fd/{os.open(words[0], os.O_PATH)}'; kept = {'close_fds': False}",
    "with a name of its own": "kept = {'executable': words[0]}; words[0] = 'true'",
    "with variables": "kept = {'env': {'LD_PRELOAD': '/lib/none.so', 'LD_BIND_NOW': '1'}}",
}


@HELD
@pytest.mark.process
@pytest.mark.skipif(not _LOADERS, reason="elsewhere: the loader has another name")
@pytest.mark.parametrize("way", WAYS_OF_THE_LOADER)
def test_the_loader_is_ended_before_it_opens_a_file(call: Callable[..., Any], way: str) -> None:
    words = [_LOADERS[0] if _LOADERS else "", os.path.realpath("/bin/sh"), "-c", "echo it has run"]
    run = call(
        f"import os, subprocess; words = {words!r}; kept = {{}}; {WAYS_OF_THE_LOADER[way]}\n"
        "done = subprocess.run(words, capture_output=True, text=True, **kept)\n"
        "got.update(code=done.returncode, said=done.stdout + done.stderr)"
    )
    assert run == {"code": -9, "said": ""}


@HELD
@pytest.mark.process
@pytest.mark.skipif(not _LOADERS, reason="elsewhere: the loader has another name")
def test_the_loader_in_place_of_the_tool_is_why_the_call_fails(call: Callable[..., Any]) -> None:
    words = [_LOADERS[0] if _LOADERS else "", os.path.realpath("/bin/sh"), "-c", "echo it has run"]
    refused = call(f"import os; os.execv({words[0]!r}, {words!r})")
    assert "it has run" not in json.dumps(refused)
    assert refused["error_code"] == "PERMISSION_DENIED"
    assert f"wanted to run {words[1]}" in refused["error"]


@HELD
@pytest.mark.process
def test_the_program_that_it_may_run_runs(call: Callable[..., Any]) -> None:
    assert call("import subprocess; got['code'] = subprocess.run(['true']).returncode") == {"code": 0}


@HELD
@pytest.mark.process
def test_certificates_are_read_and_keys_are_not(call: Callable[..., Any]) -> None:
    assert call("import ssl; got['n'] = len(ssl.create_default_context().get_ca_certs()) >= 0") == {"n": True}
    if Path("/etc/ssl/private").is_dir():
        assert call("import os; os.listdir('/etc/ssl/private')")["error_code"] == "PERMISSION_DENIED"
