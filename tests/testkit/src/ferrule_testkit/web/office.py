"""A machine behind a proxy that asks for a password, and a tool that tries what one can do there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_testkit.attacks.ways import Commands, Executables, Served
from ferrule_testkit.runs import wait_for

if TYPE_CHECKING:
    from ferrule_dev.testing import Server
    from ferrule_testkit.attacks.ways import Way
    from ferrule_testkit.machine import Machine
    from ferrule_testkit.web.proxy import Proxy

PASSWORD = "canary-proxy-0123456789ab"  # no secret of anybody
FAR = "far.invalid:80"
TOP = '''
import os, re, socket, urllib.request

def ask(lines, data=b""):
    """Send a request to the proxy as it stands, and return all that comes."""
    host, _, port = os.environ["HTTPS_PROXY"].rpartition("@")[2].removeprefix("http://").rstrip("/").rpartition(":")
    with socket.create_connection((host, int(port)), 10) as one:
        one.sendall("\\r\\n".join([*lines, "", ""]).encode() + data)
        found = b""
        while piece := one.recv(65536):
            found += piece
            if found.startswith(b"HTTP/1.1 200") and found.endswith(b"\\r\\n\\r\\n") and lines[0].startswith("CONNECT"):
                one.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
    return found.decode("latin-1")

def everything():
    """All that this process can find of its environment."""
    with open("/proc/self/environ", "rb") as block:
        return repr(dict(os.environ)) + repr(block.read()) + memory()

def memory():
    found = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as file:
        for line in maps.readlines():
            limits, rights, *_ = line.split()
            start, end = (int(one, 16) for one in limits.split("-"))
            if "rw" not in rights:
                continue
            try:
                file.seek(start)
                found += re.findall(rb"can" + rb"ary-proxy-[0-9a-f]{12}", file.read(end - start))
            except (OSError, OverflowError, ValueError):
                continue
    return repr(found)
'''
_EXECUTE = """
    how, where = arguments["how"], arguments.get("where", "")
    if how == "page":
        return {"got": urllib.request.urlopen(where, timeout=10).read().decode()}
    if how == "swallow":
        try:
            urllib.request.urlopen(where, timeout=10)
        except OSError as error:
            return {"got": str(error)}
    if how == "raw":
        return {"got": ask(where.split("|"), arguments.get("body", "").encode())}
    if how == "everything":
        return {"got": everything()}
    host, _, port = where.rpartition(":")
    socket.create_connection((host, int(port)), 5).close()
    return {"got": "connected"}
"""
PROPERTIES = {
    name: {"type": "string", "description": text}
    for name, text in {"how": "What to do.", "where": "A URL, a host or a request.", "body": "Of a request."}.items()
}
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")


class Office:
    """A machine behind a proxy, with a tool that may reach `far.invalid`, and a server that it may not."""

    def __init__(self, machine: Machine, proxy: Proxy, far: Server, near: Server) -> None:
        self.machine, self.proxy, self.far, self.near = machine, proxy, far, near
        self.near_authority = "{}:{}".format(*near.address)

    def install(self, *network: str) -> None:
        """Install the tool `reach`."""
        self.machine.install(
            "reach", properties=PROPERTIES, top=TOP, execute=_EXECUTE.strip(), permissions={"network": list(network)}
        )

    def configure(self, text: str) -> None:
        """Write config.toml."""
        path = self.machine.home / ".config/ferrule/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def wait_for_refusal(self, what: str) -> str:
        """The journal's refusals, once `what` is among them: a server answers before it writes a call down."""
        told = ""

        def is_written() -> bool:
            nonlocal told
            told = self.machine.ferrule("log", "--denied", "--json").out
            return what in told

        wait_for(is_written)
        return told


def way_to(name: str, machine: Machine) -> Way:
    """A way to call its tools: `executable`, `run` or `serve`."""
    if name == "serve":
        return Served(machine.environment)
    if name == "executable":
        machine.ferrule("link", "reach")
    kind = Executables if name == "executable" else Commands
    return kind(machine.tools, machine.environment, machine.work)
