"""What the kernel holds a supervised child to: each row is tried in a real child, as root and as an ordinary user."""

import builtins
import json
import os
import select
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from ferrule.confinement import Denial, Policy, support
from ferrule.confinement.broker import socket_calls
from ferrule.confinement.kernel.landlock import version
from ferrule.confinement.kernel.system_calls import NUMBERS
from ferrule.confinement.later import Later
from ferrule.confinement.policy import STANDARD
from ferrule.supervision.channel.outcome import Outcome
from ferrule.supervision.supervisor import supervise

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(support().missing), reason=f"not held here: {'; '.join(support().missing)}"),
]

NOBODY = 65534
_PRELUDE = """
import ctypes, fcntl, os, signal, socket, struct, subprocess, sys, tempfile, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    value = libc.syscall(number, *arguments)
    if value < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return value
parent = os.getppid()
own = os.environ["OWN"]
other = os.environ["OTHER"]
"""


def attempt(source: str, memory: int = 2048, seconds: float = 30, **policy: Any) -> Outcome:
    """Run Python in a child that is held to a policy; its result is what the name `got` stands for."""

    def work(channel: Any) -> None:
        names: dict[str, Any] = {}
        exec(_PRELUDE + textwrap.dedent(source), names)
        channel.result({"got": names.get("got")})

    return supervise(
        work,
        deadline=time.monotonic() + seconds,
        memory=memory + _own_mib(),
        size_limit=60_000,
        policy=Policy("weather", **policy),
    )


def _own_mib() -> int:
    """The address space of this process in MiB: the child is a copy of it, whatever tests ran here before."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE") >> 20


def got(outcome: Outcome) -> Any:
    assert outcome.result is not None, (outcome.failure, outcome.text)
    return json.loads(outcome.result)["got"]


@pytest.fixture(params=["root", "ordinary user"])
def user(request: pytest.FixtureRequest) -> str:
    """Whose process it is; root can become an ordinary user, who cannot become root."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("an ordinary user runs the tests")
    return str(request.param)


# What works for an ordinary user works for root, which is made sure of where it is slow; what is refused, for both.
BY_ONE_OR_BOTH = pytest.mark.parametrize(
    "user", ["ordinary user", pytest.param("root", marks=pytest.mark.slow)], indirect=True
)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A folder of the call, and one of somebody else with a file in it."""
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
        folder.chmod(0o777)
    secret = other / "secret"
    secret.write_text("open-sesame")
    secret.chmod(0o666)
    above = tmp_path
    while above != Path("/tmp") and above != Path("/") and above.stat().st_uid == os.geteuid():
        above.chmod(above.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
        above = above.parent
    monkeypatch.setenv("OWN", str(own))
    monkeypatch.setenv("OTHER", str(other))
    yield own, other
    assert secret.read_text() == "open-sesame"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o666


def as_user(user: str, run: Callable[[], Any]) -> Any:
    """What comes of it in a process of that user; only what JSON holds comes back."""
    if user == "root" or os.geteuid() != 0:
        return run()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            show_python_to_everybody()
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            libc_prctl_dumpable()
            os.write(writer, json.dumps(run()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        said = file.read()
    os.waitpid(child, 0)
    return json.loads(said)


def show_python_to_everybody() -> None:
    """For this process alone, put a readable folder instead of one above Python's that its owner keeps closed."""
    prefix = Path(sys.base_prefix)
    closed = [folder for folder in reversed(prefix.parents) if not folder.stat().st_mode & stat.S_IXOTH]
    if not closed:
        return
    import ctypes

    ctypes.CDLL(None).unshare(0x20000)  # a name space of mounts
    held = tempfile.mkdtemp()
    mounts = [
        ["--make-rprivate", "/"],
        ["--bind", str(prefix), held],
        ["-t", "tmpfs", "-o", "mode=755", "x", closed[0]],
    ]
    for words in mounts:
        subprocess.run(["mount", *map(str, words)], check=True)
    prefix.mkdir(parents=True)
    subprocess.run(["mount", "--bind", held, str(prefix)], check=True)


def libc_prctl_dumpable() -> None:
    """A process that was root hides itself from its user, which one of an ordinary user does not."""
    import ctypes

    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)


