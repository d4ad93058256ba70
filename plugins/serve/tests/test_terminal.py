"""`ferrule serve` that a user starts on a terminal."""

import os
import pty
import subprocess

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.service import BIN, SECONDS


@pytest.mark.process
def test_a_user_on_a_terminal_is_told_what_it_is_for_and_ends_it_with_ctrl_d(machine: Machine) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [BIN / "ferrule", "serve"],
        env=machine.environment,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    assert process.stderr is not None
    told = process.stderr.readline() + process.stderr.readline()
    os.write(ours, b"\x04")
    out, _ = process.communicate(timeout=SECONDS)
    os.close(ours)
    assert b"`ferrule connect CLIENT` has one start it" in told
    assert (out, process.returncode) == (b"", 0)


@pytest.mark.process
def test_a_terminal_that_is_closed_ends_it(machine: Machine) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [BIN / "ferrule", "serve", "example"],
        env=machine.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        os.write(ours, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        while b'"result":{}' not in os.read(ours, 4096):
            continue
        os.close(ours)
        assert process.wait(SECONDS) == 0
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
