"""Behind a proxy: a tool reaches what its permissions name and nothing else, and never sees the proxy's password."""

import asyncio
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme

from ferrule.testing import Server, refused_port
from ferrule_serve.pool import Pool
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.attacks.ways import Answered, Commands, Executables, Served, Way
from ferrule_testkit.machine import Machine
from ferrule_testkit.web.proxy import USER, Proxy

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
        return {"got": ask(where.split("|"), arguments.get("body", "").encode())}
    if how == "everything":
        return {"got": everything()}
    host, _, port = where.rpartition(":")
    socket.create_connection((host, int(port)), 5).close()
    return {"got": "connected"}
"""
_PROPERTIES = {
    name: {"type": "string", "description": text}
    for name, text in {"how": "What to do.", "where": "A URL, a host or a request.", "body": "Of a request."}.items()
}
_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")


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

    def configure(self, text: str) -> None:
        """Write config.toml."""
        path = self.machine.home / ".config/ferrule/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def office(machine: Machine) -> Iterator[Office]:
    with Server() as far, Server() as near:
        far.page("*", "from afar")
        near.page("*", "the secret of the house")
        hosts = {"far.invalid:80": far.address, "far.invalid:443": far.address}
        with Proxy(PASSWORD, hosts=hosts) as proxy:
            for name in _VARIABLES:
                machine.environment[name] = proxy.url
            yield Office(machine, proxy, far, near)


@pytest.fixture(params=["executable", "run", "serve"])
def call(request: pytest.FixtureRequest, office: Office) -> Iterator[Callable[..., Answered]]:
    """Call the tool `reach`: what to do, and where."""
    ways: list[Way] = []

    def call(how: str, where: str = "", body: str = "") -> Answered:
        if not ways:
            ways.append(_way(request.param, office.machine))
        return ways[0].call("reach", {"how": how, "where": where, "body": body})

    yield call
    for way in ways:
        way.close()


@pytest.fixture
def run(office: Office) -> Callable[..., Answered]:
    """As `call`, by `ferrule run` alone."""
    way = _way("run", office.machine)

    def run(how: str, where: str = "", body: str = "") -> Answered:
        return way.call("reach", {"how": how, "where": where, "body": body})

    return run


def _way(name: str, machine: Machine) -> Way:
    if name == "serve":
        return Served(machine.environment)
    if name == "executable":
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


def test_what_was_refused_is_in_the_journal_also_where_the_tool_goes_on(
    office: Office, call: Callable[..., Answered]
) -> None:
    office.install(FAR)
    office.configure("[journal]\nenabled = true\n")
    assert "403" in str(call("swallow", f"http://{office.near_authority}/").document["got"])
    denied = office.machine.ferrule("log", "--denied", "--json").out
    assert office.near_authority in denied
    assert PASSWORD not in denied


def test_a_body_goes_through_in_both_directions_in_pieces_too(office: Office, run: Callable[..., Answered]) -> None:
    office.install(FAR)
    office.far.route("/echo", lambda exchange: exchange.answer(exchange.read_body() * 3))
    chunks = "".join(f"{len(one):x}\r\n{one}\r\n" for one in ("one ", "two ", ""))
    head = "POST http://far.invalid/echo HTTP/1.1|Host: x|Connection: close"
    whole = run("raw", f"{head}|Content-Length: 5", "hello").text
    assert "hello" * 3 in whole, whole
    pieces = run("raw", f"{head}|Transfer-Encoding: chunked", chunks).text
    assert "one two " * 3 in pieces, pieces


def test_several_requests_of_one_connection_are_judged_each(office: Office, run: Callable[..., Answered]) -> None:
    office.install(FAR)
    first = "GET http://far.invalid/ HTTP/1.1|Host: far.invalid"
    second = f"GET http://{office.near_authority}/ HTTP/1.1|Host: far.invalid|Connection: close"
    got = str(run("raw", f"{first}||{second}").document["got"])
    assert "from afar" in got
    assert "403 Refused by ferrule" in got
    assert office.near.requests == []


@pytest.mark.parametrize(
    "line",
    [
        "CONNECT far.invalid:22",
        "CONNECT other.far.invalid:80",
        "CONNECT xfar.invalid:80",
        "CONNECT 2130706433:80",
        "CONNECT 0x7f000001:80",
        "CONNECT 127.1:80",
        "CONNECT far.invalid:80@127.0.0.1:80",
        "CONNECT far.invalid%00.example:80",
        "CONNECT [::ffff:127.0.0.1]:80",
        "CONNECT [::1%25lo]:80",
        "CONNECT far.invalid",
        "CONNECT far.invalid:0",
        "CONNECT far.invalid:99999",
        "GET http://far.invalid@127.0.0.1/",
        "GET http://127.0.0.1#far.invalid/",
        "GET http://127.0.0.1?far.invalid/",
        r"GET http://127.0.0.1\far.invalid/",
        "GET https://far.invalid/",
        "GET ftp://far.invalid/",
        "GET //far.invalid/",
        "GET /",
        "OPTIONS *",
        "TRACE http://far.invalid/",
    ],
)
def test_nothing_reaches_the_proxy_that_the_permissions_do_not_have(line: str, office: Office) -> None:
    office.install(FAR)
    way = _way("run", office.machine)
    got = str(way.call("reach", {"how": "raw", "where": f"{line} HTTP/1.1|Host: far.invalid:80"}).text)
    assert re.search(r"HTTP/1\.1 4\d\d ", got) or "PERMISSION_DENIED" in got, got
    assert office.proxy.asked == office.proxy.strangers == []


def test_what_the_proxy_says_of_its_client_is_not_passed_on(office: Office, run: Callable[..., Answered]) -> None:
    """Its page of an error shows the request with the password; the name is one that it cannot connect to."""
    office.install("nowhere.invalid:80")
    got = run("raw", "GET http://nowhere.invalid/ HTTP/1.1|Host: x|Connection: close").text
    assert "HTTP/1.1 502" in got
    assert "Proxy-Authorization: Basic ****" in got
    assert office.proxy.token not in got


def test_a_body_has_one_length(office: Office, run: Callable[..., Answered]) -> None:
    office.install(FAR)
    lines = "Host: x|Connection: close, transfer-encoding|Content-Length: 40|Transfer-Encoding: chunked"
    hidden = f"GET http://{office.near_authority}/ HTTP/1.1\r\n\r\n"
    run("raw", f"POST http://far.invalid/ HTTP/1.1|{lines}", f"0\r\n\r\n{hidden}")
    (request,) = office.far.requests
    assert request.headers["transfer-encoding"] == "chunked"
    assert "content-length" not in request.headers


def test_headers_for_the_proxy_are_the_relays_alone(office: Office, run: Callable[..., Answered]) -> None:
    office.install(FAR)
    lines = (
        "Host: 127.0.0.1|Proxy-Authorization: Basic x|Max-Forwards: 0|Connection: close, x-mine|X-Mine: 1|X-Other: 2"
    )
    run("raw", f"GET http://far.invalid/ HTTP/1.1|{lines}")
    (request,) = office.far.requests
    assert request.headers["host"] == "far.invalid"
    assert request.headers["x-other"] == "2"
    assert not {"proxy-authorization", "max-forwards", "x-mine"} & set(request.headers)


def test_a_password_that_the_proxy_does_not_take_is_told_without_it(
    office: Office, run: Callable[..., Answered]
) -> None:
    office.install(FAR)
    for name in _VARIABLES:
        office.machine.environment[name] = office.proxy.url.replace(PASSWORD, "wr0ng-password")
    text = run("page", "http://far.invalid/").text
    assert "502" in text
    assert "wr0ng-password" not in text
    got = run("raw", "GET http://far.invalid/ HTTP/1.1|Host: x|Connection: close").text
    assert "names does not accept its user and password (HTTP 407)" in got


def test_a_proxy_that_is_not_there_is_told(office: Office, run: Callable[..., Answered]) -> None:
    office.install(FAR)
    for name in _VARIABLES:
        office.machine.environment[name] = f"http://{USER}:{PASSWORD}@127.0.0.1:{refused_port()}"
    got = run("raw", "GET http://far.invalid/ HTTP/1.1|Host: x|Connection: close").text
    assert "names cannot be reached (Connection refused)" in got
    assert PASSWORD not in got


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "ftp"])
def test_another_kind_of_proxy_is_refused(scheme: str, office: Office, run: Callable[..., Answered]) -> None:
    office.install(FAR)
    for name in _VARIABLES:
        del office.machine.environment[name]
    office.machine.environment["ALL_PROXY"] = f"{scheme}://{USER}:{PASSWORD}@127.0.0.1:1080"
    answered = run("page", "http://far.invalid/")
    assert answered.document["error_code"] == "PROXY_UNUSABLE"
    assert f"ALL_PROXY names a {scheme} proxy" in str(answered.document["error"])
    assert PASSWORD not in answered.text


def test_another_kind_of_proxy_that_no_client_would_use_is_left_out(office: Office) -> None:
    office.install(FAR)
    office.machine.environment["ALL_PROXY"] = f"socks5://{USER}:{PASSWORD}@127.0.0.1:1080"
    way = _way("run", office.machine)
    text = way.call("reach", {"how": "everything"}).text
    assert "ALL_PROXY" not in text
    assert PASSWORD not in text
    assert way.call("reach", {"how": "page", "where": "http://far.invalid/"}).document == {"got": "from afar"}


def test_a_tool_without_a_network_has_neither_proxy_nor_relay(office: Office) -> None:
    office.install()
    text = _way("run", office.machine).call("reach", {"how": "everything"}).text
    assert '"got"' in text
    assert "_PROXY" not in text.upper()


@pytest.mark.parametrize(
    "permissions", [{"environment": ["HTTPS_PROXY", "https_*", "H*"]}, {"network": ["variable:HTTPS_PROXY"]}]
)
def test_no_declaration_gives_a_tool_the_variable(permissions: dict[str, list[str]], office: Office) -> None:
    office.install()
    (office.machine.site / "module_reach.tool.json").write_text(
        json.dumps({"permissions": {"network": [], **permissions}})
    )
    text = _way("run", office.machine).call("reach", {"how": "everything"}).text
    assert '"got"' in text
    assert PASSWORD not in text


def test_no_credential_is_the_variable(office: Office) -> None:
    office.install(FAR)
    source = office.machine.site / "module_reach.py"
    source.write_text(
        source.read_text()
        + "\n@hookimpl\ndef credentials():\n"
        + "    return [Credential('proxy', environment='HTTPS_PROXY', path='proxy.url')]\n"
    )
    source.write_text(
        source.read_text().replace(
            'if how == "page":',
            'if how == "key":\n        return {"got": context.credential("proxy")}\n    if how == "page":',
        )
    )
    way = _way("run", office.machine)
    text = way.call("reach", {"how": "key"}).text
    assert PASSWORD not in text
    assert "PERMISSION_DENIED" in text, text
    office.machine.ferrule("permissions", "accept", "reach")
    office.machine.ferrule("credentials", "accept", "reach")
    assert PASSWORD not in way.call("reach", {"how": "key"}).text


def test_a_proxy_that_is_reached_by_tls_is_used(office: Office, call: Callable[..., Answered], tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    office.install(FAR, "far.invalid:443")
    office.far.page("/large", "x" * 1_000_000)
    with Proxy(PASSWORD, context, office.proxy.hosts) as proxy:
        for name in _VARIABLES:
            office.machine.environment[name] = proxy.url
        office.machine.environment["SSL_CERT_FILE"] = str(tmp_path / "authority.pem")
        assert call("page", "http://far.invalid/").document == {"got": "from afar"}
        got = call("raw", "CONNECT far.invalid:443 HTTP/1.1|Host: x").document["got"]
        assert "from afar" in str(got)
        assert proxy.asked == ["GET http://far.invalid/", "CONNECT far.invalid:443"]


def test_a_tool_that_may_reach_the_public_web_is_kept_from_the_own_network(office: Office) -> None:
    office.install("public")
    way = _way("run", office.machine)
    office.proxy.hosts["unknown.invalid:80"] = office.far.address
    assert way.call("reach", {"how": "page", "where": "http://unknown.invalid/"}).document == {"got": "from afar"}
    for host in (
        office.near_authority,
        "localhost:80",
        "10.0.0.1:80",
        "169.254.169.254:80",
        "metadata.google.internal:80",
    ):
        answered = way.call("reach", {"how": "page", "where": f"http://{host}/"})
        assert answered.document["error_code"] == "PERMISSION_DENIED", answered.text
    assert len(office.proxy.asked) == 1


def test_the_relay_ends_with_the_call(office: Office) -> None:
    office.install(FAR)
    way = _way("executable", office.machine)
    named = way.call("reach", {"how": "everything"}).text
    port = int(re.findall(r"http://127\.0\.0\.1:(\d+)", named)[0])
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        pass


def test_a_call_without_a_proxy_loads_nothing_of_a_relay(office: Office) -> None:
    office.install(FAR)
    for name in _VARIABLES:
        del office.machine.environment[name]
    finished = office.machine.ferrule("run", "reach", "how=everything", environment={"PYTHONPROFILEIMPORTTIME": "1"})
    assert "ferrule.trust.policy" in finished.err
    assert not re.search(r"confinement\.proxies|h11|resolution\.proxies", finished.err)


def test_a_traced_call_goes_by_the_relay_too(office: Office) -> None:
    office.install(FAR)
    found = office.machine.ferrule(
        "run", "--trace", "--confined", "--json", "reach", "how=page", "where=http://far.invalid/"
    )
    assert "from afar" in found.out, found
    assert "loopback" not in json.dumps(found.document["permissions"])


def test_doctor_names_a_proxy_that_no_tool_can_be_given(office: Office) -> None:
    office.install(FAR)
    for name in _VARIABLES:
        office.machine.environment[name] = f"socks5://{USER}:{PASSWORD}@127.0.0.1:1080"
    told = office.machine.ferrule("doctor", "--json").out
    assert "proxy-unusable" in told
    assert "http_proxy names a socks5 proxy" in told
    assert PASSWORD not in told


@pytest.mark.parametrize("isolation", ["standard", "off"])
def test_without_a_judge_of_addresses_the_relay_still_judges(
    isolation: str, office: Office, call: Callable[..., Answered]
) -> None:
    office.install(FAR)
    office.configure(f'[permissions]\nisolation = "{isolation}"\n[journal]\nenabled = true\n')
    assert call("page", "http://far.invalid/page").document == {"got": "from afar"}
    assert PASSWORD not in call("everything").text
    answered = call("page", f"http://{office.near_authority}/")
    if isolation == "off":
        assert answered.document == {"got": "the secret of the house"}
    else:
        assert answered.document["error_code"] == "PERMISSION_DENIED", answered.text
        assert office.near_authority in office.machine.ferrule("log", "--denied", "--json").out


_OUTER = """
    import time
    from ferrule.installed import open_tool, supervise

    def work(channel):
        tool = open_tool("reach", channel, deadline=time.monotonic() + 10)
        return tool.execute(tool.prepare(arguments))

    outcome = supervise(work, deadline=time.monotonic() + 10, memory_mib=500, max_bytes=9999, tool="reach")
    return {"got": (outcome.result or b"").decode(), "failure": outcome.failure, "seen": everything()}
