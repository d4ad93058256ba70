"""The launcher and the keeper that ferrule starts: they find each other, and the answer is that of a cold call."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

import pytest

from ferrule.links.launchers import find_launcher
from ferrule_testkit.machine import Machine

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture
def kept(machine: Machine) -> Iterator[Machine]:
    """A machine with a tool that is kept, and a keeper that listens."""
    if not find_launcher():
        pytest.skip(
            "the launcher is not installed: there was no C compiler, which scripts/install-system-packages brings"
        )
    runtime = tempfile.mkdtemp(prefix="run-")  # the path of a socket has to be short
    machine.environment["XDG_RUNTIME_DIR"] = runtime
    config = machine.home / ".config/ferrule/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[keep]\ntools = ["*"]\n')
    machine.install("alpha")
    assert machine.ferrule("link", "alpha", start_new_session=True).code == 0  # as below
    started = machine.ferrule("keep", "start", "--json", start_new_session=True)  # a fork has other variables
    assert started.code == 0
    yield machine
    machine.ferrule("keep", "stop", "--process", str(started.document["process"]), start_new_session=True)
    shutil.rmtree(runtime)


def count_calls(machine: Machine) -> int:
    keepers = machine.ferrule("keep", "status", "--json").document["keepers"]
    runtime = machine.environment["XDG_RUNTIME_DIR"]
    return sum(one["calls"] for one in keepers if one["socket"].startswith(runtime))


def test_a_keeper_makes_the_calls_of_a_launcher(kept: Machine) -> None:
    link = kept.tools / "alpha-tool"
    for arguments, code in (({"city": "Oslo"}, 0), ({"town": 1}, 1)):
        before = count_calls(kept)
        sent = json.dumps(arguments).encode()
        warm = subprocess.run([link], input=sent, env=kept.environment, capture_output=True)
        assert count_calls(kept) == before + 1
        other = {**kept.environment, "XDG_RUNTIME_DIR": "/nowhere"}
        cold = subprocess.run([link], input=sent, env=other, capture_output=True)
        assert (warm.stdout, warm.stderr, warm.returncode) == (cold.stdout, cold.stderr, code)