# What each row tries, with what is granted to it; the whole of each has to be refused.
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "reads a file of another": ("open(other + '/secret').read()", {}),
    "lists a folder of another": ("os.listdir(other)", {}),
    "writes to a file of another": ("open(other + '/secret', 'a').write('x')", {}),
    "truncates a file of another": ("os.truncate(other + '/secret', 0)", {}),
    "makes a file there": ("open(other + '/new', 'w')", {}),
    "removes it": ("os.unlink(other + '/secret')", {}),
    "renames it": ("os.rename(other + '/secret', own + '/mine')", {}),
    "links it": ("os.link(other + '/secret', own + '/mine')", {}),
    "follows a link of its own": ("os.symlink(other + '/secret', own + '/s'); open(own + '/s').read()", {}),
    "writes where it may read": ("open(other + '/secret', 'a')", {"read": True}),
    "changes a mode where it may read": ("os.chmod(other + '/secret', 0)", {"read": True}),
    "changes a mode by an open file": ("os.fchmod(os.open(other + '/secret', 0), 0)", {"read": True}),
    "changes a mode by a link": ("os.symlink(other + '/secret', own + '/t'); os.chmod(own + '/t', 0)", {}),
    "changes times": ("os.utime(other + '/secret', (1, 1))", {"read": True}),
    "changes an owner": ("os.chown(own, 1, 1)", {}),
    "gives its own file another user's rights": ("open(own + '/f', 'w'); os.chmod(own + '/f', 0o4755)", {}),
    "sets an attribute": ("os.setxattr(own, 'user.a', b'b')", {}),
    "reads an attribute": ("os.getxattr(other + '/secret', 'user.a')", {}),
    "lists the attributes": ("os.listxattr(other + '/secret')", {"read": True}),
    "lifts the limit of its memory": (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        {},
    ),
    "watches a folder": ("call(253 if os.uname().machine == 'x86_64' else 26, 0)", {}),
    "is told of changes": ("fcntl.fcntl(os.open('/usr/lib', 0), 1026, 1)", {}),
    "reads its parent's environment": ("open(f'/proc/{parent}/environ').read()", {}),
    "reads its parent's memory": ("open(f'/proc/{parent}/mem', 'rb').read(1)", {}),
    "opens a file of its parent": ("open(f'/proc/{parent}/fd/1', 'wb')", {"processes": 1}),
    "reads how its parent was called": ("open(f'/proc/{parent}/cmdline').read()", {}),
    "kills its parent": ("os.kill(parent, signal.SIGTERM)", {}),
    "stops its parent by a descriptor": ("signal.pidfd_send_signal(os.pidfd_open(parent), signal.SIGSTOP)", {}),
    "slows its parent down": ("os.setpriority(os.PRIO_PROCESS, parent, 19)", {}),
    "binds its parent to a processor": ("os.sched_setaffinity(parent, [0])", {}),
    "limits its parent": ("import resource; resource.prlimit(parent, resource.RLIMIT_NOFILE, (9, 9))", {}),
    **{
        f"asks {what}": (source, {})
        for what, source in {
            "for the session of its parent": "os.getsid(parent)",
            "for the group of its parent": "os.getpgid(parent)",
            "how its parent is scheduled": "os.sched_getscheduler(parent)",
            "with which parameter its parent is scheduled": "os.sched_getparam(parent)",
            "for the time slice of its parent": "os.sched_rr_get_interval(parent)",
            "for the processors of its parent": "os.sched_getaffinity(parent)",
            "for the priority of its parent": "os.getpriority(os.PRIO_PROCESS, parent)",
            "for the priority of a group": "os.getpriority(os.PRIO_PGRP, 0)",
            "for the priority of all of the user": "os.getpriority(os.PRIO_USER, 0)",
            "for the disk priority of its parent": f"call({NUMBERS['ioprio_get']}, 1, parent)",
            "for the disk priority of a group": f"call({NUMBERS['ioprio_get']}, 2, 0)",
            "for the limits of its parent": "import resource; resource.prlimit(parent, resource.RLIMIT_NOFILE)",
            "for the scheduling of its parent": f"call({NUMBERS['sched_getattr']}, parent, bytes(56), 56, 0)",
            "for the locks of its parent": f"call({NUMBERS['get_robust_list']}, parent, bytes(8), bytes(8))",
            "for the time that its parent used": "time.clock_gettime(~parent << 3 | 2)",
            "for a clock of its parent": "time.clock_getres(~parent << 3)",
            "for a timer on its parent": f"call({NUMBERS['timer_create']}, ~parent << 3 | 2, 0, bytes(8))",
            "for a descriptor of its parent": "os.pidfd_open(parent)",
            "for the capabilities of its parent": (
                f"call({NUMBERS['capget']}, struct.pack('<Ii', 0x20080522, parent), bytes(24))"
            ),
        }.items()
    },
    "opens the terminal": ("os.open('/dev/tty', os.O_RDWR)", {}),
    "types into a terminal": ("fcntl.ioctl(0, 0x5412, b'x')", {}),
    "starts a program": ("subprocess.run(['/bin/true'])", {}),
    "starts another program": ("subprocess.run(['/bin/true'])", {"programs": ("/bin/sh",)}),
    "becomes a program": ("os.execv('/bin/true', ['true'])", {}),
    "becomes a program that is a file": (
        "os.execve(os.open('/bin/true', 0), ['true'], {})",
        {"programs": ("/bin/sh",)},
    ),
    "forks": ("os.fork()", {}),
    "makes a namespace": ("call(272 if os.uname().machine == 'x86_64' else 97, 0x10000000)", {"processes": 2}),
    "makes one in a fork": (
        "call(56 if os.uname().machine == 'x86_64' else 220, 0x10000011, 0, 0, 0, 0)",
        {"processes": 2},
    ),
    "opens a socket": ("socket.socket()", {}),
    "opens a datagram socket": ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", {}),
    "opens a raw socket": ("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", {"network": ("public",)}),
    "opens a ping socket": ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1)", {"network": ("public",)}),
    "opens a packet socket": ("socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)", {"network": ("public",)}),
    "opens a netlink socket": ("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", {"network": ("public",)}),
    "opens a vsock socket": ("socket.socket(40, socket.SOCK_STREAM)", {"network": ("public",)}),
    "opens a socket of MPTCP": ("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)", {"network": ("public",)}),
    "opens a UNIX socket": ("socket.socket(socket.AF_UNIX)", {"network": ("public",)}),
    "makes a pair of datagram sockets": ("socket.socketpair(type=socket.SOCK_DGRAM)", {"network": ("public",)}),
    "waits for connections": ("socket.socket().bind(('127.0.0.1', 0))", {"network": ("public",)}),
    "waits without a place": ("socket.socket().listen()", {"network": ("public",)}),
    "waits at all addresses": ("socket.socket().bind(('0.0.0.0', 0))", {"network": ("loopback",)}),
    "traces its parent": ("call(101 if os.uname().machine == 'x86_64' else 117, 16, parent, 0, 0)", {}),
    "adds a key": ("call(248 if os.uname().machine == 'x86_64' else 217, b'user', b'a', b'b', 1, -2)", {}),
    "mounts": ("call(165 if os.uname().machine == 'x86_64' else 40, b'a', b'/mnt', b'tmpfs', 0, 0)", {}),
    "makes a ring": ("call(425, 1, ctypes.create_string_buffer(120))", {}),
    "loads a filter": ("call(317 if os.uname().machine == 'x86_64' else 277, 0, 0, 0)", {}),
    "shares memory": ("call(29 if os.uname().machine == 'x86_64' else 194, 0, 4096, 0o1666)", {}),
    "writes into shared memory": ("open('/dev/shm/ferrule-left', 'w')", {}),
    "clears what ends it with its parent": (
        "call(157 if os.uname().machine == 'x86_64' else 167, 1, 0, 0, 0, 0)",
        {},
    ),
    "writes a large file": ("open(own + '/f', 'wb').write(bytes(3 << 20))", {}),
}


