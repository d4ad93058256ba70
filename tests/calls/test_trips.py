"""How far a piece of work goes through the house: the files whose functions it calls, and how often it changes file."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit import trips
from ferrule_testkit.corpus import Site
from ferrule_testkit.serve.service import META
from ferrule_testkit.trips import Record, Trip

pytestmark = pytest.mark.process

# Who makes a trip longer says here why, and by how much.
FILES_OF_A_CALL = 44
FILES_OF_A_SERVED_CALL = 55
FILES_OF_A_PAGE = 120
CHANGES_OF_A_LIST = 3_000 / 51  # for each tool that is listed, of those that are shipped
OSLO = b'{"city": "Oslo"}'


class Trips:
    """Runs commands under the hook."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.environment = environment
        self.path = folder / "record"
        self.record = Record(self.path)

    def command(self, function: str, *arguments: str) -> list[str]:
        return [sys.executable, "-P", trips.__file__, str(self.path), function, *arguments]

    def call(self, tool: str, arguments: bytes) -> Trip:
        """A call for which the answer of the door and the policy are kept.

        They are once no file behind them is quite new, the policy by the first call that finds the answer.
        """
        for _ in range(20):
            self.record.reset()
            command = self.command("ferrule.dispatch:main", f"{tool.replace('_', '-')}-tool")
            done = subprocess.run(command, input=arguments, env=self.environment, capture_output=True, timeout=60)
            assert done.returncode == 0, done.stderr
            trip = self.record.read()
            if not any(file.endswith(("/admission/judgement.py", "/trust/policy.py")) for file in trip.all_files):
                return trip
            time.sleep(0.05)
        raise AssertionError("the policy of the tool is not kept")


@pytest.fixture
def measured(healthy: Site, environment: dict[str, str], tmp_path: Path) -> Trips:
    return Trips({**environment, "PYTHONPATH": str(healthy.path)}, tmp_path)


def test_a_call_passes_few_files(measured: Trips) -> None:
    trip = measured.call("example", OSLO)
    assert len(trip.files) == 2  # the process that supervises, and the one that is held
    assert len(trip.all_files) <= FILES_OF_A_CALL, sorted(trip.all_files)


@pytest.mark.slow
def test_a_page_passes_few_files(measured: Trips) -> None:
    measured.environment |= {"FERRULE_FETCH_ALLOW": "loopback", "NO_PROXY": "*"}
    with Server() as server:
        url = server.page("/", "<h1>Hello</h1><p>A page with <a href='/'>a link</a>.")
        trip = measured.call("web_fetch", json.dumps({"url": url}).encode())
    assert len(trip.all_files) <= FILES_OF_A_PAGE, sorted(trip.all_files)


@pytest.mark.slow
def test_a_served_call_passes_few_files(measured: Trips) -> None:
    command = measured.command("ferrule.cli:main", "ferrule", "serve", "example")
    with subprocess.Popen(command, env=measured.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin
        assert server.stdout
        trip = _call_until_loaded(measured.record, server.stdin, server.stdout)
        server.stdin.close()
    assert len(trip.all_files) <= FILES_OF_A_SERVED_CALL, sorted(trip.all_files)


def _call_until_loaded(record: Record, stdin: IO[bytes], stdout: IO[bytes]) -> Trip:
    """A call that a copy makes of a process which has the tool already, as a server's calls are but for the first."""
    for number in range(20):
        record.reset()
        answer = _ask(stdin, stdout, number)
        assert not answer["result"].get("isError"), answer
        trip = record.read()
        if number and not any(file.endswith("/schema/schema_file.py") for file in trip.all_files):
            return trip
    raise AssertionError("each call has the tool loaded anew")


def _ask(stdin: IO[bytes], stdout: IO[bytes], number: int) -> Any:
    params = {"name": "example", "arguments": {"city": "Oslo"}, "_meta": META}
    stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n")
    stdin.flush()
    return json.loads(stdout.readline())


def test_a_list_changes_file_seldom(measured: Trips) -> None:
    done = subprocess.run(
        measured.command("ferrule.cli:main", "ferrule", "list"),
        env=measured.environment,
        capture_output=True,
        check=True,
        timeout=60,
    )
    tools = done.stdout.partition(b"\n\n")[0].splitlines()[1:]
    trip = measured.record.read()
    assert trip.changes / len(tools) <= CHANGES_OF_A_LIST, trip
