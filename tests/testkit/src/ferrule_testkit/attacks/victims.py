"""What stands beside a call and can be hurt or reached: a process, servers, a terminal, memory that is shared."""

from __future__ import annotations

import ctypes
import os
import pty
import resource
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ferrule_testkit.attacks.secrets import new_secret

# A process that waits, whose signals stay pending so that they can be seen, and that has a file open.
_WAITS = """\
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGIO})
os.dup2(os.open(sys.argv[1], os.O_RDONLY), 5)
print(flush=True)
sys.stdin.read()
"""
_SIGNALS = 1 << (signal.SIGUSR1 - 1) | 1 << (signal.SIGIO - 1)
_IPC_REMOVE = 0


class Neighbour:
    """Another process of the same user."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._start()

    def _start(self) -> None:
        environ = {"PATH": os.environ["PATH"], "STRONGROOM_API_KEY": new_secret("neighbour")}
        command = [sys.executable, "-I", "-S", "-c", _WAITS, str(self._file), new_secret("argument")]
        self.process = subprocess.Popen(
            command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0, cwd=self._file.parent
        )
        assert self.process.stdout
        self.process.stdout.readline()
        self._before = self._status()

    def damage(self) -> Iterator[str]:
        """What has become of it since the last time; it is another one then."""
        now = self._status()
        if now != self._before:
            changed = [f"{key} {now[key]}" for key in now if now[key] != self._before.get(key)]
            yield f"the neighbour: {', '.join(changed)}"
            self.close()
            self._start()

    def _status(self) -> dict[str, object]:
        process = self.process.pid
        if self.process.poll() is not None:
            return {"ended": self.process.returncode}
        text = Path(f"/proc/{process}/status").read_text()
        lines = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
        pending = int(lines["SigPnd"], 16) | int(lines["ShdPnd"], 16)
        stopped = lines["State"].strip()[0] in "Tt"
        return {
            "stopped": stopped,
            "tracer": lines["TracerPid"].strip(),
            "signals": pending & _SIGNALS,
            "priority": os.getpriority(os.PRIO_PROCESS, process),
            "processors": tuple(sorted(os.sched_getaffinity(process))),
            "scheduler": os.sched_getscheduler(process),
            "disk priority": ctypes.CDLL(None).syscall(_number(252, 31), 1, process),
            "limit": resource.prlimit(process, resource.RLIMIT_NOFILE),
            "score": Path(f"/proc/{process}/oom_score_adj").read_text().strip(),
        }

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()


class Servers:
    """Servers on loopback by TCP, UDP and UNIX sockets. They note what reaches them."""

    def __init__(self, folder: Path, secret: Path) -> None:
        self._secret = secret
        self._lock = threading.Lock()
        self._selector = selectors.DefaultSelector()
        self._reached: list[str] = []
        self.port, self.udp_port = self._internet()
        self.path, self.datagrams, self.abstract = (
            str(folder / "stream"),
            str(folder / "datagrams"),
            os.urandom(8).hex(),
        )
        self._add(socket.AF_UNIX, socket.SOCK_STREAM, self.path)
        self._add(socket.AF_UNIX, socket.SOCK_DGRAM, self.datagrams)
        self._add(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.abstract}")
        self._is_over = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def damage(self) -> Iterator[str]:
        """What has reached them since the last time; what loopback carries is there when its sender has gone on."""
        with self._lock:
            while self._answer(0):
                continue
            reached, self._reached = self._reached, []
        yield from dict.fromkeys(reached)

    def close(self) -> None:
        """Close them."""
        self._is_over = True
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr] # sockets only
        self._selector.close()

    def _internet(self) -> tuple[int, int]:
        first = self._add(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 0))
        datagrams = self._add(socket.AF_INET, socket.SOCK_DGRAM, ("0.0.0.0", 0))
        self._add(socket.AF_INET, socket.SOCK_DGRAM, ("0.0.0.0", datagrams[1]), 136)
        for kind, port in ((socket.SOCK_STREAM, first[1]), (socket.SOCK_DGRAM, datagrams[1])):
            self._add(socket.AF_INET6, kind, ("::", port))
        return first[1], datagrams[1]

    def _add(self, family: int, kind: int, address: object, protocol: int = 0) -> tuple[str, int]:
        try:
            server = socket.socket(family, kind, protocol)
        except OSError:  # a kernel without this protocol
            return ("", 0)
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        with suppress(OSError):
            server.setsockopt(socket.IPPROTO_TCP, 23, 5)  # TCP_FASTOPEN
        server.bind(address)  # type: ignore[arg-type] # of its family
        server.setblocking(False)
        if kind == socket.SOCK_STREAM:
            server.listen(64)
        self._selector.register(server, selectors.EVENT_READ, f"{server.family.name} {server.type.name}")
        named: tuple[str, int] = server.getsockname()
        return named

    def _serve(self) -> None:
        while not self._is_over:
            with self._lock:
                self._answer(0.002)
            # So that whoever waits for the lock gets it.
            threading.Event().wait(0.001)

    def _answer(self, seconds: float) -> bool:
        ready = self._selector.select(seconds)
        for key, _ in ready:
            server = key.fileobj
            assert isinstance(server, socket.socket)
            with suppress(OSError):
                if key.data is None:
                    self._converse(server)
                elif server.type == socket.SOCK_DGRAM:
                    server.recv(65536)
                    self._reached.append(f"reached {key.data}")
                else:
                    connection, _ = server.accept()
                    connection.setblocking(False)
                    self._selector.register(connection, selectors.EVENT_READ)
                    self._reached.append(f"reached {key.data}")
        return bool(ready)

    def _converse(self, connection: socket.socket) -> None:
        try:
            data = connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data.startswith(b"descriptor"):
            with self._secret.open() as file:
                socket.send_fds(connection, [b"!"], [file.fileno()])
        elif data.startswith(b"GET"):
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\npage")
        if not data or data.startswith(b"GET"):
            self._selector.unregister(connection)
            connection.close()


class Terminal:
    """A terminal of the user, on which a shell would stand."""

    def __init__(self) -> None:
        self._screen, self._keys = pty.openpty()
        self.name = os.ttyname(self._keys)
        os.set_blocking(self._screen, False)

    def damage(self) -> Iterator[str]:
        """What came onto it since the last time."""
        with suppress(BlockingIOError):
            if os.read(self._screen, 65536):
                yield "text on the terminal"

    def close(self) -> None:
        """Close it."""
        os.close(self._screen)
        os.close(self._keys)


class Client:
    """This process, which takes the signal that would end it with a core file in its working folder."""

    def __init__(self) -> None:
        self._count = 0
        self._handler = signal.signal(signal.SIGQUIT, self._take)

    def damage(self) -> Iterator[str]:
        """Whether it was signalled since the last time."""
        if self._count:
            yield "signalled the client"
            self._count = 0

    def close(self) -> None:
        """Let the signal do again what it did."""
        signal.signal(signal.SIGQUIT, self._handler)

    def _take(self, *_: object) -> None:
        self._count += 1


class ClientOutput:
    """A file that the client has open for writing, into which only it may write."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "client-output"
        self._file = self._path.open("w")

    def damage(self) -> Iterator[str]:
        """What was written into it since the last time."""
        if self._path.stat().st_size:
            yield "forged what the client writes"
            os.truncate(self._path, 0)

    def close(self) -> None:
        """Close it."""
        self._file.close()


