"""What a call leaves in the memory of the keeper: nothing that waits for a search for garbage."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from ferrule_testkit.keeper import KeptMachine, Refused, children_of
from ferrule_testkit.runs import wait_for

pytestmark = pytest.mark.process

# A keeper as `ferrule.calls.keeper.process` has it, which writes down how many objects each search has found.
KEEPER = """\
import gc, os, sys
from ferrule.calls.fork_server.server import ForkServer
from ferrule.calls.fork_server.surroundings import ServerOptions
from ferrule.calls.keeper.keeper import Keeper
from ferrule.links.keeper_address import base_environ
from ferrule.links.keeper_start import read_first_environ

path, found = sys.argv[1:]

def note(phase, facts):
    if phase == "stop":
        with open(found, "a") as file:
            file.write(f"{facts['collected']}\\n")

with ForkServer(ServerOptions(idle_seconds=60, way="", keeps=True)) as server:
    keeper = Keeper(server, path, base_environ(read_first_environ()))
    gc.callbacks.append(note)
    server.loop.call_at(0, lambda: os.mkdir(f"{found}.runs"))
    server.run()
    keeper.close()
"""
"""Arguments: the path of the socket, and the file with a line for each search; a folder is made when it runs."""
# Before that: where a file is there, the process that is to fork a copy is killed before it does.
KILLER = """\
import os, signal
from ferrule.calls.fork_server.forks.orders import Orders

await_answer = Orders._await_answer

def kill(orders):
    if orders._forks and os.path.exists("kill"):
        os.unlink("kill")
        os.kill(orders._process.process, signal.SIGKILL)
    else:
        await_answer(orders)

Orders._await_answer = kill
"""
SEARCHED_CALLS = 16  # after so many calls, garbage is looked for
LOADED = 2  # searches after which the tool is loaded, and all is imported that its calls need
FEW = 24  # descriptors
SEARCHES = 2  # that are judged
MAX_OBJECTS = SEARCHED_CALLS - 1  # that a search may find: not one for each call
DEATHS = 8  # of processes that were about to fork a copy, which has three pipes
OSLO = b'{"city": "Oslo"}'
ENDS: Mapping[str, tuple[str, bytes]] = {
    "answered": ("return {'got': arguments}", OSLO),
    "refused": ("return {'got': arguments}", b'{"town": "Oslo"}'),
    "not JSON": ("return {'got': arguments}", b"{"),
    "failed": ("raise ValueError('no such city')", OSLO),
    "crashed": ("import os; os._exit(3)", OSLO),
    "with an event": ("context.event('config_required', {'tool': 'x'}); return {}", OSLO),
    "with a credential": ("return {'length': len(context.credential('key'))}", OSLO),
}
"""What the tool does, and what it is given, by how the call ends."""
HAS_KEY = "@hookimpl\ndef credentials():\n    return [Credential('key', environment='OWN_KEY', path='own.key')]"


class Searched(NamedTuple):
    """A keeper, the guard above it, and where it writes what its searches find."""

    kept: KeptMachine
    found: Path
    guard: int

    def count_pipes(self) -> int:
        """How many ends of pipes it has open."""
        (keeper,) = children_of(self.guard)
        found = 0
        for file in Path(f"/proc/{keeper}/fd").iterdir():
            with suppress(FileNotFoundError):  # the keeper has closed it since
                found += os.readlink(file).startswith("pipe:")
        return found

    def list_files(self) -> list[int]:
        """The numbers of its open files."""
        (keeper,) = children_of(self.guard)
        return sorted(int(one) for one in os.listdir(f"/proc/{keeper}/fd"))

    def read(self) -> list[int]:
        """How many objects each search has found until now."""
        return [int(line) for line in self.found.read_text().splitlines()] if self.found.exists() else []


@pytest.fixture
def searched(kept: KeptMachine, tmp_path: Path) -> Iterator[Searched]:
    kept.path, found = str(kept.runtime / "keeper"), tmp_path / "found"
    command = [sys.executable, "-c", KILLER + KEEPER, kept.path, str(found)]
    with subprocess.Popen(command, env=kept.machine.environment, cwd=kept.machine.work) as keeper:
        wait_for(Path(f"{found}.runs").exists)
        yield Searched(kept, found, keeper.pid)
        keeper.terminate()


def judge(searched: Searched, call: Callable[[], object]) -> None:
    """Make a call many times: a search finds less than an object for each."""
    for _ in range(SEARCHED_CALLS * (LOADED + SEARCHES)):
        call()
    wait_for(lambda: len(searched.read()) >= LOADED + SEARCHES)
    assert max(searched.read()[LOADED:]) <= MAX_OBJECTS


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_what_a_call_has_left_is_gone_before_garbage_is_looked_for(end: str, searched: Searched) -> None:
    execute, data = ENDS[end]
    searched.kept.machine.install("alpha", top=HAS_KEY, execute=execute)
    judge(searched, lambda: searched.kept.call("alpha", data, environ={"OWN_KEY": "a-key-of-its-own"}))


def test_a_call_in_a_process_that_is_used_again_leaves_nothing_either(searched: Searched) -> None:
    module = searched.kept.machine.install("alpha")
    module.with_suffix(".tool.json").write_text('{"reusable": true}')
    judge(searched, lambda: searched.kept.call("alpha", OSLO))


def test_a_call_whose_caller_has_gone_leaves_nothing_either(searched: Searched) -> None:
    searched.kept.machine.install("alpha")

    def go_away() -> None:
        with searched.kept.begun("alpha") as caller:
            caller.send_input(OSLO)

    judge(searched, go_away)


def test_a_copy_whose_process_was_killed_before_it_was_there_leaves_no_pipes(searched: Searched) -> None:
    kept = searched.kept
    kept.machine.install("alpha")
    marker = kept.machine.work / "kill"

    def die() -> None:
        marker.touch()
        kept.call("alpha", OSLO)
        wait_for(lambda: not marker.exists())

    die()
    least = searched.count_pipes()
    for _ in range(DEATHS):
        die()
    wait_for(lambda: searched.count_pipes() < least + DEATHS)  # those of one plugin and one copy come and go


def test_a_keeper_without_descriptors_leaves_calls_to_their_callers_and_keeps_none_itself(searched: Searched) -> None:
    kept = searched.kept
    kept.machine.install("alpha")
    (keeper,) = children_of(searched.guard)
    before = searched.list_files()
    hard = resource.prlimit(keeper, resource.RLIMIT_NOFILE)[1]
    for more in range(1, FEW):  # than for the connection: fewer than the process of the tool needs, and its copy
        resource.prlimit(keeper, resource.RLIMIT_NOFILE, (before[-1] + 2 + more, hard))
        try:
            answer = kept.call("alpha", OSLO)
        except (Refused, EOFError):
            wait_for(lambda: searched.list_files() == before)
            continue
        assert (answer.exit_code, answer.document) == (0, {"got": {"city": "Oslo"}})
        assert more > 1
        return
    pytest.fail(f"no call was made with {FEW} descriptors")


def test_a_call_that_is_left_to_its_caller_leaves_nothing_either(searched: Searched) -> None:
    searched.kept.machine.install("alpha")
    (keeper,) = children_of(searched.guard)

    def call_in_vain() -> None:
        with pytest.raises(EOFError):
            searched.kept.call("alpha", OSLO)

    files, hard = searched.list_files(), resource.prlimit(keeper, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(keeper, resource.RLIMIT_NOFILE, (files[-1] + 3, hard))
    judge(searched, call_in_vain)
