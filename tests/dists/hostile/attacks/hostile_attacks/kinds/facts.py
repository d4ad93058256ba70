"""What the machine tells of others without opening a file or stopping anybody: facts, and the parent's own state."""

from __future__ import annotations

import fcntl
import os
import resource
import socket
import stat

from ..system_calls import call
from ..table import FORGED, WORD, NothingFound, attack

_NETLINK_OF_CONNECTIONS = 4


@attack(WORD)
def existence_of_a_secret(scene):
    """Asks whether there is a ~/.ssh/id_ed25519, which opens no file."""
    if not os.access(os.path.join(scene["home"], ".ssh/id_ed25519"), os.F_OK):
        raise NothingFound("it says that there is none")
    return "it is there"


@attack(WORD)
def size_of_a_secret_by_a_descriptor(scene):
    """Opens ~/.ssh/id_ed25519 with O_PATH, which reads nothing, and asks the descriptor for its size and times."""
    file = os.open(os.path.join(scene["home"], ".ssh/id_ed25519"), os.O_PATH)
    return f"{os.fstat(file).st_size} bytes"


@attack(WORD)
def sockets_of_the_machine(scene):
    """Reads which sockets of the Unix domain all programs of this machine have, with their paths and names."""
    with open("/proc/self/net/unix") as file:
        if scene["unix_path"] not in file.read():
            raise NothingFound("the server is not listed")
    return "the server is listed"


@attack(WORD)
def netlink_of_connections(scene):
    """Opens the socket by which the kernel tells of all connections, with their owners."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_OF_CONNECTIONS) as one:
        one.bind((0, 0))
    return "it is open"


@attack(WORD)
def existence_of_a_neighbour(scene):
    """Asks with the signal 0, which does nothing, whether a process may be signalled."""
    os.kill(scene["victim"], 0)
    return "it may be signalled"


@attack(WORD)
def limits_of_the_parent(scene):
    """Reads the limits of the host's process."""
    return str(resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE))


@attack(FORGED, fatal=True)
def limits_of_the_parent_lowered(scene):
    """Takes the processor's time from the host's process by a limit, so that the kernel ends it."""
    resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (0, 0))
    return "lowered"


@attack(WORD)
def priority_of_the_parent(scene):
    """Makes the host's process the last one that may run."""
    os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
    return "changed"


@attack(WORD)
def processors_of_the_parent(scene):
    """Binds the host's process to one processor."""
    os.sched_setaffinity(os.getppid(), {0})
    return "bound"


@attack(WORD)
def next_to_be_ended_is_the_parent(scene):
    """Makes the host's process the first that the kernel ends when memory is short."""
    with open(f"/proc/{os.getppid()}/oom_score_adj", "w") as file:
        file.write("1000")
    return "written"


@attack(WORD)
def descriptors_of_the_parent(scene):
    """Lists what the host's process has open, and where each leads."""
    folder = f"/proc/{os.getppid()}/fd"
    return " ".join(os.readlink(os.path.join(folder, name)) for name in os.listdir(folder))


@attack(WORD)
def descriptor_of_the_parent(scene):
    """Takes over a descriptor of the host's process."""
    process = call("pidfd_open", os.getppid(), 0)
    return f"{call('pidfd_getfd', process, 0, 0)}"


@attack(WORD)
def working_folder_of_the_parent(scene):
    """Reads where the host's process works, and which program it is."""
    return os.readlink(f"/proc/{os.getppid()}/cwd") + os.readlink(f"/proc/{os.getppid()}/exe")


@attack(WORD)
def memory_map_of_the_parent(scene):
    """Reads at which addresses the host's process has its memory."""
    with open(f"/proc/{os.getppid()}/maps") as file:
        return file.readline()


@attack(WORD)
def lease_on_the_hosts_code(scene):
    """Takes a lease on a file of the host, so that whoever writes it, such as an update, waits for the tool."""
    path = os.path.join(scene["host_code"], "_version.py")
    with open(path, "rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    return "leased"


@attack(WORD)
def device_of_its_own(scene):
    """Makes a device file for the memory of the machine in its working folder."""
    path = f"memory-{os.getpid()}"
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 1))
    os.unlink(path)
    return "made"
