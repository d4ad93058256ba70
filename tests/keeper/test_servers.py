"""An MCP server that is kept: one process makes the calls of all its tools, and nothing of it outlives the keeper."""

import os
from pathlib import Path

import pytest

from ferrule import confinement
from ferrule_testkit.keeper import KeptMachine
from ferrule_testkit.processes.kept_server import KeptServer, await_end

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel holds less"),
]


@pytest.fixture
def server(kept: KeptMachine, tmp_path: Path) -> KeptServer:
    kept.configure("")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    made = KeptServer(kept, folder)
    made.add()
    kept.start()
    return made


def test_calls_of_all_its_tools_are_made_by_one_process_that_remembers(server: KeptServer) -> None:
    first = server.count("talk_say")
    second = server.count("talk_ask")
    third = server.count("talk_say")
    assert (first.calls, second.calls, third.calls) == (1, 2, 3)
    assert first.process == second.process == third.process


def test_it_ends_with_the_keeper(server: KeptServer) -> None:
    handle = os.pidfd_open(server.count().process)
    server.kept.stop()
    await_end(handle)
