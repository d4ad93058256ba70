"""What a call may touch, and what it was denied; and what every call may read of the system.

The latter is Python with its libraries, and the files that libraries look for. Light: it is read on the path of every
call.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

STRICT, STANDARD, OFF = "strict", "standard", "off"
PUBLIC, LOOPBACK, PRIVATE = "public", "loopback", "private"
DEFAULT_FILE_MIB = 1024
RELAY_REFUSAL = "Refused by ferrule"
"""The reason phrase with which a relay to a proxy refuses a host. HTTP clients put it into the text of their error."""


class Policy:
    """Everything that one call may touch, resolved; all of it can be pickled. It is not changed once it is made.

    Args:
        tool: its name, for messages.
        network: any of "public", "loopback", "private", and hosts with their port such as "api.example.com:443"; empty
            is none.
        read, write: absolute paths of files and folders; what may be written may be read.
        append: folders in which files may be made and replaced, but neither read nor listed.
        programs: absolute paths.
        environment: all variables of the child, None for those of the parent.
        processes: copies of itself that it may have at a time.
        is_copied: these are made by the host, and none by the tool.
        file_mib: MiB that a file may have.
        temporary: whether it gets a TMPDIR of its own, which goes with the call.
        isolation: "strict", "standard" or "off".
        granted_by: the start of the command that grants an entry to all tools of this one's source; empty where
            no source has it.
        refused: what was declared and is not granted, and why.
        proxies: variables of the supervising process's environment that name a proxy, for which the child gets a relay.
        relays: where these are, as addresses with their port.
    """

    __slots__ = (
        "append", "environment", "file_mib", "granted_by", "is_copied", "isolation", "network", "processes", "programs",
        "proxies", "read", "refused", "relays", "temporary", "tool", "write",
    )  # fmt: skip

    def __init__(
        self,
        tool: str = "",
        *,
        network: Sequence[str] = (),
        read: Sequence[str] = (),
        write: Sequence[str] = (),
        append: Sequence[str] = (),
        programs: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        processes: int = 0,
        is_copied: bool = False,
        file_mib: int = DEFAULT_FILE_MIB,
        temporary: bool = True,
        isolation: str = STRICT,
        granted_by: str = "",
        refused: Sequence[str] = (),
        proxies: Sequence[str] = (),
        relays: Sequence[str] = (),
    ) -> None:
        self.tool = tool
        self.network = tuple(network)
        self.read = tuple(read)
        self.write = tuple(write)
        self.append = tuple(append)
        self.programs = tuple(programs)
        self.environment = environment
        self.processes = processes
        self.is_copied = is_copied
        self.file_mib = file_mib
        self.temporary = temporary
        self.isolation = isolation
        self.granted_by = granted_by
        self.refused = tuple(refused)
        self.proxies = tuple(proxies)
        self.relays = tuple(relays)

    def replaced(self, **changes: object) -> Self:
        """The same policy with other values."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return type(self)(**{**values, **changes})

    _replace = replaced


class Denial:
    """What a call wanted and did not get. kind: read, write, connect, run, fork, signal or other. what: of those."""

    __slots__ = ("kind", "what")

    def __init__(self, kind: str, what: str) -> None:
        self.kind = kind
        self.what = what

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Denial) and (self.kind, self.what) == (other.kind, other.what)

    def __hash__(self) -> int:
        return hash((self.kind, self.what))

    def __repr__(self) -> str:
        return f"Denial({self.kind!r}, {self.what!r})"


_LIBRARIES = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/usr/local/lib64", "/usr/share",
    "/usr/local/share",
)  # fmt: skip
# Of TLS, what everybody may know: beside these folders, servers keep private keys.
_SETTINGS = tuple(
    f"/etc/{name}"
    for name in (
        "ssl/certs", "ssl/cert.pem", "ssl/ca-bundle.pem", "ssl/openssl.cnf", "ssl/ct_log_list.cnf",
        "pki/ca-trust/extracted", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf", "pki/tls/ct_log_list.cnf",
        "pki/tls/openssl.d", "ca-certificates", "ca-certificates.conf", "crypto-policies", "resolv.conf", "hosts",
        "nsswitch.conf", "host.conf", "gai.conf", "services", "protocols", "localtime", "timezone", "locale.alias",
        "locale.conf", "mime.types", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "fonts", "OpenCL", "magic",
    )
)  # fmt: skip
_KERNEL = (
    "/proc/meminfo", "/proc/cpuinfo", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/filesystems",
    "/proc/sys/kernel/osrelease", "/proc/sys/kernel/random", "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/kernel/ngroups_max", "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/max_map_count",
    "/proc/sys/net/core/somaxconn", "/proc/sys/crypto", "/sys/devices/system/cpu", "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage", "/sys/fs/cgroup", "/dev/random", "/dev/urandom",
)  # fmt: skip
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # variables by which a user names other certificates
DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_HERE = "/proc/self"
_ANYWHERE = "/proc"
_SYSTEM_PREFIXES = ("/usr", "/usr/local", "/")


def readable(*, with_others: bool) -> list[str]:
    """The files and folders. with_others: also what /proc tells of processes that this one is going to start."""
    certificates = filter(os.path.isabs, (os.environ.get(name, "") for name in _CERTIFICATES))
    return [*_LIBRARIES, *_SETTINGS, *certificates, *_KERNEL, *python_folders(), _ANYWHERE if with_others else _HERE]


def beside_processes() -> list[str]:
    """Everything but what /proc tells of processes."""
    folders = [f"/{name}" for name in os.listdir("/") if f"/{name}" != _ANYWHERE]
    return [*folders, *(path for path in _KERNEL if path.startswith(_ANYWHERE + "/"))]


def own_process() -> list[str]:
    """What /proc tells of this process."""
    return [_HERE]


def python_folders() -> list[str]:
    """Where modules come from: `sys.path`, what editable installs map, and the interpreter's own prefix.

    A folder that holds the user's home, such as `/`, is none: an entry there would open all of it.
    """
    home = os.path.realpath(os.environ.get("HOME") or "/root")
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    found = dict.fromkeys([*sys.path, *sorted(prefixes.difference(_SYSTEM_PREFIXES)), *_editable_folders()])
    return [path for path in found if os.path.isabs(path) and not _holds(os.path.realpath(path), home)]


def _editable_folders() -> list[str]:
    """The folders of the finders that setuptools writes, which have a table of them."""
    folders: list[str] = []
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):
            mapping = getattr(module, "MAPPING", None)
            folders += [str(path) for path in mapping.values()] if isinstance(mapping, dict) else []
    return folders


def _holds(folder: str, inner: str) -> bool:
    return folder == "/" or inner == folder or inner.startswith(folder + "/")