# Whatever an attempt raises, the next one is made; each begins with the names that the first one had.
_EACH = """
outcomes, plain = {}, dict(globals())
for name, source in ROWS.items():
    names = dict(plain)
    print("tries:", name, file=sys.stderr, flush=True)  # shown where it ends the process
    try:
        exec(source, names)
        outcomes[name] = ["done", names.get("got")]
    except Exception as error:
        outcomes[name] = [type(error).__name__, str(error)]
got = outcomes
"""


def attempt_each(rows: dict[str, str], **policy: Any) -> Outcome:
    """Run each source in one child, which is held to a policy: what became of each, as a pair, by its name.

    The pair is `done` with what the name `got` stands for, or the class and the text of what was raised.
    """
    return attempt(f"ROWS = {rows!r}\n{_EACH}", **policy)


def is_one_of(name: str, classes: tuple[type[Exception], ...]) -> bool:
    """Whether an exception that is built in, of this name, is one of these; `done` is none."""
    return issubclass(getattr(builtins, name, object), classes)


Granted = tuple[dict[str, Any], dict[str, str]]


def by_what_is_granted(rows: dict[str, tuple[str, dict[str, Any]]]) -> list[Granted]:
    """The rows that one child can try, since the same is granted to them."""
    groups: dict[str, Granted] = {}
    for name, (source, granted) in rows.items():
        groups.setdefault(repr(granted), (granted, {}))[1][name] = source
    return list(groups.values())


def name_of_grant(group: Granted) -> str:
    return " ".join(f"{name}={value}" for name, value in group[0].items()) or "nothing"


@pytest.mark.parametrize("group", by_what_is_granted(REFUSED), ids=name_of_grant)
def test_what_is_not_granted_is_refused(group: Granted, user: str, folders: tuple[Path, Path]) -> None:
    granted, rows = group
    own, other = folders
    read = (str(other),) if granted.get("read") else ()

    def run() -> Any:
        return got(attempt_each(rows, **{**granted, "read": read, "write": (str(own),), "file_mib": 2}))

    outcomes = as_user(user, run)
    assert outcomes.keys() == rows.keys()
    # A system call that is not there is as good as refused.
    refusals = (OSError, AttributeError, ValueError)
    assert {name: said for name, said in outcomes.items() if not is_one_of(said[0], refusals)} == {}


ALLOWED: dict[str, tuple[str, dict[str, Any]]] = {
    "imports what it has not imported": ("import colorsys, sqlite3, xml.dom.minidom; got = 1", {}),
    "uses its folder": (
        "open(own + '/a', 'w').write('x'); os.rename(own + '/a', own + '/b'); os.chmod(own + '/b', 0o600)\n"
        "os.utime(own + '/b', (5, 5)); got = os.stat(own + '/b').st_mtime == 5; os.unlink(own + '/b')",
        {},
    ),
    "uses temporary files": (
        "with tempfile.NamedTemporaryFile() as file: got = file.write(b'abc')\n"
        "with tempfile.TemporaryDirectory() as folder: open(folder + '/a', 'w')",
        {},
    ),
    "copies with modes": ("import shutil; got = shutil.copy(os.__file__, own + '/os.py')", {}),
    "copies with times and attributes": ("import shutil; got = shutil.copy2(os.__file__, own + '/os2.py')", {}),
    "uses sqlite": (
        "import sqlite3; base = sqlite3.connect(own + '/a.db'); base.execute('pragma journal_mode=wal')\n"
        "base.execute('create table a (b)'); base.execute('insert into a values (1)'); base.commit()\n"
        "got = base.execute('select count(*) from a').fetchone()[0]",
        {},
    ),
    "uses threads": (
        "said = []; threads = [threading.Thread(target=said.append, args=(1,)) for _ in range(20)]\n"
        "[one.start() for one in threads]; [one.join() for one in threads]; got = len(said)",
        {},
    ),
    "uses an event loop": ("import asyncio; got = asyncio.run(asyncio.sleep(0, 7))", {}),
    "uses time zones": ("import zoneinfo; got = str(zoneinfo.ZoneInfo('Europe/Oslo'))", {}),
    "has certificates": ("import ssl; got = len(ssl.create_default_context().get_ca_certs()) >= 0", {}),
    "knows itself": ("got = len(os.listdir('/proc/self/fd')) and open('/proc/self/statm').read()", {}),
    "knows the machine": ("got = os.cpu_count() and len(open('/proc/meminfo').read())", {}),
    "resolves names": ("got = socket.getaddrinfo('localhost', 80)[0][4][0]", {"network": ("public",)}),
    "signals itself": ("signal.signal(10, lambda *_: None); os.kill(os.getpid(), 10); got = 1", {}),
    "starts what it declares": (
        "got = subprocess.run(['/bin/cat'], input=b'hello', capture_output=True).stdout.decode()",
        {"programs": ("/bin/cat",)},
    ),
    "starts a script with its interpreter": (
        "open(own + '/s', 'w').write('#!/bin/sh\\necho hello\\n'); os.chmod(own + '/s', 0o700)\ngot = 'later'",
        {},
    ),
    "forks as many as it declares": ("got = 0 if os.fork() else os._exit(0); os.wait(); got = 1", {"processes": 1}),
    "shares locks and memory with what it forks": (
        "import multiprocessing\nlock = multiprocessing.get_context('fork').Lock()\n"
        "with lock: open('/dev/shm/ferrule-own', 'w').write('x')\ngot = os.listdir('/dev/shm')",
        {"processes": 1},
    ),
    "knows facts of itself": (
        "me, thread = os.getpid(), []\n"
        "def ask(one):\n"
        "    facts = (os.getpgid, os.getsid, os.sched_getparam, os.sched_getscheduler, os.sched_rr_get_interval)\n"
        "    return [fact(one) for fact in facts], os.sched_getaffinity(one), os.getpriority(0, one)\n"
        "def work():\n"
        "    time.clock_gettime(time.pthread_getcpuclockid(threading.get_ident()))\n"
        "    thread.append(ask(threading.get_native_id()))\n"
        "one = threading.Thread(target=work); one.start(); one.join()\n"
        "assert str(ask(0)) == str(ask(me)) == str(thread[0])\n"
        "got = time.clock_gettime(~me << 3 | 2) > 0 and os.close(os.pidfd_open(me)) is None",
        {},
    ),
    "knows its capabilities": (
        "said = []\n"
        "for number in (0, os.getpid()):\n"
        "    data = ctypes.create_string_buffer(b'x' * 24, 24)\n"
        f"    call({NUMBERS['capget']}, struct.pack('<Ii', 0x20080522, number), data)\n"
        "    said.append(struct.unpack('<6I', data.raw)[0])\n"
        "header = ctypes.create_string_buffer(8)\n"
        f"call({NUMBERS['capget']}, header, None)\n"
        "got = said == [0, 0] and hex(struct.unpack('<I', header.raw[:4])[0])",
        {},
    ),
    "knows what it has started": (
        "reader, writer = os.pipe()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    grandchild = os.fork()\n"
        "    if grandchild: os.write(writer, b'%d' % grandchild)\n"
        "    time.sleep(60); os._exit(0)\n"
        "grandchild = int(os.read(reader, 16))\n"
        "got = os.getpgid(child) == os.getpgid(grandchild) == os.getpgid(0) and len(os.sched_getaffinity(grandchild))\n"
        "time.clock_gettime(~child << 3 | 2); file = os.pidfd_open(child)\n"
        "signal.pidfd_send_signal(file, 9); os.waitid(os.P_PIDFD, file, os.WEXITED)\n"
        "assert os.getsid(grandchild) == os.getsid(0)  # another process has adopted it",
        {"processes": 2},
    ),
    "asks for facts of what it starts while that ends": (
        "signal.signal(signal.SIGCHLD, lambda *_: None); got = 0\n"
        "while got < 100:\n"
        "    child = os.fork()\n"
        "    if not child: os._exit(0)\n"
        "    got += os.getsid(child) == os.getsid(0) and os.getpgid(child) == os.getpgid(0)\n"
        "    os.waitpid(child, 0)",
        {"processes": 1},
    ),
    "is bounded": ("import ferrule; got = ferrule.bounded(lambda: 5, seconds=5)", {"processes": 1}),
}


