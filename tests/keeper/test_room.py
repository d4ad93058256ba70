"""A keeper for which no process or descriptor is left: no call waits for another one, and none is lost."""

import os
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count, islice

import pytest

from ferrule.links import keeper_frames as frames
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
def without_descriptors(_kept: KeptMachine, keeper: int) -> Iterator[None]:
    """Let the keeper have two more: for a connection, and to look who is at its other end."""
    used = {int(one) for one in os.listdir(f"/proc/{keeper}/fd")}
    _, _, limit = islice((number for number in count() if number not in used), 3)
    before = resource.prlimit(keeper, resource.RLIMIT_NOFILE)
    resource.prlimit(keeper, resource.RLIMIT_NOFILE, (limit, before[1]))
    yield
    resource.prlimit(keeper, resource.RLIMIT_NOFILE, before)


@contextmanager
def without_processes(kept: KeptMachine, _keeper: int) -> Iterator[None]:
    """Let the process of the tool fork no more."""
    full = kept.machine.work / "full"
    full.touch()
    yield
    full.unlink()


@pytest.mark.parametrize("takes_away", [without_descriptors, without_processes])
def test_a_call_for_which_there_is_no_room_does_not_wait_for_one_that_runs(
    takes_away: Callable[[KeptMachine, int], AbstractContextManager[None]], kept: KeptMachine
) -> None:
    gate, top = kept.machine.gate(), _FULL.format(full=str(kept.machine.work / "full"))
    kept.machine.install("alpha", top=top, execute=_WAITS.format(gate=str(gate)), permissions={})
    keeper = kept.start()
    with kept.begun("alpha") as first:
        first.send_input(b'{"city": "Oslo"}')
        with open(gate, "w") as held:  # which waits until the call is being made
            with takes_away(kept, keeper), pytest.raises(EOFError):
                kept.call("alpha", {})
            held.write("Oslo")
        assert first.answer().document == {"got": "Oslo"}
    assert kept.call("alpha", {}).document == {"got": {}}


def test_callers_for_whom_no_descriptor_is_left_are_let_go_at_once(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    keeper = kept.start()
    assert kept.call("alpha", OSLO).exit_code == 0
    before = resource.prlimit(keeper, resource.RLIMIT_NOFILE)
    limit = max(int(one) for one in os.listdir(f"/proc/{keeper}/fd")) + 2
    resource.prlimit(keeper, resource.RLIMIT_NOFILE, (limit, before[1]))
    with ExitStack() as lines:
        # Until each number below the limit is taken. What the keeper closes meanwhile, it has again for others.
        answered = [is_answered(lines.enter_context(kept.connect())) for _ in range(limit + 3)]
        assert answered.count(False) >= 3
        os.kill(keeper, signal.SIGCHLD)  # by which it looks for what calls have left behind
        assert not is_answered(lines.enter_context(kept.connect()))
    resource.prlimit(keeper, resource.RLIMIT_NOFILE, before)
    assert kept.call("alpha", OSLO).document == {"got": OSLO}


def is_answered(line: socket.socket) -> bool:
    """Whether the keeper has taken a caller; else it lets it go."""
    try:
        line.sendall(frames.frame(frames.PING))
        return line.recv(16) != b""
    except (ConnectionResetError, BrokenPipeError):
        return False


def test_a_failure_that_its_tool_has_no_room_to_render_is_told_in_the_usual_words_and_no_call_is_lost(
    kept: KeptMachine,
) -> None:
    gate = kept.machine.gate()
    module = kept.machine.install("alpha", execute=_WAITS.format(gate=str(gate)), permissions={})
    module.write_text(module.read_text() + "\ndef render(failure):\n    return {'wrong': failure['code']}\n")
    with open(kept.machine.site / "dist_alpha-1.0.dist-info/entry_points.txt", "a") as entry_points:
        entry_points.write(f"[ferrule.failures]\nalpha = {module.stem}:render\n")
    keeper = kept.start()
    with kept.begun("alpha") as first:
        first.send_input(b'{"city": "Oslo"}')
        with open(gate, "w") as held:
            with without_descriptors(kept, keeper):
                refused = kept.call("alpha", {"town": "Oslo"})
            held.write("Oslo")
        assert (refused.document["error_code"], refused.exit_code) == ("INVALID_INPUT", 1)
        assert first.answer().document == {"got": "Oslo"}
    assert kept.call("alpha", {"town": "Oslo"}).document == {"wrong": "INVALID_INPUT"}