"""


def test_a_tool_that_runs_another_one_shares_its_relay(office: Office) -> None:
    office.install(FAR)
    office.machine.install(
        "outer",
        properties=_PROPERTIES,
        top=_TOP,
        execute=_OUTER.strip(),
        permissions={"network": [], "tools": ["reach"], "processes": 2},
    )
    for way in (_way("run", office.machine), Served(office.machine.environment)):
        answered = way.call("outer", {"how": "page", "where": "http://far.invalid/"})
        assert "from afar" in str(answered.document.get("got")), answered.text
        assert PASSWORD not in answered.text
        answered = way.call("outer", {"how": "page", "where": f"http://{office.near_authority}/"})
        assert "PERMISSION_DENIED" in answered.text
        assert office.near.requests == []
        way.close()


def test_of_calls_at_once_each_has_its_own_refusals(office: Office) -> None:
    """A swallowed refusal is in the line of the call that it was made in, and of no other one of the same tool."""
    office.install(FAR)
    office.configure("[journal]\nenabled = true\n")
    hosts = [f"host{number}.invalid" for number in range(8)]

    async def call_all() -> None:
        pool = Pool(len(hosts), environment=office.machine.environment)
        arguments = [{"how": "swallow", "where": f"http://{host}/"} for host in hosts]
        try:
            await asyncio.gather(*(pool.call("reach", json.dumps(one).encode(), seconds=30) for one in arguments))
        finally:
            await pool.close()

    asyncio.run(call_all())
    lines = json.loads(office.machine.ferrule("log", "--denied", "--json").out)["calls"]
    denied = [[entry["what"] for entry in line["denied"]] for line in lines]
    assert sorted(denied) == [[f"{host}:80"] for host in hosts]


def test_no_more_connections_are_carried_at_once_than_the_relay_may(office: Office) -> None:
    """The others are closed, and the relay goes on when there is room."""
    office.install(FAR)
    office.machine.install(
        "flood",
        properties=_PROPERTIES,
        top=_TOP + _FLOOD,
        execute="return {'got': flood()}",
        permissions={"network": [FAR]},
    )
    way = _way("run", office.machine)
    assert way.call("flood", {}).document == {"got": [128, "from afar"]}


_FLOOD = '''
import select, time

def flood():
    """How many of 200 idle connections are left open, and a page once they are closed."""
    host, _, port = os.environ["HTTPS_PROXY"].removeprefix("http://").rpartition(":")
    many = [socket.create_connection((host, int(port)), 10) for _ in range(200)]
    poll = select.poll()
    for one in many:
        poll.register(one, select.POLLIN)
    ended, limit = set(), time.monotonic() + 10
    while len(ended) < 72 and time.monotonic() < limit:
        for file, _ in poll.poll(100):
            ended.add(file)
            poll.unregister(file)
    for one in many:
        one.close()
    while True:
        try:
            return [200 - len(ended), urllib.request.urlopen("http://far.invalid/", timeout=10).read().decode()]
        except OSError:
            if time.monotonic() > limit:
                raise
'''


def test_the_relay_ends_with_the_supervising_process(office: Office) -> None:
    office.install(FAR)
    gate = office.machine.gate()
    office.machine.install(
        "hang",
        top="import os",
        execute=f"open('port', 'w').write(os.environ['HTTPS_PROXY']); open({str(gate)!r}).read()",
        permissions={"network": [FAR], "write": ["."]},
    )
    started = office.machine.start("run", "hang", "{}", stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with gate.open("w"):
        address = (office.machine.work / "port").read_text().removeprefix("http://").split(":")
        socket.create_connection((address[0], int(address[1]))).close()
        started.kill()
        started.wait()
        _wait_until_nobody_listens(int(address[1]))


def _wait_until_nobody_listens(port: int) -> None:
    limit = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < limit:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            return
        time.sleep(0.01)
    raise AssertionError("somebody listens")


def test_a_served_tool_whose_relay_has_ended_gets_another_one(office: Office) -> None:
    office.install(FAR)
    way = Served(office.machine.environment)
    try:
        named = way.call("reach", {"how": "everything"}).text
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)", named)[0])
        os.kill(_listener(port), signal.SIGKILL)
        _wait_until_nobody_listens(port)
        limit = time.monotonic() + PATIENCE_SECONDS
        while (answered := way.call("reach", {"how": "page", "where": "http://far.invalid/"})).document != {
            "got": "from afar"
        }:
            assert time.monotonic() < limit, answered.text
    finally:
        way.close()


def _listener(port: int) -> int:
    """The process that listens at a port of loopback."""
    place = f"0100007F:{port:04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    (inode,) = [line[9] for line in lines if line[1] == place and line[3] == "0A"]
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) == f"socket:[{inode}]":
                return int(link.parts[2])
        except OSError:
            continue
    raise AssertionError("nobody listens")