@BY_ONE_OR_BOTH
@pytest.mark.parametrize("group", by_what_is_granted(ALLOWED), ids=name_of_grant)
def test_what_any_tool_needs_goes_on_working(group: Granted, user: str, folders: tuple[Path, Path]) -> None:
    granted, rows = group

    def run() -> Any:
        return got(attempt_each(rows, write=(str(folders[0]),), **granted))

    outcomes = as_user(user, run)
    assert outcomes.keys() == rows.keys()
    assert {name: said for name, said in outcomes.items() if said[0] != "done" or not said[1]} == {}


# Programs that look at themselves and at what they start: each says this.
PROGRAMS = {
    "node": (["-e", "const os=require('os');console.log(os.getPriority(0)>=-20&&os.availableParallelism()>0)"], "true"),
    "git": (["-c", "alias.say=!exec git version --build-options | grep -c cpu", "say"], "1"),
    "python3": (["-c", "import os,threading as t;t.Thread(target=print,args=(os.getpgid(0)>0,)).start()"], "True"),
    "nproc": (["--ignore=1000"], "1"),
    "sh": (["-c", "set -m; sleep 0.01 & wait; echo over"], "over"),
}


@BY_ONE_OR_BOTH
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_go_on_working(program: str, user: str, folders: tuple[Path, Path]) -> None:
    arguments, expected = PROGRAMS[program]
    if (path := shutil.which(program, path="/usr/local/bin:/usr/bin:/bin")) is None:
        pytest.skip(f"{program} is not installed")
    source = f"got = subprocess.run({[path, *arguments]}, capture_output=True, text=True, cwd=own).stdout.strip()"
    helpers = ("/bin/sh", "/usr/bin/grep", "/usr/bin/sleep", "/usr/lib/git-core")

    def run() -> Any:
        return got(attempt(source, memory=4096, programs=(path, *helpers), processes=4, write=(str(folders[0]),)))

    assert as_user(user, run) == expected


def test_what_a_program_is_denied_is_known(user: str, folders: tuple[Path, Path]) -> None:
    source = "got = subprocess.run(['cat', other + '/secret'], capture_output=True).returncode"

    def run() -> Any:
        outcome = attempt(source, programs=("/bin/cat",))
        return [got(outcome), [[one.kind, one.what] for one in outcome.denied]]

    assert as_user(user, run) == [1, [["read", str(folders[1] / "secret")]]]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.slow
@pytest.mark.parametrize(("mib", "expected"), [(100, "100"), (100_000, "OUT_OF_MEMORY")])
@pytest.mark.usefixtures("folders")
def test_a_program_reserves_what_it_wants_and_uses_what_it_may(user: str, mib: int, expected: str) -> None:
    script = f"const a=[];for(let i=0;i<{mib};i++)a.push(Buffer.alloc(1<<20,1));console.log(a.length)"
    source = f"got = subprocess.run(['node', '-e', {script!r}], capture_output=True, text=True).stdout.strip()"

    def run() -> Any:
        outcome = attempt(source, memory=300, programs=(str(shutil.which("node")),))
        return outcome.failure["code"] if outcome.failure else got(outcome)

    assert as_user(user, run) == expected


