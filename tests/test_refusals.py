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
from ferrule.confinement.kernel.call_numbers import NUMBERS
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served, install

if TYPE_CHECKING:
    from ferrule_serve.pool import CallAnswer, Pool
    from ferrule_testkit.machine import Machine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel cannot hold a call"),
]

TOP = """
import ctypes, multiprocessing, pathlib, shutil, signal, socket, sqlite3, subprocess
OTHER = os.path.expanduser("~/other")
OWN = os.environ.get("TMPDIR", "/tmp")
libc = ctypes.CDLL(None, use_errno=True)
def raw(number):
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
"""
NEW, FILE, FOLDER = "~/other/new", "~/other/file", "~/other"
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
    "open(OTHER + '/file', 'r+')": f"read {FILE}",
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
    "os.mkfifo(OTHER + '/new')": "write a file",
    "os.chmod(OTHER + '/file', 0o777)": f"write {FILE}",
    "os.utime(OTHER + '/file')": f"write {FILE}",
    "os.chown(OTHER + '/file', 0, 0)": f"write {FILE}",
    "os.setxattr(OTHER + '/file', 'user.a', b'x')": f"write {FILE}",
    "subprocess.run(['git', 'status'])": "run git",
    "subprocess.run(['/bin/sh', '-c', 'true'])": "run /bin/sh",
    "os.execv('/bin/sh', ['sh'])": "run /bin/sh",
    "os.posix_spawn('/bin/sh', ['sh'], {})": "run /bin/sh",
    "os.execv('/lib64/ld-linux-x86-64.so.2', ['ld', '/bin/true'])": "run /lib64/ld-linux-x86-64.so.2",
    "os.fork()": "start a process",
    "os.forkpty()": "start a process",
    "multiprocessing.get_context('fork').Process(target=print).start()": "start a process",
    "os.kill(os.getppid(), 9)": "send a signal to another process",
    "os.killpg(os.getpgid(os.getppid()), 9)": "send a signal to another process",
    "socket.socket()": "reach an address",
    "socket.socket(socket.AF_UNIX)": "reach an address",
    "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)": "reach an address",
    "socket.create_connection(('127.0.0.1', 9))": "reach 127.0.0.1:9",
    "os.setpriority(os.PRIO_PROCESS, os.getppid(), 5)": f"{SYSTEM} (setpriority)",
    "os.sched_setaffinity(os.getppid(), {0})": f"{SYSTEM} (sched_setaffinity)",
}
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


def test_what_is_refused_is_named(machine: Machine) -> None:
    found = answers(machine, list(WANTED), {"network": []})
    wanted = {
        statement: document.get("error", "no error").partition(";")[0].removeprefix("probe wanted to ")
        .removeprefix("probe wanted ").partition(". The administrator")[0]
        for statement, document in found.items()
    }  # fmt: skip
    assert {one: (wanted[one], WANTED[one]) for one in WANTED if wanted[one] != WANTED[one]} == {}
    assert {
        one: document["error_code"] for one, document in found.items() if document["error_code"] != "PERMISSION_DENIED"
    } == {}


def test_a_call_of_the_kernel_that_no_tool_may_make_is_told_as_nothing_else(machine: Machine) -> None:
    statements = [f"raw({NUMBERS[name]})" for name in RAW]
    assert len(statements) > 15
    found = answers(machine, statements, {"network": []})
    told = {one: document.get("error", "no error") for one, document in found.items()}
    assert {one: text for one, text in told.items() if not text.startswith(f"probe wanted {SYSTEM}")} == {}