class Devices:
    """The devices that every program of the machine writes to and reads from."""

    _NAMES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")

    def __init__(self) -> None:
        self._before = {name: self._state(name) for name in self._NAMES}

    def damage(self) -> Iterator[str]:
        """Which of them are others than before; as far as this user can, they are put back."""
        for name, before in self._before.items():
            if self._state(name) != before:
                yield f"changed {name}"
                self._put_back(name)

    def close(self) -> None:
        """Nothing is open."""

    @staticmethod
    def _state(name: str) -> tuple[int, int, int, int] | None:
        try:
            status = os.lstat(name)
        except FileNotFoundError:
            return None
        return status.st_mode, status.st_uid, status.st_gid, status.st_rdev

    def _put_back(self, name: str) -> None:
        before = self._before[name]
        with suppress(PermissionError):
            if self._state(name) is not None:
                os.unlink(name)
            if before is not None:
                mode, user, group, device = before
                os.mknod(name, mode, device)
                os.chmod(name, mode & 0o7777)
                os.chown(name, user, group)


class SharedMemory:
    """A segment and a queue of System V, a named queue, a file in /dev/shm, and a key in the keyring."""

    def __init__(self, mark: str) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.shmat.restype = ctypes.c_void_p
        self._mark = mark
        self.key = int(mark[:7], 16) | 1
        self.name, self.queue, self.key_name = (
            f"ferrule-canary-{mark}",
            f"ferrule-canary-{mark}",
            f"ferrule-canary-{mark}",
        )
        self._segment = self._libc.shmget(self.key, 4096, 0o1600)
        place = self._libc.shmat(self._segment, None, 0)
        secret = new_secret("segment").encode()
        ctypes.memmove(place, secret, len(secret))
        self._messages = self._libc.msgget(self.key, 0o1600)
        self.renew()
        self._before = _ipc(self.key + 2)

    def renew(self) -> None:
        """Put back what can be taken out."""
        message = (1).to_bytes(8, "little") + new_secret("message").encode()
        self._libc.msgsnd(self._messages, message, len(message) - 8, 0o4000)
        Path("/dev/shm", self.name).write_text(new_secret("shm"))
        number = _number(240, 180)
        queue = self._libc.syscall(number, self.queue.encode(), os.O_CREAT | os.O_RDWR | os.O_NONBLOCK, 0o600, 0)
        if queue >= 0:
            message = new_secret("queue").encode()
            self._libc.syscall(_number(242, 182), queue, message, len(message), 0, 0)
            os.close(queue)
        secret = new_secret("keyring").encode()
        self._keyring = self._libc.syscall(_number(248, 217), b"user", self.key_name.encode(), secret, len(secret), -4)

    def damage(self) -> Iterator[str]:
        """What was left since the last time, which is removed."""
        for kind, number in _ipc(self.key + 2) - self._before:
            yield f"left {kind} of System V"
            remove = getattr(self._libc, {"sem": "semctl"}.get(kind, f"{kind}ctl"))
            remove(number, *([0] if kind == "sem" else []), _IPC_REMOVE, None)
        for path in Path("/dev/shm").glob(f"planted-by-an-attack*{self._mark}*"):
            yield "left a file in /dev/shm"
            path.unlink()
        if self._libc.syscall(_number(241, 181), f"planted-by-an-attack-{self._mark}".encode()) == 0:
            yield "left a named queue"

    def close(self) -> None:
        """Remove all of it."""
        self._libc.shmctl(self._segment, _IPC_REMOVE, None)
        self._libc.msgctl(self._messages, _IPC_REMOVE, None)
        self._libc.syscall(_number(241, 181), self.queue.encode())
        Path("/dev/shm", self.name).unlink(missing_ok=True)
        if self._keyring > 0:
            self._libc.syscall(_number(250, 219), 9, self._keyring, -4)


def _ipc(own: int) -> set[tuple[str, int]]:
    """What there is under a key, which those of this scene's attacks have."""
    found = set()
    for kind in ("shm", "sem", "msg"):
        for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]:
            key, number, *_ = line.split()
            if int(key) == own:
                found.add((kind, int(number)))
    return found


def _number(x86_64: int, aarch64: int) -> int:
    return aarch64 if os.uname().machine in ("aarch64", "arm64") else x86_64
