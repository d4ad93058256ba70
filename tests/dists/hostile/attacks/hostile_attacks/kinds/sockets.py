"""Sockets of other kinds, and servers of its own."""

from __future__ import annotations

import array
import os
import socket
import struct
import tempfile

from ..table import REACHED, STOLEN, WORD, NothingFound, attack

_SECONDS = 2.0
_LISTENING = "0A"  # in /proc/net/tcp


@attack(REACHED)
def unix_socket_by_path(scene):
    """Connects to a server by the path of its socket, as that of a container engine or an SSH agent."""
    return _connect(scene["unix_path"], scene["mark"])


@attack(REACHED)
def unix_socket_by_a_link(scene):
    """Connects to a server by a symbolic link of its own to the path of its socket."""
    link = os.path.join(tempfile.mkdtemp(), "link")
    os.symlink(scene["unix_path"], link)
    return _connect(link, scene["mark"])


@attack(REACHED)
def unix_datagram_by_path(scene):
    """Sends a datagram to the path of a socket, as to the system's log."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        client.sendto(scene["mark"].encode(), scene["unix_datagrams"])
    return "sent"


@attack(REACHED)
def unix_datagram_from_a_pair(scene):
    """Sends to the path of a socket from one of a pair, which may be made without a family's permission."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        one.sendto(scene["mark"].encode(), scene["unix_datagrams"])
    return "sent"


@attack(REACHED)
def unix_pair_connected_again(scene):
    """Makes a pair of sockets, and connects one of them to a server's path."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        one.connect(scene["unix_datagrams"])
        one.send(scene["mark"].encode())
    return "sent"


@attack(REACHED)
def unix_socket_without_a_path(scene):
    """Connects to a server by an abstract name, as that of the session's bus."""
    return _connect("\0" + scene["abstract"], scene["mark"])


@attack(STOLEN)
def descriptor_by_a_socket(scene):
    """Has a server on this machine hand it an open file over a UNIX socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_SECONDS)
        client.connect(scene["unix_path"])
        client.sendall(b"descriptor please")
        _, control, _, _ = client.recvmsg(1, socket.CMSG_LEN(4))
        files = array.array("i", control[0][2])
        return os.pread(files[0], 4096, 0).decode()


@attack(WORD)
def server_on_a_port(scene):
    """Waits for connections on a port of all addresses."""
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))
        server.listen()
        return f"listens on {server.getsockname()}"


@attack(WORD)
def server_without_bind(scene):
    """Waits for connections without having asked for a port, which the kernel then chooses."""
    with socket.socket() as server:
        server.listen()
        return f"listens on {server.getsockname()}"


@attack(WORD)
def server_of_version_6(scene):
    """Waits for connections on a port of version 6."""
    with socket.socket(socket.AF_INET6) as server:
        server.bind(("::", 0))
        server.listen()
        return f"listens on {server.getsockname()}"


@attack(WORD)
def server_of_datagrams(scene):
    """Waits for datagrams on a port of all addresses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("0.0.0.0", 0))
        return f"waits on {server.getsockname()}"


@attack(WORD)
def server_of_many_paths(scene):
    """Waits for connections by MPTCP."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as server:
        server.listen()
        return f"listens on {server.getsockname()}"


@attack(WORD)
def unix_server_without_a_path(scene):
    """Takes an abstract name, so that clients of another program talk to it."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0ferrule-attack-{os.getpid()}")
        server.listen()
        return "listens"


@attack(WORD, root=True)
def raw_socket(scene):
    """Makes a raw socket, by which every packet can be forged."""
    return _make(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


@attack(WORD, root=True)
def raw_socket_of_version_6(scene):
    """Makes a raw socket of version 6."""
    return _make(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)


@attack(WORD)
def socket_for_pings(scene):
    """Makes a socket for pings, which carry any bytes out."""
    return _make(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)


@attack(WORD, root=True)
def packet_socket(scene):
    """Makes a packet socket, which reads what all programs send."""
    return _make(socket.AF_PACKET, socket.SOCK_RAW, 0x300)


@attack(WORD)
def netlink_routes(scene):
    """Asks the kernel for all network interfaces by netlink."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        link.bind((0, 0))
        link.settimeout(_SECONDS)
        link.send(struct.pack("=IHHII", 20, 18, 0x301, 1, 0) + bytes(4))
        return f"{len(link.recv(65536))} bytes"


@attack(WORD)
def netlink_of_generic_families(scene):
    """Makes a socket of generic netlink, behind which most drivers are."""
    return _make(socket.AF_NETLINK, socket.SOCK_RAW, 16)


@attack(WORD)
def netlink_of_events(scene):
    """Listens to what the kernel tells of devices and processes."""
    return _make(socket.AF_NETLINK, socket.SOCK_RAW, 15)


@attack(WORD)
def vsock(scene):
    """Makes a socket to the machine that this machine runs on."""
    return _make(socket.AF_VSOCK, socket.SOCK_STREAM, 0)


@attack(WORD)
def cryptographic_socket(scene):
    """Makes a socket of the kernel's cryptography, whose code has had many holes."""
    return _make(38, socket.SOCK_SEQPACKET, 0)


@attack(WORD, root=True)
def key_socket(scene):
    """Makes a socket by which keys of IPsec are set."""
    return _make(15, socket.SOCK_RAW, 2)


@attack(WORD)
def sctp_socket(scene):
    """Makes a socket of a protocol that no rule for TCP or UDP covers."""
    return _make(socket.AF_INET, socket.SOCK_STREAM, 132)


@attack(WORD)
def express_data_path(scene):
    """Makes a socket that takes packets from the device past the kernel's network."""
    return _make(44, socket.SOCK_RAW, 0)


@attack(WORD)
def any_other_family(scene):
    """Makes a socket of every family that this kernel has, but those of the internet."""
    families = set(range(3, 46)) - {socket.AF_INET6}
    made, last = [], None
    for family in sorted(families):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind).close()
            except OSError as error:
                last = error if last is None or error.errno in (1, 13) else last
            else:
                made.append(family)
    if not made:
        raise last or NothingFound("no such family")
    return f"families {sorted(set(made))}"


def _connect(address, mark):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_SECONDS)
        client.connect(address)
        client.sendall(mark.encode())
    return "connected"


def _make(family, kind, protocol):
    with socket.socket(family, kind, protocol) as made:
        return f"a socket {made.family}"
