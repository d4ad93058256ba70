"""Each kind of system call that is refused to a tool, made by a real one: the answer names what was wanted.

The table goes through what the filter and Landlock refuse. What a tool does through `ctypes` raises an error that says
nothing: it is told as something of the system, and never as something that it was not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferrule import confinement
from ferrule.confinement.kernel import filter_rules
from ferrule.confinement.kernel.system_calls import NUMBERS
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served, install

if TYPE_CHECKING:
    from ferrule_serve.pool import CallAnswer, Pool
    from ferrule_testkit.machine import Machine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel cannot hold a call"),
]

TOP = """
import asyncio, ctypes, multiprocessing, pathlib, shutil, signal, socket, sqlite3, subprocess
from multiprocessing import shared_memory
OTHER = os.path.expanduser("~/other")
OWN = os.environ.get("TMPDIR", "/tmp")
libc = ctypes.CDLL(None, use_errno=True)
def raw(number):
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
"""
NEW, FILE, FOLDER = "~/other/new", "~/other/file", "~/other"
SOCKET = "a socket of the kind"
SYSTEM = "something of the system that no tool may do"
# By the statement: what the answer says that was wanted.
WANTED = {
    "open(OTHER + '/file')": f"read {FILE}",
    "os.open(OTHER + '/file', os.O_RDONLY)": f"read {FILE}",
    "pathlib.Path(OTHER, 'file').read_text()": f"read {FILE}",
    "shutil.copy(OTHER + '/file', OWN)": f"read {FILE}",
    "os.listdir(OTHER)": f"read {FOLDER}",
    "os.scandir(OTHER)": f"read {FOLDER}",
    "open('/etc/shadow')": "read /etc/shadow",
    "open(OTHER + '/new', 'w')": f"write {NEW}",
    "open(OTHER + '/file', 'r+')": f"write {FILE}",
    "os.open(OTHER + '/file', os.O_RDWR | os.O_APPEND)": f"write {FILE}",
    "pathlib.Path(OTHER, 'new').touch()": f"write {NEW}",
    "os.mkdir(OTHER + '/new')": f"write {NEW}",
    "os.makedirs(OTHER + '/new')": f"write {NEW}",
    "os.rmdir(OTHER + '/folder')": "write ~/other/folder",
    "os.remove(OTHER + '/file')": f"write {FILE}",
    "os.unlink(OTHER + '/file')": f"write {FILE}",
    "os.truncate(OTHER + '/file', 0)": f"write {FILE}",
    "os.rename(OTHER + '/file', OTHER + '/new')": f"write {FILE}",
    "os.replace(OTHER + '/file', OTHER + '/new')": f"write {FILE}",
    "os.link(OTHER + '/file', OTHER + '/new')": f"write {FILE}",
    "os.symlink('/', OTHER + '/new')": f"write {NEW}",
    "os.symlink(OTHER + '/file', OTHER + '/new')": f"write {NEW}",
    "pathlib.Path(OTHER, 'new').symlink_to('/')": f"write {NEW}",
    "path = OTHER + '/new'; os.mkfifo(path)": f"write {NEW}",
    "path = OTHER + '/new'; os.mknod(path)": f"write {NEW}",
    "os.mkfifo(OTHER + '/new')": f"write {NEW}",
    "os.mkfifo(f'{OTHER}/new')": f"write {NEW}",
    "os.mkfifo(os.path.join(OTHER, 'new'))": f"write {NEW}",
    "os.mknod(pathlib.Path(OTHER) / 'new')": f"write {NEW}",
    "folder = os.open(OTHER, os.O_PATH); os.mkfifo('new', dir_fd=folder)": f"write {NEW}",
    "folder = os.open(OTHER, os.O_PATH); os.unlink('file', dir_fd=folder)": f"write {FILE}",
    "folder = os.open(OTHER, os.O_PATH); os.open('file', os.O_RDONLY, dir_fd=folder)": f"read {FILE}",
    "os.open('file', os.O_RDONLY, dir_fd=os.open(OTHER, os.O_PATH))": "read a file",
    "os.mkdir('new', dir_fd=os.open(OTHER, os.O_PATH))": "write a file",
    "os.chmod(OTHER + '/file', 0o777)": f"write {FILE}",
    "os.utime(OTHER + '/file')": f"write {FILE}",
    "os.chown(OTHER + '/file', 0, 0)": f"{SYSTEM} (chown {FILE})",
    "os.fchown(os.open(os.__file__, 0), 0, 0)": f"{SYSTEM} (fchown)",
    "os.setxattr(OTHER + '/file', 'user.a', b'x')": f"{SYSTEM} (setxattr {FILE})",
    "os.chroot('/')": f"{SYSTEM} (chroot /)",
    "sqlite3.connect(OTHER + '/new').execute('create table a (b)')": f"write {NEW}",
    "sqlite3.connect('file:' + OTHER + '/file?mode=ro', uri=True).execute('select 1')": f"read {FILE}",
    "ctypes.CDLL(OTHER + '/file')": f"read {FILE}",
    "subprocess.run(['git', 'status'])": "run git",
    "subprocess.run(['/bin/sh', '-c', 'true'])": "run /bin/sh",
    "os.execv('/bin/sh', ['sh'])": "run /bin/sh",
    "os.posix_spawn('/bin/sh', ['sh'], {})": "run /bin/sh",
    "os.execv('/lib64/ld-linux-x86-64.so.2', ['ld', '/bin/true'])": "run /lib64/ld-linux-x86-64.so.2",
    "os.execvp('git', ['git'])": "run git",
    "os.spawnv(os.P_WAIT, '/bin/true', ['true'])": "run /bin/true",
    "subprocess.run(['/proc/self/fd/%d' % os.memfd_create('x')])": "run /proc/self/fd/",
    "os.fork()": "start a process",
    "os.forkpty()": "start a process",
    "multiprocessing.get_context('fork').Process(target=print).start()": "start a process",
    "os.kill(os.getppid(), 9)": "send a signal to another process",
    "os.killpg(os.getpgid(os.getppid()), 9)": "send a signal to another process",
    "multiprocessing.Lock()": "a lock that processes share",
    "shared_memory.SharedMemory(create=True, size=9)": "memory that processes share",
    "socket.socket()": "reach an address",
    "socket.create_connection(('127.0.0.1', 9))": "reach 127.0.0.1:9",
    "socket.create_server(('127.0.0.1', 8123))": "wait for connections at 127.0.0.1:8123",
    "socket.socket(socket.AF_UNIX).connect('/run/a')": f"{SOCKET} AF_UNIX",
    "socket.socket(socket.AF_UNIX).connect(chr(0) + 'a')": f"{SOCKET} AF_UNIX",
    "asyncio.run(asyncio.open_unix_connection('/run/a'))": f"{SOCKET} AF_UNIX",
    "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)": f"{SOCKET} AF_UNIX SOCK_DGRAM",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)": f"{SOCKET} AF_NETLINK",
    "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)": f"{SOCKET} AF_PACKET",
    "socket.socket(socket.AF_VSOCK)": f"{SOCKET} AF_VSOCK",
    "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)": f"{SOCKET} AF_ALG",
    "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)": f"{SOCKET} SOCK_RAW",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1)": f"{SOCKET} IPPROTO_ICMP",
    "raise OSError(1, 'Operation not permitted', 'ptrace')": f"{SYSTEM} (ptrace)",
    "raise PermissionError(13, 'Permission denied', 'no path at all')": SYSTEM,
    "os.setpriority(os.PRIO_PROCESS, os.getppid(), 5)": f"{SYSTEM} (setpriority)",
    "os.sched_setaffinity(os.getppid(), {0})": f"{SYSTEM} (sched_setaffinity)",
}
# The same with a network: a socket is made, and what is then done with it is refused.
WITH_NETWORK = {
    "socket.socket().connect(('127.0.0.1', 9))": "reach 127.0.0.1:9",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))": "reach 127.0.0.1:9",
    "socket.socket().bind(('127.0.0.1', 8123))": "wait for connections at 127.0.0.1:8123",
    "socket.socket().bind(('', 8123))": "wait for connections at 0.0.0.0:8123",
    "socket.socket().listen()": "wait for connections at an address",
    "socket.create_server(('127.0.0.1', 8123))": "wait for connections at 127.0.0.1:8123",
    "asyncio.run(asyncio.start_server(print, '127.0.0.1', 8123))": "wait for connections at 127.0.0.1:8123",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)": f"{SOCKET} AF_NETLINK",
    "path = os.environ['TMPDIR'] + '/a'; open(path, 'w').close(); os.chmod(path, 0o4700)": f"{SYSTEM} (chmod ",
    "path = os.environ['TMPDIR'] + '/a'; open(path, 'w').close(); os.chown(path, 0, 0)": f"{SYSTEM} (chown ",
}
OPEN_ENDED = ("(chmod ", "(chown ", "/fd/")  # what follows is another one in each call
OWN_ERRORS = (
    "raise PermissionError('You may not see that page.')",
    "raise PermissionError(403, 'Forbidden', 'https://example.org/a')",
)
# Probes are calls that the kernel alone may have put into a program.
RAW = sorted({*filter_rules._NEVER.split()} & NUMBERS.keys() - {"uprobe", "uretprobe"})


def answers(machine: Machine, statements: list[str], permissions: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By statement, how the call ended in which a tool made it."""
    other = machine.home / "other"
    (other / "folder").mkdir(parents=True)
    (other / "file").write_text("open-sesame")
    served = Served(machine)
    branches = "".join(
        f"    {'el' if index else ''}if arguments['number'] == {index}:\n        {statement}\n"
        for index, statement in enumerate(statements)
    )
    install(served, f"\n{branches}    return {{}}", top=TOP, declared={"permissions": permissions}, schema={
        "name": "probe", "description": "Tries something.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}},
    })  # fmt: skip

    async def work(pool: Pool) -> list[CallAnswer]:
        return [await pool.call("probe", {**NO_ARGUMENTS, "number": index}) for index in range(len(statements))]

    return {
        statement: json.loads(answer.document) for statement, answer in zip(statements, served.run(work), strict=True)
    }


