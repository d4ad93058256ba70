"""The process of a relay: with which calls it begins and ends, and whose refusals it tells."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from ferrule_serve.pool import Pool
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.attacks.ways import Served
from ferrule_testkit.web.office import FAR, PASSWORD, PROPERTIES, TOP, VARIABLES, Office, way_to

pytestmark = pytest.mark.process


def test_the_relay_ends_with_the_call(office: Office) -> None:
    office.install(FAR)
    way = way_to("executable", office.machine)
    named = way.call("reach", {"how": "everything"}).text
    port = int(re.findall(r"http://127\.0\.0\.1:(\d+)", named)[0])
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        pass


def test_a_call_without_a_proxy_loads_nothing_of_a_relay(office: Office) -> None:
    office.install(FAR)
    for name in VARIABLES:
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


_OUTER = """
    import time
    from ferrule.installed import run_tool

    outcome = run_tool("reach", arguments, deadline=time.monotonic() + 10, max_bytes=9999)
    return {"got": (outcome.result or b"").decode(), "failure": outcome.failure, "seen": everything()}
"""


@pytest.mark.slow
def test_a_tool_that_runs_another_one_shares_its_relay(office: Office) -> None:
    office.install(FAR)
    office.machine.install(
        "outer",
        properties=PROPERTIES,
        top=TOP,
        execute=_OUTER.strip(),
        permissions={"network": [], "tools": ["reach"], "processes": 2},
    )
    for way in (way_to("run", office.machine), Served(office.machine.environment)):
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


@pytest.mark.slow
def test_no_more_connections_are_carried_at_once_than_the_relay_may(office: Office) -> None:
    """The others are closed, and the relay goes on when there is room."""
    office.install(FAR)
    office.machine.install(
        "flood",
        properties=PROPERTIES,
        top=TOP + _FLOOD,
        execute="return {'got': flood()}",
        permissions={"network": [FAR]},
    )
    way = way_to("run", office.machine)
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
