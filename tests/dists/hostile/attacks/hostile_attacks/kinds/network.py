"""Servers that are for this machine or this network only, reached by every way that a socket has."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
import threading
import time

from ..system_calls import call
from ..table import REACHED, WORD, NothingFound, attack

_SECONDS = 2.0
_PUBLIC = "203.0.113.7"  # of documentation: nobody has it


@attack(REACHED)
def tcp_to_loopback(scene):
    """Connects to a server on 127.0.0.1."""
    return _connect(scene, socket.AF_INET, "127.0.0.1")


@attack(REACHED)
def tcp_to_loopback_of_version_6(scene):
    """Connects to a server on ::1."""
    return _connect(scene, socket.AF_INET6, "::1")


@attack(REACHED)
def tcp_to_localhost(scene):
    """Connects to a server by the name localhost."""
    with socket.create_connection(("localhost", scene["port"]), _SECONDS) as connection:
        connection.sendall(scene["mark"].encode())
    return "connected"


@attack(REACHED)
def tcp_to_a_mapped_address(scene):
    """Connects to 127.0.0.1 as ::ffff:127.0.0.1, by a socket of version 6."""
    return _connect(scene, socket.AF_INET6, "::ffff:127.0.0.1")


@attack(REACHED)
def tcp_to_the_unspecified_address(scene):
    """Connects to 0.0.0.0, which Linux takes for 127.0.0.1."""
    return _connect(scene, socket.AF_INET, "0.0.0.0")


@attack(REACHED)
def tcp_to_the_unspecified_address_of_version_6(scene):
    """Connects to ::, which Linux takes for ::1."""
    return _connect(scene, socket.AF_INET6, "::")


@attack(REACHED)
def tcp_to_another_loopback(scene):
    """Connects to 127.8.8.8, which is this machine, too."""
    return _connect(scene, socket.AF_INET, "127.8.8.8")


@attack(REACHED)
def tcp_to_its_own_network(scene):
    """Connects to this machine by the address that it has in its own network."""
    return _connect(scene, socket.AF_INET, scene["lan"])


@attack(REACHED)
def tcp_by_connect_ex(scene):
    """Connects to 127.0.0.1 without waiting, and asks later whether it worked."""
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", scene["port"]))
        time.sleep(0.05)
        error = client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            raise OSError(error, os.strerror(error))
        client.sendall(scene["mark"].encode())
    return "connected"


@attack(REACHED)
def tcp_by_fast_open(scene):
    """Connects to 127.0.0.1 by sending, with MSG_FASTOPEN, where no connect is called."""
    with socket.socket() as client:
        client.sendto(scene["mark"].encode(), socket.MSG_FASTOPEN, ("127.0.0.1", scene["port"]))
    return "sent"


@attack(REACHED)
def tcp_by_sendmsg_and_fast_open(scene):
    """Connects to 127.0.0.1 by sendmsg with MSG_FASTOPEN."""
    with socket.socket() as client:
        client.sendmsg([scene["mark"].encode()], [], socket.MSG_FASTOPEN, ("127.0.0.1", scene["port"]))
    return "sent"


@attack(REACHED)
def tcp_by_fast_open_of_the_socket(scene):
    """Connects to 127.0.0.1 with the option TCP_FASTOPEN_CONNECT, where connect sends nothing."""
    with socket.socket() as client:
        client.setsockopt(socket.IPPROTO_TCP, 30, 1)
        client.settimeout(_SECONDS)
        client.connect(("127.0.0.1", scene["port"]))
        client.sendall(scene["mark"].encode())
    return "connected"


@attack(REACHED)
def tcp_of_many_paths(scene):
    """Connects to 127.0.0.1 by MPTCP, which Landlock takes for no TCP."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as client:
        client.settimeout(_SECONDS)
        client.connect(("127.0.0.1", scene["port"]))
        client.sendall(scene["mark"].encode())
    return "connected"


