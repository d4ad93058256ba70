"""What every call may read of the system: Python and its libraries, and the files that libraries look for."""

from __future__ import annotations

import os
import sys

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
