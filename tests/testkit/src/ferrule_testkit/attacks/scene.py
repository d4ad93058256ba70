"""A user's machine with something to steal, to change and to hurt, and whether that has happened."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypedDict

from ferrule_testkit.attacks.secrets import new_secret, secrets_in
from ferrule_testkit.attacks.victims import Client, ClientOutput, Devices, Neighbour, Servers, SharedMemory, Terminal
from ferrule_testkit.web.proxy import Proxy

PLANTED = "planted-by-an-attack"
_GET_FLAGS = 0x80086601
_OUTSIDE = ("/etc", "/dev/shm")  # where an attack plants a file outside of the scene


class SceneFacts(TypedDict):
    """What an attack is told: where things are, and none of what is in them."""

    home: str
    work: str
    outside: str
    state: str
    tmp: str
    links: str
    site: str
    host_code: str
    credentials: str
    config: str
    mark: str
    victim: int
    lan: str
    port: int
    udp_port: int
    proxy_port: int
    unix_path: str
    unix_datagrams: str
    abstract: str
    terminal: str
    segment_key: int
    shm_name: str
    queue: str
    key_name: str


class _Entry(NamedTuple):
    mode: int
    owner: int
    modified: int
    content: str
    attributes: str


class Scene:
    """A home with secrets, a client's working folder, a state folder, a neighbour, servers.

    root: an empty folder, which a path of at most 60 letters leads to. site: where the host's tools are installed, as
    a folder of modules. host_code: the folder of the host's package. links: where its executables are. grants: by
    tool, what the admin has allowed it, as lines of TOML. kept: whether a keeper may make calls.
    """

    def __init__(
        self,
        root: Path,
        *,
        site: Path,
        host_code: Path,
        links: Path,
        grants: Mapping[str, str] | None = None,
        kept: bool = False,
    ) -> None:
        self.mark = secrets.token_hex(8)
        self.root, self.site, self.host_code, self.links = root, site, host_code, links
        self.home, self.work, self.outside, self.tmp = (root / name for name in ("home", "work", "outside", "tmp"))
        self.state = self.home / ".local/state/ferrule"
        self.credentials = self.home / ".config/ikigai/credentials.json"
        self.config = self.home / ".config/ferrule/config.toml"
        self._fill(grants or {}, kept)
        self._copy = root / "copy"
        for folder in (self.home, self.work, self.outside):
            shutil.copytree(folder, self._copy_of(folder), symlinks=True)
        self.neighbour = Neighbour(self.outside / "secret.txt")
        self.servers = Servers(root, self.outside / "secret.txt")
        self.proxy = Proxy(new_secret("proxy"))
        self.terminal = Terminal()
        self.shared_memory = SharedMemory(self.mark)
        self._victims = (
            *(self.neighbour, self.servers, self.terminal, self.shared_memory),
            *(Client(), ClientOutput(root), Devices()),
        )
        self._before = self._entries()

    def environment(self) -> dict[str, str]:
        """The environment of the client: with another tool's key, and a proxy with a password."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.tmp),
            "LANG": "C.UTF-8",
            "STRONGROOM_API_KEY": new_secret("variable"),
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), self.proxy.url),
        }

    def facts(self) -> SceneFacts:
        """What an attack is told."""
        return {
            "home": str(self.home),
            "work": str(self.work),
            "outside": str(self.outside),
            "state": str(self.state),
            "tmp": str(self.tmp),
            "links": str(self.links),
            "site": str(self.site),
            "host_code": str(self.host_code),
            "credentials": str(self.credentials),
            "config": str(self.config),
            "mark": self.mark,
            "victim": self.neighbour.process.pid,
            "lan": _own_address(),
            "port": self.servers.port,
            "udp_port": self.servers.udp_port,
            "proxy_port": self.proxy.address[1],
            "unix_path": self.servers.path,
            "unix_datagrams": self.servers.datagrams,
            "abstract": self.servers.abstract,
            "terminal": self.terminal.name,
            "segment_key": self.shared_memory.key,
            "shm_name": self.shared_memory.name,
            "queue": self.shared_memory.queue,
            "key_name": self.shared_memory.key_name,
        }

    def damage(self, answer: str) -> list[str]:
        """What an attack has done that can be seen from outside, all of which is repaired. answer: all that it said."""
        found = [f"stole the secret {kind}" for kind in secrets_in(answer)]
        if (disk := self._disk()) and disk in answer:
            found.append("read the disk")
        for victim in self._victims:
            found += victim.damage()
        found += self._changes()
        if found:
            self.shared_memory.renew()
        return found

    def renew(self) -> None:
        """Take what is there now for what was there before, the links that have been made meanwhile."""
        shutil.copytree(self.links, self._copy_of(self.links), symlinks=True, dirs_exist_ok=True)
        self._before = self._entries()

    def close(self) -> None:
        """End all of it. The folder stays."""
        for victim in self._victims:
            victim.close()
        self.proxy.close()

    def _fill(self, grants: Mapping[str, str], kept: bool) -> None:
        home, state = self.home, self.state
        texts = {
            home / ".ssh/id_ed25519": "ssh",
            home / ".ssh/authorized_keys": "hosts",
            home / ".bashrc": "shell",
            home / ".bash_history": "history",
            home / ".aws/credentials": "cloud",
            home / ".mozilla/firefox/profile/cookies.sqlite": "cookies",
            home / "notes/diary.md": "diary",
            home / new_secret("name"): "name",
            state / new_secret("name"): "name",
            state / "tools/vault/token.txt": "state",
            state / "cache/vault/answer.json": "cache",
            state / "cache/answer.json": "cache",
            state / "cache/tools/vault/answer.json": "cache",
            state / "artifacts/tools/vault/canary": "artifact",
            state / "artifacts/canary": "artifact",
            state / "journal/calls.jsonl": "journal",
            state / "permissions/somebody.json": "record",
            self.work / "draft.txt": "draft",
            self.outside / "secret.txt": "outside",
            self.tmp / "other-call/secret.txt": "temporary",
        }
        for path, kind in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new_secret(kind) + "\n")
        (home / "reports").mkdir()
        for folder in (state, state / "cache", state / "artifacts", state / "tools", state / "journal", home / ".ssh"):
            folder.chmod(0o700)
        (home / ".link-to-secret").symlink_to(new_secret("link"))
        with suppress(OSError):  # not every file system has them
            os.setxattr(home / "notes/diary.md", "user.canary", new_secret("attribute").encode())
        self.credentials.parent.mkdir(parents=True)
        self.credentials.write_text(json.dumps({"vault": {"api_key": new_secret("file")}}))
        self.credentials.chmod(0o600)
        self.config.parent.mkdir(parents=True)
        tables = ['[keep]\ntools = ["*"]\n'] if kept else []
        tables += [f"[tools.vault]\npassword = '{new_secret('setting')}'\n"]
        tables += [f"[tools.{tool}.permissions]\n{granted}\n" for tool, granted in grants.items()]
        self.config.write_text("\n".join(tables))

    def _changes(self) -> Iterator[str]:
        now = self._entries()
        if now != self._before:
            changed = [path for path in {*now, *self._before} if now.get(path) != self._before.get(path)]
            yield f"changed {', '.join(sorted(os.path.relpath(path, self.root) for path in changed)[:4])}"
            self._restore(changed)
            self._before = self._entries()
        for planted in self._planted():
            yield f"left {planted}"
            planted.unlink()

    def _restore(self, changed: list[str]) -> None:
        """Remove what is new, and put back what is another one or has gone; folders before what is in them."""
        for path in sorted(changed, reverse=True):
            if path not in self._before or not os.path.isdir(path) or os.path.islink(path):
                with suppress(OSError):
                    os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
        for known in sorted(path for path in changed if path in self._before):
            source = self._copy_of(known)
            if source.is_dir() and not source.is_symlink():
                Path(known).mkdir(exist_ok=True)
                shutil.copystat(source, known)
            elif os.path.lexists(source):
                shutil.copy2(source, known, follow_symlinks=False)

    def _copy_of(self, path: str | Path) -> Path:
        return self._copy / os.path.relpath(path, self.root)

    def _planted(self) -> Iterator[Path]:
        for folder in (*map(Path, _OUTSIDE), self.host_code, self.site.parent, self.site):
            yield from folder.glob(f"{PLANTED}*")
        for top, names, files in os.walk(self.tmp):
            if Path(top) == self.tmp and "other-call" in names:
                names.remove("other-call")
            yield from (Path(top, name) for name in files if name.startswith(PLANTED))
        for package in ("hostile_attacks", "vault"):
            yield from (self.site / package).rglob(f"{PLANTED}*")

    def _entries(self) -> dict[str, _Entry]:
        """Everything that is there, of which only the own state folder of a tool may change."""
        found: dict[str, _Entry] = {}
        for top in (self.home, self.work, self.outside, self.links):
            for folder, names, files in os.walk(top):
                for name in (*names, *files, "."):
                    path = os.path.join(folder, name)
                    if not self._is_the_hosts(path):
                        found[path] = _entry(path)
        return found

    def _is_the_hosts(self, path: str) -> bool:
        """What the host keeps there itself, which is not what the scene has put there."""
        if not path.startswith(f"{self.state}/") or PLANTED in path:
            return False
        return not os.path.lexists(f"{self._copy}{path.removeprefix(str(self.root))}")  # asked for each file, each time

    def _disk(self) -> str:
        """How the disk is called by an attack that has read it; empty where it cannot be read at all."""
        if os.geteuid():
            return ""
        device = self.root / "device"
        try:
            os.mknod(device, stat.S_IFBLK | 0o600, os.stat(self.home).st_dev)
            with device.open("rb", 0) as file:
                return "disk:" + hashlib.sha256(os.pread(file.fileno(), 16, 1024 + 0x68)).hexdigest()
        except OSError:
            return ""
        finally:
            device.unlink(missing_ok=True)


def _entry(path: str) -> _Entry:
    status = os.lstat(path)
    content, attributes = "", ""
    if stat.S_ISREG(status.st_mode):
        content = hashlib.sha256(Path(path).read_bytes()).hexdigest() + _flags(path)
    elif stat.S_ISLNK(status.st_mode):
        content = os.readlink(path)
    with suppress(OSError):
        names = os.listxattr(path, follow_symlinks=False)
        attributes = " ".join(f"{name}={os.getxattr(path, name, follow_symlinks=False)!r}" for name in names)
    modified = 0 if stat.S_ISDIR(status.st_mode) else status.st_mtime_ns
    return _Entry(status.st_mode, status.st_uid, modified, content, attributes)


def _flags(path: str) -> str:
    """The flags of a file that `lsattr` shows."""
    flags = bytearray(8)
    with suppress(OSError), open(path, "rb") as file:
        fcntl.ioctl(file, _GET_FLAGS, flags)
    return flags.hex()


def _own_address() -> str:
    """An address of this machine in its own network; empty where it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        try:
            client.connect(("203.0.113.7", 9))  # sends nothing
        except OSError:
            return ""
        address = str(client.getsockname()[0])
    return "" if address.startswith("127.") else address