def test_shared_memory_is_the_calls_own_and_goes_with_it(user: str, folders: tuple[Path, Path]) -> None:
    file = tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="ferrule-test-")  # noqa: SIM115 - it is open meanwhile
    source = "open('/dev/shm/ferrule-left', 'w').write('x'); got = os.listdir('/dev/shm')"
    with file:
        seen = as_user(user, lambda: got(attempt(source, processes=1)))
        assert seen == ["ferrule-left"]
    assert not os.path.exists("/dev/shm/ferrule-left")


def test_no_privilege_is_left(folders: tuple[Path, Path]) -> None:
    status = got(attempt("got = open('/proc/self/status').read()"))
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {facts[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} <= {"0" * 16} or os.geteuid()
    assert facts["CapEff"] == "0" * 16
    assert facts["NoNewPrivs"] == "1"
    assert facts["Seccomp"] == "2"


def test_the_environment_is_the_policys_and_its_temporary_folder_goes_with_the_call(
    folders: tuple[Path, Path],
) -> None:
    policy = {"OWN": str(folders[0]), "OTHER": str(folders[1]), "CITY": "Oslo"}
    source = "open(tempfile.gettempdir() + '/left', 'w'); got = [dict(os.environ), tempfile.gettempdir()]"
    environment, folder = got(attempt(source, environment=policy))
    assert set(environment) == {*policy, "TMPDIR", "TEMP", "TMP"}
    assert environment["TMPDIR"] == folder
    assert not os.path.exists(folder)


def test_a_folder_that_the_call_has_locked_goes_all_the_same(folders: tuple[Path, Path]) -> None:
    source = "os.makedirs(tempfile.gettempdir() + '/a/b'); os.chmod(tempfile.gettempdir() + '/a', 0)\n"
    assert not os.path.exists(got(attempt(source + "got = tempfile.gettempdir()")))


@pytest.fixture
def server() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()


# How a call reaches for an address; each gives how many connections or bytes it made.
REACHES = {
    "a blocking connection": "made = socket.socket(); made.connect(address); got = made.getblocking()",
    "one with a time limit": "made = socket.create_connection(address, 5); got = made.gettimeout() == 5",
    "one of an event loop": (
        "import asyncio\n"
        "async def reach():\n"
        "    _, writer = await asyncio.open_connection(*address)\n"
        "    writer.close()\n"
        "    return 1\n"
        "got = asyncio.run(reach())"
    ),
    "the address as an IPv6 one": (
        "made = socket.socket(socket.AF_INET6); made.connect(('::ffff:' + address[0], address[1])); got = 1"
    ),
    "one of another thread": (
        "said = []\n"
        "def reach():\n"
        "    try: said.append(socket.create_connection(address, 5) is not None)\n"
        "    except OSError as error: said.append(error)\n"
        "thread = threading.Thread(target=reach); thread.start(); thread.join()\n"
        "if said[0] is not True: raise said[0]\n"
        "got = 1"
    ),
    "one of a fork": (
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try: socket.create_connection(address, 5); os._exit(0)\n"
        "    except PermissionError: os._exit(13)\n"
        "code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        "if code: raise PermissionError(code, 'refused')\n"
        "got = 1"
    ),
    "a datagram": "got = socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', address)",
    "a datagram in pieces": (
        "made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); got = made.sendmsg([b'x', b'y'], [], 0, address)"
    ),
    "a datagram socket that is connected": (
        "made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); made.connect(address); got = made.send(b'x')"
    ),
}


@pytest.mark.parametrize(
    ("network", "is_reached"),
    [
        (("loopback",), True),
        (("public", "private"), False),
        (("127.0.0.1:{port}",), True),
        (("localhost:{port}",), True),
        (("localhost:9",), False),
        (("*.example.com:{port}",), False),
    ],
    ids=str,
)
def test_addresses_are_held_whichever_way_they_are_reached_for(
    network: tuple[str, ...], is_reached: bool, server: tuple[str, int], folders: tuple[Path, Path]
) -> None:
    granted = tuple(one.format(port=server[1]) for one in network)
    rows = {way: f"address = {server!r}\n{source}" for way, source in REACHES.items()}
    outcomes = got(attempt_each(rows, network=granted, processes=1))
    assert outcomes.keys() == REACHES.keys()
    for way, (said, value) in outcomes.items():
        assert (said == "done" and value) if is_reached else said == "PermissionError", (way, said, value)


@pytest.mark.parametrize("way", ["a blocking connection", "a datagram"])
def test_a_way_to_a_forbidden_address_ends_the_call(
    way: str, server: tuple[str, int], folders: tuple[Path, Path]
) -> None:
    failure = attempt(f"address = {server!r}\n{REACHES[way]}", network=("public", "private")).failure
    assert failure is not None
    assert failure["code"] == "PERMISSION_DENIED"


def test_an_ordinary_user_s_calls_are_judged_too(server: tuple[str, int], folders: tuple[Path, Path]) -> None:
    def run(network: str) -> str:
        outcome = attempt(f"got = socket.create_connection({server!r}, 5) is not None", network=(network,))
        return outcome.failure["message"] if outcome.failure else "reached"

    assert as_user("ordinary user", lambda: run("loopback")) == "reached"
    refused = as_user("ordinary user", lambda: run("public"))
    assert refused == f"weather wanted to reach 127.0.0.1:{server[1]}; it may reach the public web."


def test_a_refused_connection_is_an_error_of_the_network_and_not_of_permissions(folders: tuple[Path, Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = closed.getsockname()
    outcome = attempt(f"socket.create_connection({address!r}, 5)", network=("loopback",))
    assert outcome.failure is not None
    assert "ConnectionRefusedError" in outcome.failure["message"]
    assert outcome.denied == []


def test_an_address_that_is_exchanged_while_it_is_judged_is_not_reached(
    server: tuple[str, int], folders: tuple[Path, Path]
) -> None:
    """A thread writes a forbidden address over the allowed one again and again, as the call connects to it."""
    with socket.create_server(("127.0.0.1", 0)) as forbidden:
        source = f"""
        def sockaddr(port):
            return struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton("127.0.0.1"))
        good, bad = sockaddr({server[1]}), sockaddr({forbidden.getsockname()[1]})
        shared = ctypes.create_string_buffer(good, 16)
        stop = False
        def exchange():
            while not stop:
                ctypes.memmove(shared, bad, 16)
                ctypes.memmove(shared, good, 16)
        thread = threading.Thread(target=exchange); thread.start()
        reached = set()
        for number in range(20_000):
            if number >= 300 and reached: break  # on a busy machine the thread may write for long in one go
            made = socket.socket(); made.setblocking(False)
            libc.connect(made.fileno(), shared, 16)
            try: reached.add(made.getpeername()[1])
            except OSError: pass
            made.close()
        stop = True
        thread.join()
        got = sorted(reached)
        """
        assert got(attempt(source, network=(f"127.0.0.1:{server[1]}",))) == [server[1]]


# How a call sends with flags; each is given the number of the call, the descriptor and the flags.
SENDS = {
    # Without an address the kernel makes the call by itself, from the memory of the child.
    "sendto": "call({sendto}, made.fileno(), b'x', 1, flags, bytes(16), 16)",
    "sendmsg": "made.sendmsg([b'x'], [], flags)",
    "sendmmsg": (
        "piece = struct.pack('<QQ', ctypes.addressof(data), 1); pieces = ctypes.create_string_buffer(piece, 16); "
        "message = struct.pack('<QI4xQQQQi4xI4x', 0, 0, ctypes.addressof(pieces), 1, 0, 0, 0, 0); "
        "header = ctypes.create_string_buffer(message, 64); "
        "call({sendmmsg}, made.fileno(), header, 1, flags)"
    ),
}


@pytest.mark.parametrize("way", SENDS)
def test_no_flag_is_passed_on_with_which_the_kernel_would_still_hold_memory_of_the_supervisor(
    way: str, server: tuple[str, int], folders: tuple[Path, Path]
) -> None:
    """Every flag that there is, on a socket that asks for sending without a copy."""
    send = SENDS[way].format(sendto=NUMBERS["sendto"], sendmmsg=NUMBERS["sendmmsg"])
    source = f"""
    import errno
    made = socket.create_connection({server!r}, 5)
    made.settimeout(None)
    made.setsockopt(socket.SOL_SOCKET, 60, 1)  # SO_ZEROCOPY
    data = ctypes.create_string_buffer(b"x", 8)
    got = 0
    for bit in range(32):
        flags = ctypes.c_uint(1 << bit).value
        try:
            if "{way}" == "sendmsg" and bit == 31:
                flags -= 1 << 32  # which Python wants as a signed number
            {send}
            got |= 1 << bit
        except OSError as error:
            if error.errno != (errno.EACCES if bit == 29 else errno.EOPNOTSUPP):  # MSG_FASTOPEN is a connection
                raise
    """
    assert got(attempt(source, network=("loopback",))) == socket_calls.SEND_FLAGS


def test_calls_that_make_no_sense_fail_and_the_supervisor_goes_on(
    server: tuple[str, int], folders: tuple[Path, Path]
) -> None:
    """Addresses that are none, descriptors of other kinds, sizes beyond all bounds."""
    source = f"""
    import random
    random.seed(5)
    numbers = {{"x86_64": (42, 44, 46, 307, 49, 50, 90, 91, 268, 280), "aarch64": (203, 206, 211, 269, 52, 53, 88)}}
    odd = (0, 1, 2**64 - 1, 2**63, 2**63 - 1, 2**32 - 100, 4096, ctypes.addressof(ctypes.create_string_buffer(200)))
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened = [socket.socket(), datagrams, socket.socketpair()[0], open(own + "/x", "w")]
    files = [one.fileno() for one in opened] + [-1, 999]
    failed = 0
    for number in numbers[os.uname().machine]:
        for _ in range(60):
            words = [ctypes.c_ulong(random.choice(odd)) for _ in range(5)]
            try: call(number, ctypes.c_long(random.choice(files)), *words)
            except OSError: failed += 1
    made = socket.create_connection({server!r}, 5)
    got = failed > 300
    """
    assert got(attempt(source, network=("loopback",), write=(str(folders[0]),))) is True


def test_more_forks_than_declared_fail_and_none_is_left(folders: tuple[Path, Path]) -> None:
    source = """
    started = []
    try:
        while len(started) < 60:
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            started.append(child)
    except OSError as error:
        got = [len(started), type(error).__name__]
    """
    outcome = attempt(source, processes=3)
    assert got(outcome) == [3, "BlockingIOError"]
    assert list(outcome.denied) == [Denial("fork", "more than 3 processes")]


HUNDRED_THREADS = """
import os, threading, time
from ferrule.confinement import Policy
from ferrule.supervision.supervisor import supervise

def work(channel):
    threading.stack_size(1 << 20)
    is_over = threading.Event()
    threads = [threading.Thread(target=is_over.wait) for _ in range(100)]
    for one in threads: one.start()
    count = len(os.listdir("/proc/self/task"))
    is_over.set()
    channel.result({"threads": count})

with open("/proc/self/statm") as file:
    own = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") >> 20
limits = {"deadline": time.monotonic() + 600, "memory": own + 400, "size_limit": 1000}
outcome = supervise(work, policy=Policy("weather"), **limits)
print((outcome.result or b"").decode(), outcome.failure or "")
"""


def test_a_hundred_threads_share_their_arenas() -> None:
    """Of the memory that is reckoned with addresses: an arena for each would take 64 MiB of them.

    In a process of its own: one that has had many threads has arenas for as many as the processors allow.
    """
    done = subprocess.run([sys.executable, "-c", HUNDRED_THREADS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '{"threads":101}'


@pytest.fixture
def answering() -> Iterator[tuple[str, int]]:
    """The address of a server that takes each connection and ends it."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        threading.Thread(target=_take_all, args=(listening,), daemon=True).start()
        yield listening.getsockname()
        listening.shutdown(socket.SHUT_RDWR)


def _take_all(listening: socket.socket) -> None:
    with suppress(OSError):
        while True:
            listening.accept()[0].close()


@pytest.fixture
def silent() -> Iterator[tuple[str, int]]:
    """The address of a server with which connections are begun and never made, because so many wait already."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()


# Much at a time, or one after the other; each gives True.
MUCH = {
    "connections of 16 threads": """
        made = []
        def reach():
            for _ in range(125): made.append(socket.create_connection(address).close())
        threads = [threading.Thread(target=reach) for _ in range(16)]
        for one in threads: one.start()
        for one in threads: one.join()
        got = len(made) == 2000
    """,
    "copies, each of which connects": """
        codes = []
        for _ in range(100):
            child = os.fork()
            if child == 0:
                try: socket.create_connection(address).close(); os._exit(0)
                except OSError: os._exit(1)
            codes.append(os.waitpid(child, 0)[1])
        got = codes == [0] * 100
    """,
    "programs, each of which connects": """
        code = f"from _socket import socket; socket().connect({address!r})"
        command = [sys.executable, "-I", "-S", "-c", code]
        got = [subprocess.call(command) for _ in range(50)] == [0] * 50
    """,
    "copies that are killed while they connect": """
        def reach():
            while True: socket.create_connection(address).close()
        for _ in range(30):
            begun, beginning = os.pipe()
            child = os.fork()
            if child == 0:
                threads = [threading.Thread(target=reach) for _ in range(4)]
                for one in threads: one.start()
                os.write(beginning, b"x")
                threads[0].join()
            os.read(begun, 1)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(begun); os.close(beginning)
        got = socket.create_connection(address).close() is None
    """,
    "threads that end, as a program takes their place, while they connect": """
        def reach():
            while True: socket.create_connection(address).close()
        codes = []
        for _ in range(30):
            child = os.fork()
            if child == 0:
                for _ in range(4): threading.Thread(target=reach, daemon=True).start()
                os.execv("/bin/true", ["true"])
            codes.append(os.waitpid(child, 0)[1])
        got = codes == [0] * 30 and socket.create_connection(address).close() is None
    """,
    "signals that interrupt connecting": """
        interrupted = []
        signal.signal(signal.SIGALRM, lambda *_: interrupted.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        while len(interrupted) < 100: socket.create_connection(address).close()
        signal.setitimer(signal.ITIMER_REAL, 0)
        got = True
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", MUCH)
def test_a_call_may_do_much(what: str, answering: tuple[str, int], folders: tuple[Path, Path]) -> None:
    source = f"address = {answering!r}\n" + textwrap.dedent(MUCH[what])
    programs = (sys.executable, "/bin/true") if "program" in what else ()
    assert got(attempt(source, memory=4096, network=("loopback",), processes=2, programs=programs)) is True


def test_no_more_connections_are_waited_for_than_the_supervisor_has_room_for(
    silent: tuple[str, int], answering: tuple[str, int], folders: tuple[Path, Path]
) -> None:
    """And none of a process that has ended."""
    source = f"""
    import errno
    threading.stack_size(256 << 10)
    refused, refusing = os.pipe()
    child = os.fork()
    if child == 0:
        def reach():
            number = socket.socket().connect_ex({silent!r})
            os.write(refusing, bytes([number]))
        for _ in range(129): threading.Thread(target=reach).start()
        time.sleep(60)
    first = os.read(refused, 1)[0]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    got = [errno.errorcode[first], socket.create_connection({answering!r}).close()]
    """
    assert got(attempt(source, network=("loopback",), processes=1)) == ["ENOBUFS", None]


@pytest.mark.timeout(30)
def test_a_socket_that_waits_after_all_keeps_the_supervisor_waiting_for_nothing(
    silent: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where another thread of the call sets it to wait at the very moment."""
    address = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(silent[1]), socket.inet_aton(silent[0]))

    class Process:
        def read(self, *_: int) -> bytes:
            return address

        def descriptor(self, number: int) -> int:
            return os.dup(number)

    monkeypatch.setattr(socket_calls, "fcntl", lambda *_: 0)
    calls = socket_calls.SocketCalls(Policy("weather", network=("loopback",)), lambda *_: None, lambda *_: None)
    before = len(os.listdir("/proc/self/fd"))
    with socket.socket() as waiting:
        value = calls.connect(Process(), lambda: None, [waiting.fileno(), 0, len(address), 0, 0, 0])  # type: ignore[arg-type] # what it uses of one
        assert isinstance(value, Later)
        connecting = f"{NUMBERS['connect']} "
        while not any(file.read_text().startswith(connecting) for file in Path("/proc/self/task").glob("*/syscall")):
            pass
        value.give_up()
        assert select.select([value.file], [], [], 20)[0] == [value.file]
        value.leave()
    while len(os.listdir("/proc/self/fd")) > before:  # the thread closes what it had
        pass


def test_closing_a_socket_keeps_nobody_waiting(folders: tuple[Path, Path]) -> None:
    """The supervising process may be the last to close one."""
    source = """
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    got = struct.unpack("ii", made.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))[0]
    """
    assert got(attempt(source, network=("loopback",))) == 0


def test_messages_in_many_pieces_keep_no_call_beyond_its_deadline(
    server: tuple[str, int], folders: tuple[Path, Path]
) -> None:
    """Each of 65,536 pieces is read by the supervising process."""
    source = f"""
    piece = ctypes.create_string_buffer(b"x")
    pieces = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(piece), 1) * 1024)
    to = struct.pack("=HH4s8x", socket.AF_INET, socket.htons({server[1]}), socket.inet_aton("127.0.0.1"))
    address = ctypes.create_string_buffer(to)
    message = struct.pack("QI4xQQ32x", ctypes.addressof(address), 16, ctypes.addressof(pieces), 1024)
    messages = ctypes.create_string_buffer(message * 64)
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    def send():
        while True: libc.syscall({NUMBERS["sendmmsg"]}, made.fileno(), messages, 64, 0)
    for _ in range(8): threading.Thread(target=send, daemon=True).start()
    time.sleep(60)
    """
    began = time.monotonic()
    outcome = attempt(source, seconds=1, network=("loopback",))
    assert outcome.failure is not None
    assert outcome.failure["code"] == "TIMEOUT"
    assert time.monotonic() - began < 4


def test_a_child_of_a_child_is_held_to_both_policies(server: tuple[str, int], folders: tuple[Path, Path]) -> None:
    """As a search holds each provider: the outer process judges the inner one's connections."""
    inner = f"""
    from ferrule.confinement import Policy
    from ferrule.supervision.supervisor import supervise
    def work(channel):
        said = []
        for wanted in (lambda: open(own + "/a").read(), lambda: socket.create_connection({server!r}, 5)):
            try: said.append(str(wanted())[:6])
            except PermissionError: said.append("refused")
        channel.result({{"said": said}})
    open(own + "/a", "w").write("x")
    got = []
    for policy in (Policy("a", network=("loopback",)), Policy("b", read=(own,)), Policy("c", read=(own, other))):
        outcome = supervise(work, deadline=time.monotonic() + 9, memory=1 << 20, size_limit=9999, policy=policy)
        got.append(outcome.result.decode() if outcome.result else str(outcome.failure))
    """
    said = got(attempt(inner, write=(str(folders[0]),), network=("loopback",), processes=2))
    assert said[0] == '{"said":["refused","<socke"]}'
    assert said[1] == said[2] == '{"said":["x","refused"]}'


TOLD = {
    "open(other + '/secret')": ("read", "{other}/secret", "it declares no files."),
    "open(other + '/new', 'w')": ("write", "{other}/new", "it declares no files."),
    "socket.socket()": ("connect", "", "it declares no network."),
    "subprocess.run(['git', 'status'])": ("run", "git", "it declares no programs."),
    "os.fork()": ("fork", "", "it declares no processes."),
    "os.kill(parent, 9)": ("signal", "", "its own processes only."),
    "try:\n    open(other + '/secret')\nexcept OSError as error:\n    raise ValueError('no data') from error": (
        "read", "{other}/secret", "it declares no files.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("source", TOLD)
def test_a_refusal_says_what_was_tried_and_how_it_is_allowed(source: str, folders: tuple[Path, Path]) -> None:
    kind, what, why = TOLD[source]
    failure = attempt(source).failure
    assert failure is not None
    assert failure["code"] == "PERMISSION_DENIED"
    assert failure["message"].startswith("weather wanted to ")
    assert failure["message"].endswith(why)
    assert failure["details"]["denied"] == {"kind": kind, "what": what.format(other=folders[1])}
    if what:
        assert "ferrule permissions grant weather --" in failure["admin"]


def test_a_file_that_is_granted_and_that_the_system_refuses_is_no_refusal_of_permissions(tmp_path: Path) -> None:
    """What may be read by the policy, and not by the user."""
    closed = tmp_path / "closed"
    closed.write_text("x")
    closed.chmod(0)
    outcome = attempt(f"open({str(closed)!r})", read=(str(tmp_path),), environment={"OWN": "", "OTHER": ""})
    assert outcome.failure is not None
    assert outcome.failure["code"] == "INTERNAL_ERROR"
    assert outcome.denied == []


def test_without_isolation_the_environment_is_held_and_files_are_not(folders: tuple[Path, Path]) -> None:
    environment = {"OWN": str(folders[0]), "OTHER": str(folders[1])}
    source = "got = [open(other + '/secret').read(), 'HOME' in os.environ]"
    assert got(attempt(source, isolation="off", environment=environment)) == ["open-sesame", False]


def test_standard_isolation_holds_ports_and_not_addresses(server: tuple[str, int], folders: tuple[Path, Path]) -> None:
    source = f"got = socket.create_connection({server!r}, 5) is not None"
    assert got(attempt(source, network=("public",), isolation=STANDARD)) is True
    refused = attempt(source, network=("example.com:443",), isolation=STANDARD)
    assert refused.failure is not None
    assert refused.failure["code"] == "PERMISSION_DENIED"


def test_a_system_call_of_32_bits_ends_the_process(folders: tuple[Path, Path]) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("there is no such call on this processor")
    # int 0x80 with getpid: mov eax, 20; int 0x80; ret
    source = """
    import mmap
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(bytes.fromhex("b814000000cd80c3"))
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
    """
    outcome = attempt(source)
    assert outcome.failure is not None
    assert "SIGSYS" in outcome.failure["message"]


def test_support_tells_what_this_kernel_holds() -> None:
    found = support()
    assert found.landlock_abi == version() > 0
    assert found.seccomp
    assert found.notifications
    assert found.missing == []


def test_confinement_costs_no_import_that_is_slow() -> None:
    script = (
        "import sys\nfrom ferrule.confinement import Policy\nfrom ferrule.confinement.enforcement import confine\n"
        "confine(Policy('x'))\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert {"ctypes", "typing", "dataclasses", "re", "socket", "subprocess", "enum"}.isdisjoint(done.stdout.split())