@attack(REACHED)
def tcp_of_many_paths_by_fast_open(scene):
    """Connects to 127.0.0.1 by MPTCP and MSG_FASTOPEN."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as client:
        client.sendto(scene["mark"].encode(), socket.MSG_FASTOPEN, ("127.0.0.1", scene["port"]))
    return "sent"


@attack(REACHED)
def tcp_by_a_race(scene):
    """Changes the address in memory from a public one to 127.0.0.1 while the kernel is asked to connect."""
    public, loopback = (
        struct.pack("<H", socket.AF_INET) + struct.pack("!H", scene["port"]) + socket.inet_aton(host) + bytes(8)
        for host in (_PUBLIC, "127.0.0.1")
    )
    address = ctypes.create_string_buffer(public, 16)
    is_over = threading.Event()

    def change():
        while not is_over.is_set():
            ctypes.memmove(address, loopback, 16)
            ctypes.memmove(address, public, 16)

    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=change)
    thread.start()
    libc = ctypes.CDLL(None, use_errno=True)
    last = None
    try:
        for _ in range(400):
            with socket.socket() as client:
                client.setblocking(False)
                if libc.connect(client.fileno(), address, 16):
                    last = OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
                if client.getsockname()[0] == "127.0.0.1":
                    client.setblocking(True)
                    client.settimeout(_SECONDS)
                    client.sendall(scene["mark"].encode())
                    return "connected"
    finally:
        is_over.set()
        thread.join()
        sys.setswitchinterval(0.005)
    raise last or NothingFound("the race was lost")


@attack(REACHED)
def udp_to_loopback(scene):
    """Sends a datagram to 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(scene["mark"].encode(), ("127.0.0.1", scene["udp_port"]))
    return "sent"


@attack(REACHED)
def udp_to_loopback_of_version_6(scene):
    """Sends a datagram to ::1."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as client:
        client.sendto(scene["mark"].encode(), ("::1", scene["udp_port"]))
    return "sent"


@attack(REACHED)
def udp_by_connect(scene):
    """Connects a socket for datagrams to 127.0.0.1, and sends without an address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", scene["udp_port"]))
        client.send(scene["mark"].encode())
    return "sent"


@attack(REACHED)
def udp_by_sendmsg(scene):
    """Sends a datagram to 127.0.0.1 by sendmsg, whose address is in memory."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendmsg([scene["mark"].encode()], [], 0, ("127.0.0.1", scene["udp_port"]))
    return "sent"


@attack(REACHED)
def udp_by_sendmmsg(scene):
    """Sends several datagrams to 127.0.0.1 by one sendmmsg."""
    text = ctypes.create_string_buffer(scene["mark"].encode())
    address = ctypes.create_string_buffer(
        struct.pack("<H", socket.AF_INET) + struct.pack("!H", scene["udp_port"]) + socket.inet_aton("127.0.0.1"), 16
    )
    piece = (ctypes.c_uint64 * 2)(ctypes.addressof(text), len(scene["mark"]))
    message = (ctypes.c_uint64 * 8)(ctypes.addressof(address), 16, ctypes.addressof(piece), 1, 0, 0, 0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        return f"{call('sendmmsg', client.fileno(), message, 1, 0)} sent"


@attack(REACHED)
def udp_by_a_name(scene):
    """Asks a name server on 127.0.0.1, with a secret as the name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        question = b"\0\1\1\0\0\1\0\0\0\0\0\0" + b"".join(
            bytes([len(part)]) + part for part in (scene["mark"].encode(), b"example", b"")
        )
        client.sendto(question + b"\0\1\0\1", ("127.0.0.1", scene["udp_port"]))
    return "asked"


@attack(REACHED)
def udp_light(scene):
    """Sends by UDP-Lite, which filters that look for UDP do not see."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136) as client:
        client.sendto(scene["mark"].encode(), ("127.0.0.1", scene["udp_port"]))
    return "sent"


@attack(REACHED)
def udp_to_everybody(scene):
    """Sends a datagram to all machines of the network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        client.sendto(scene["mark"].encode(), ("127.255.255.255", scene["udp_port"]))
    return "sent"


@attack(REACHED)
def http_by_urllib(scene):
    """Requests a page of 127.0.0.1 by urllib."""
    import urllib.request

    with urllib.request.urlopen(f"http://127.0.0.1:{scene['port']}/{scene['mark']}", timeout=_SECONDS) as answer:
        return f"HTTP {answer.status}"


@attack(REACHED, host=True)
def http_by_the_hosts_client(scene):
    """Requests a page of 127.0.0.1 by the host's own client."""
    from ferrule.http import Client

    with Client(time.monotonic() + _SECONDS) as client:
        with client.open("GET", f"http://127.0.0.1:{scene['port']}/{scene['mark']}") as answer:
            return f"HTTP {answer.status}"


@attack(WORD)
def metadata_service(scene):
    """Asks the metadata service of a cloud, which hands out the machine's own credentials."""
    with socket.create_connection(("169.254.169.254", 80), _SECONDS) as connection:
        return f"connected to {connection.getpeername()}"


@attack(WORD)
def private_network(scene):
    """Connects to a router of a private network."""
    with socket.create_connection(("192.168.1.1", 80), _SECONDS) as connection:
        return f"connected to {connection.getpeername()}"


def _connect(scene, family, host):
    if not host:
        raise NothingFound("this machine has no such address")
    with socket.socket(family) as client:
        client.settimeout(_SECONDS)
        client.connect((host, scene["port"]))
        client.sendall(scene["mark"].encode())
    return "connected"
