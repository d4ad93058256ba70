"""A keeper makes no call for who has other rights, another environment, or speaks another language."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule.links import keeper_frames as frames
from ferrule.links.keeper_address import sockets
from ferrule_testkit.keeper import Caller, KeptMachine, Refused

pytestmark = pytest.mark.process

_WITHOUT_NEW_RIGHTS = """\
import ctypes, socket, sys
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    line.sendall(sys.stdin.buffer.read())
    sys.stdout.buffer.write(line.recv(65536))
"""


def test_a_tool_that_is_not_kept_is_refused(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    kept.configure('[keep]\ntools = ["beta"]\n')
    with pytest.raises(Refused, match="alpha is not kept"):
        kept.call("alpha", {})


def test_other_limits_are_refused(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    with pytest.raises(Refused, match="other limits"):
        kept.call("alpha", {}, limits="1:1")


def test_another_environment_is_refused(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    with pytest.raises(Refused, match="another environment"):
        kept.call("alpha", {}, environ={"LC_ALL": "C"})


def test_a_process_with_fewer_rights_is_refused(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    hello = frames.hello_frame(kept.hello("alpha"))
    command = [sys.executable, "-I", "-c", _WITHOUT_NEW_RIGHTS, kept.path]
    said = subprocess.run(command, input=hello, capture_output=True, check=True).stdout
    assert list(frames.FrameReader().feed(said)) == [(frames.REFUSED, b"the caller has other rights")]


def test_a_folder_that_is_gone_is_refused(kept: KeptMachine, tmp_path: Path) -> None:
    kept.machine.install("alpha")
    kept.start()
    with pytest.raises(Refused, match="folder cannot be entered"):
        kept.call("alpha", {}, folder=str(tmp_path / "gone"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        b"no frame at all",
        frames.frame(b"?"),
        frames.frame(frames.HELLO, b"\xff\xff\xff\xff"),
        frames.frame(frames.HELLO, b"\x01\x00\x00\x009"),
        frames.frame(frames.INPUT, b"{}"),
        frames.frame(frames.SIGNAL, b"15"),
        b"H\xff\xff\xff\xff",
    ],
)
def test_what_is_no_call_is_refused_and_hurts_nobody(sent: bytes, kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    with kept.connect() as line:
        caller = Caller(line)
        caller.send(sent)
        with pytest.raises(Refused):
            caller.expect(frames.ACCEPTED)
    assert kept.call("alpha", {"city": "Oslo"}).document == {"got": {"city": "Oslo"}}


def test_a_folder_that_others_may_enter_is_not_used(kept: KeptMachine) -> None:
    folder = kept.runtime / "ferrule"
    folder.mkdir()
    folder.chmod(0o755)
    assert sockets({"XDG_RUNTIME_DIR": str(kept.runtime)}) == sockets({})
    folder.rmdir()
    elsewhere = kept.runtime / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (elsewhere / f"keep-{'0' * 16}-{'0' * 16}.sock").touch()
    os.symlink(elsewhere, folder)
    assert sockets({"XDG_RUNTIME_DIR": str(kept.runtime)}) == sockets({})