@pytest.mark.parametrize(("expected", "network"), [(WANTED, []), (WITH_NETWORK, ["public"])], ids=["none", "public"])
def test_what_is_refused_is_named(expected: dict[str, str], network: list[str], machine: Machine) -> None:
    found = answers(machine, list(expected), {"network": network})
    wanted = {
        statement: document.get("error", "no error").partition(";")[0].removeprefix("probe wanted to ")
        .removeprefix("probe wanted ").partition(", which no tool")[0].partition(". The administrator")[0]
        for statement, document in found.items()
    }  # fmt: skip
    wrong = {
        one: (wanted[one], text) for one, text in expected.items()
        if not (wanted[one].startswith(text) if text.endswith(OPEN_ENDED) else wanted[one] == text)
    }  # fmt: skip
    assert wrong == {}
    assert {
        one: document["error_code"] for one, document in found.items() if document["error_code"] != "PERMISSION_DENIED"
    } == {}


def test_a_refusal_that_is_the_tools_own_is_not_told_as_the_hosts(machine: Machine) -> None:
    found = answers(machine, list(OWN_ERRORS), {"network": []})
    assert {one: document["error_code"] for one, document in found.items()} == dict.fromkeys(
        OWN_ERRORS, "INTERNAL_ERROR"
    )
    assert all("PermissionError" in document["error"] for document in found.values())


@pytest.mark.slow
def test_a_call_of_the_kernel_that_no_tool_may_make_is_told_as_nothing_else(machine: Machine) -> None:
    statements = [f"raw({NUMBERS[name]})" for name in RAW]
    assert len(statements) > 15
    found = answers(machine, statements, {"network": []})
    told = {one: document.get("error", "no error") for one, document in found.items()}
    assert {one: text for one, text in told.items() if not text.startswith(f"probe wanted {SYSTEM}")} == {}
