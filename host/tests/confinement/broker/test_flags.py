"""Each bit of each flag of every system call that is made in a call's place, on the real kernel."""

import json
import os
import time
from typing import Any

import pytest

from ferrule import confinement
from ferrule.confinement import Policy
from ferrule.confinement.broker import sockets
from ferrule.confinement.broker.file_attributes import _PATH_FLAGS
from ferrule.confinement.broker.notified_calls import CLONE_FLAGS, NotifiedCalls
from ferrule.confinement.broker.socket_calls import SEND_FLAGS
from ferrule.confinement.kernel.system_calls import CLOCKS, NAMING, NUMBERS
from ferrule.supervision.supervisor import supervise

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="elsewhere: this kernel holds less"),
]
_PRELUDE = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    value = libc.syscall(ctypes.c_long(number), *words)
    return 0 if value >= 0 else ctypes.get_errno()
"""
_NO_FLAG, _NOT_SUPPORTED = 22, 95
_REFUSED_CALLS = ("utime", "utimes", "futimesat")
_WITHOUT_FLAGS = ("connect", "bind", "listen", "chmod", "fchmod", "fchmodat", "fork", "vfork", "capget")
_MADE_BY_THE_KERNEL = (*NAMING, *CLOCKS)  # whose number of a process stands in a register
_SENT = """
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); server.bind(("127.0.0.1", 0))
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
where = bytes([2, 0]) + server.getsockname()[1].to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
place = ctypes.create_string_buffer(where, 16); data = ctypes.create_string_buffer(b"x", 1)
class Piece(ctypes.Structure): _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]
class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("name_size", ctypes.c_uint), ("pieces", ctypes.c_void_p),
                ("count", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_size", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("length", ctypes.c_uint)]
piece = Piece(ctypes.addressof(data), 1)
message = Message(ctypes.addressof(place), 16, ctypes.addressof(piece), 1, None, 0, 0, 0)
by = {{
    "sendto": lambda flags: call({sendto}, client.fileno(), data, 1, flags, place, 16),
    "sendmsg": lambda flags: call({sendmsg}, client.fileno(), ctypes.byref(message), flags),
    "sendmmsg": lambda flags: call({sendmmsg}, client.fileno(), ctypes.byref(message), 1, flags),
}}
got = {{name: [send(1 << bit) for bit in range(32)] for name, send in by.items()}}
"""
_CHANGED = """
file = os.path.join(os.environ["TMPDIR"], "mine"); open(file, "w").close()
path = ctypes.create_string_buffer(file.encode())
by = {{
    "fchmodat2": lambda flags: call({fchmodat2}, -100, path, 0o600, flags),
    "utimensat": lambda flags: call({utimensat}, -100, path, 0, flags),
}}
got = {{name: [change(1 << bit) for bit in range(32)] for name, change in by.items()}}
"""
_CLONED = "got = [call({clone}, 1 << bit, 0, 0, 0, 0) for bit in {bits}]"


def attempt(source: str, **policy: Any) -> Any:
    def work(channel: Any) -> None:
        names: dict[str, Any] = {}
        exec(_PRELUDE + source, names)
        channel.result({"got": names["got"]})

    outcome = supervise(
        work, deadline=time.monotonic() + 30, memory=1 << 20, size_limit=60_000, policy=Policy("weather", **policy)
    )
    assert outcome.result is not None, (outcome.failure, outcome.text)
    return json.loads(outcome.result)["got"]


def test_every_call_that_is_made_in_anothers_place_is_in_one_of_these_tests() -> None:
    methods = NotifiedCalls(Policy("weather"), "", os.getpid(), lambda *_: None).methods
    tested = ("sendto", "sendmsg", "sendmmsg", "fchmodat2", "utimensat", "clone", *_WITHOUT_FLAGS, *_REFUSED_CALLS)
    tested += _MADE_BY_THE_KERNEL
    assert set(methods) == {NUMBERS[name] for name in tested if name in NUMBERS}


def test_a_message_is_sent_with_no_flag_but_those_of_the_list() -> None:
    found = attempt(_SENT.format(**NUMBERS), network=("loopback",))
    for name, errors in found.items():
        let_through = sum(1 << bit for bit, error in enumerate(errors) if error == 0)
        assert let_through & ~SEND_FLAGS == 0, (name, hex(let_through))
        assert {errors[bit] for bit in range(32) if not 1 << bit & SEND_FLAGS} <= {_NOT_SUPPORTED, 13}, name


def test_modes_and_times_are_changed_with_no_flag_but_those_of_the_list() -> None:
    found = attempt(_CHANGED.format(**NUMBERS))
    for name, errors in found.items():
        assert [bit for bit in range(32) if errors[bit] == 0 and not 1 << bit & _PATH_FLAGS] == [], name
        assert {errors[bit] for bit in range(32) if not 1 << bit & _PATH_FLAGS} == {_NO_FLAG}, name
        assert all(errors[bit] == 0 for bit in range(32) if 1 << bit & _PATH_FLAGS), name


def test_a_process_is_made_with_no_flag_but_those_of_the_list() -> None:
    thread = 0x1_0000  # which the kernel refuses without its own memory and handlers
    bits = [bit for bit in range(32) if not 1 << bit & (CLONE_FLAGS | thread)]
    assert 15 in bits  # of CLONE_PARENT
    assert set(attempt(_CLONED.format(clone=NUMBERS["clone"], bits=bits), processes=4)) == {1}


def test_an_address_is_passed_on_without_what_was_not_judged() -> None:
    v4, v6 = b"\2\0\0\x50\x7f\0\0\1", b"\n\0\0\x50\x11\x22\x33\x44" + b"\0" * 15 + b"\1"
    assert sockets.plain(v4 + b"secret!!" + b"more" * 20) == v4 + bytes(8)
    assert sockets.plain(v6 + b"\2\0\0\0" + b"more" * 20) == v6[:4] + bytes(4) + v6[8:] + b"\2\0\0\0"
    assert sockets.plain(v6) == v6[:4] + bytes(4) + v6[8:] + bytes(4)
    with pytest.raises(OSError, match="no internet address"):
        sockets.plain(b"\1\0/path")
