"""A keeper for which no process or descriptor is left: no call waits for another one, and none is lost."""

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ferrule_testkit.keeper import KeptMachine

pytestmark = pytest.mark.process

OSLO = {"city": "Oslo"}
_WAITS = "return {{'got': open({gate!r}).read() if arguments else arguments}}"
# The limit of processes does not hold for root, so that this stands for it, in the process of the tool.
_FULL = """\
import os
from ferrule.calls.fork_server.child import plugin_process

def fork_if_there_is_room(fork=plugin_process._fork):
    if os.path.exists({full!r}):
        raise BlockingIOError("no process is left")
    return fork()

plugin_process._fork = fork_if_there_is_room
"""
"""full: a file; as long as it is there, no process is left."""


@contextmanager
def without_descriptors(kept: KeptMachine, keeper: int, left: int) -> Iterator[None]:
    """Let the keeper have so many more."""
    last = max(int(one) for one in os.listdir(f"/proc/{keeper}/fd"))
    before = resource.prlimit(keeper, resource.RLIMIT_NOFILE)
    resource.prlimit(keeper, resource.RLIMIT_NOFILE, (last + 1 + left, before[1]))
    yield
    resource.prlimit(keeper, resource.RLIMIT_NOFILE, before)


@contextmanager
def without_processes(kept: KeptMachine, keeper: int, left: int) -> Iterator[None]:
    """Let the process of the tool fork no more."""
    full = kept.machine.work / "full"
    full.touch()
    yield
    full.unlink()


@pytest.mark.parametrize(("takes_away", "left"), [(without_descriptors, 2), (without_processes, 0)])
def test_a_call_for_which_there_is_no_room_does_not_wait_for_one_that_runs(
    takes_away: Callable[..., Iterator[None]], left: int, kept: KeptMachine
) -> None:
    gate, top = kept.machine.gate(), _FULL.format(full=str(kept.machine.work / "full"))
    kept.machine.install("alpha", top=top, execute=_WAITS.format(gate=str(gate)), permissions={})
    keeper = kept.start()
    with kept.begun("alpha") as first:
        first.send_input(b'{"city": "Oslo"}')
        with open(gate, "w") as held:  # which waits until the call is being made
            with takes_away(kept, keeper, left), pytest.raises(EOFError):
                kept.call("alpha", {})
            held.write("Oslo")
        assert first.answer().document == {"got": "Oslo"}
    assert kept.call("alpha", {}).document == {"got": {}}
