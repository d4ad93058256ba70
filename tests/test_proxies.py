"""Behind a proxy: a tool reaches what its permissions name and nothing else, and never sees the proxy's password."""

import re
from collections.abc import Callable, Iterator

import pytest

from ferrule.testing import Server
from ferrule_testkit.attacks.ways import Answered, Commands, Executables, Served, Way
from ferrule_testkit.machine import Machine
from ferrule_testkit.web.proxy import Proxy

pytestmark = pytest.mark.process

PASSWORD = "canary-proxy-0123456789ab"  # no secret of anybody
FAR = "far.invalid:80"
_TOP = '''
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
        return {"got": ask(where.split("|"))}
    if how == "everything":
        return {"got": everything()}
    host, _, port = where.rpartition(":")
    socket.create_connection((host, int(port)), 5).close()
    return {"got": "connected"}
"""
_PROPERTIES = {
    "how": {"type": "string", "description": "What to do."},
    "where": {"type": "string", "description": "A host."},
}


class Office:
    """A machine behind a proxy, with a tool that may reach `far.invalid`, and a server that it may not."""

    def __init__(self, machine: Machine, proxy: Proxy, far: Server, near: Server) -> None:
        self.machine, self.proxy, self.far, self.near = machine, proxy, far, near
        self.near_authority = "{}:{}".format(*near.address)

    def install(self, *network: str) -> None:
        """Install the tool `reach`."""
        self.machine.install(
            "reach", properties=_PROPERTIES, top=_TOP, execute=_EXECUTE.strip(), permissions={"network": list(network)}
        )


@pytest.fixture
def office(machine: Machine) -> Iterator[Office]:
    with Server() as far, Server() as near:
        far.page("*", "from afar")
        near.page("*", "the secret of the house")
        hosts = {"far.invalid:80": far.address, "far.invalid:443": far.address}
        with Proxy(PASSWORD, hosts=hosts) as proxy:
            for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
                machine.environment[name] = proxy.url
            yield Office(machine, proxy, far, near)


@pytest.fixture(params=["executable", "run", "serve"])
def call(request: pytest.FixtureRequest, office: Office) -> Iterator[Callable[..., Answered]]:
    """Call the tool `reach`: what to do, and where."""
    ways: list[Way] = []

    def call(how: str, where: str = "") -> Answered:
        if not ways:
            ways.append(_way(request.param, office.machine))
        return ways[0].call("reach", {"how": how, "where": where})

    yield call
    for way in ways:
        way.close()


def _way(name: str, machine: Machine) -> Way:
    if name == "serve":
        return Served(machine.environment)
    machine.ferrule("link", "reach")
    kind = Executables if name == "executable" else Commands
    return kind(machine.tools, machine.environment, machine.work)


def test_a_host_of_the_tool_is_reached_with_the_password(office: Office, call: Callable[..., Answered]) -> None:
    office.install(FAR)
    assert call("page", "http://far.invalid/page").document == {"got": "from afar"}
    assert office.proxy.asked == ["GET http://far.invalid/page"]
    assert office.proxy.strangers == []


def test_a_tunnel_to_a_host_of_the_tool_is_opened(office: Office, call: Callable[..., Answered]) -> None:
    office.install("far.invalid:443")
    answered = call("raw", "CONNECT far.invalid:443 HTTP/1.1|Host: far.invalid:443")
    assert "from afar" in str(answered.document["got"])
    assert office.proxy.asked == ["CONNECT far.invalid:443"]


@pytest.mark.parametrize("kind", ["tunnel", "page"])
def test_another_host_is_refused_and_told_as_any_refused_connection(
    kind: str, office: Office, call: Callable[..., Answered]
) -> None:
    office.install(FAR)
    scheme = "https" if kind == "tunnel" else "http"
    answered = call("page", f"{scheme}://{office.near_authority}/")
    assert answered.document["error_code"] == "PERMISSION_DENIED", answered.text
    assert f"reach wanted to reach {office.near_authority}" in str(answered.document["error"])
    assert office.proxy.asked == office.proxy.strangers == []
    assert office.near.requests == []


def test_the_password_is_nowhere_in_the_process_of_the_tool(office: Office, call: Callable[..., Answered]) -> None:
    office.install(FAR)
    call("page", "http://far.invalid/page")
    text = call("everything").text
    assert "HTTPS_PROXY" in text
    assert PASSWORD not in text
    assert office.proxy.token not in text
    assert str(office.proxy.address[1]) not in re.findall(r"127\.0\.0\.1:(\d+)", text)


def test_the_proxy_itself_is_out_of_reach(office: Office, call: Callable[..., Answered]) -> None:
    office.install(FAR)
    answered = call("direct", "{}:{}".format(*office.proxy.address))
    assert answered.document["error_code"] == "PERMISSION_DENIED", answered.text
