"""Where the system refuses pidfd_getfd, as Docker's seccomp profile does, no address is judged, and that is told."""

import platform
import subprocess
import sys
from typing import Any

import pytest

from ferrule_testkit.machine import BIN, Machine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="elsewhere: another processor"),
]

# Has the kernel answer EPERM to pidfd_getfd (438 on both processors), and becomes another program.
REFUSING = """
import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 438), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
program = struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code))
c = ctypes.CDLL(None, use_errno=True)
assert c.prctl(38, 1, 0, 0, 0) == 0
assert c.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
PUBLIC = '{"permissions": {"network": ["public"]}}'


@pytest.fixture
def reaching(machine: Machine) -> Machine:
    """A machine with a tool that may reach the public network."""
    machine.install("reaching")
    (machine.site / "module_reaching.tool.json").write_text(PUBLIC)
    machine.install("quiet")
    (machine.site / "module_quiet.tool.json").write_text('{"permissions": {"network": []}}')
    return machine


def refused(machine: Machine, *arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", REFUSING, str(BIN / "ferrule"), *arguments]
    return subprocess.run(
        command, env=machine.environment, cwd=machine.work, capture_output=True, text=True, check=False, **options
    )


def test_a_call_says_that_its_addresses_are_not_judged(reaching: Machine) -> None:
    told = "warning: where reaching connects to is not held here; run `ferrule doctor`."
    done = refused(reaching, "run", "reaching", "{}", stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(told) == 1
    assert "not held here" not in refused(reaching, "run", "quiet", "{}").stderr
    assert "not held here" not in reaching.ferrule("run", "reaching", "{}").err


def test_where_the_admin_says_so_such_a_call_is_refused(reaching: Machine) -> None:
    config = reaching.home / ".config/ferrule/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[permissions]\nunenforced = "refuse"\n')
    done = refused(reaching, "run", "reaching", "{}")
    assert done.returncode == 1
    assert "This system cannot hold reaching to its permissions. Addresses are not held" in done.stderr
    assert refused(reaching, "run", "quiet", "{}").returncode == 0


@pytest.mark.slow
def test_the_server_says_so_at_its_start(reaching: Machine) -> None:
    done = refused(reaching, "serve", stdin=subprocess.DEVNULL)
    assert "warning: Addresses are not held" in done.stderr
    plain = subprocess.run(
        [BIN / "ferrule", "serve"],
        env=reaching.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "not held" not in plain.stderr
