"""What is killed at the end of supervised work is the work's own, and never a process that got its number since."""

import os
import time
from collections.abc import Callable

import pytest

from ferrule.supervision.channel.channel import Channel
from ferrule.supervision.processes import exit_status
from ferrule.supervision.supervisor import supervise

pytestmark = pytest.mark.process


def _answer(channel: Channel) -> None:
    channel.result({"done": True})


def _end_without_an_answer(channel: Channel) -> None:
    os._exit(3)


def _leave_a_child(channel: Channel) -> None:
    if os.fork() == 0:
        time.sleep(60)
    channel.result({"done": True})


@pytest.mark.parametrize("work", [_answer, _end_without_an_answer, _leave_a_child])
def test_a_process_that_is_killed_still_has_its_number(
    work: Callable[[Channel], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[bool] = []

    def hear(kill: Callable[[int, int], None]) -> Callable[[int, int], None]:
        def heard(process: int, signal: int) -> None:
            try:
                kill(process, 0)
            except ProcessLookupError:
                killed.append(False)
            else:
                killed.append(True)
                kill(process, signal)

        return heard

    monkeypatch.setattr(os, "kill", hear(os.kill))
    monkeypatch.setattr(os, "killpg", hear(os.killpg))
    supervise(work, deadline=time.monotonic() + 30, memory=1 << 20, size_limit=1 << 20)

    assert killed
    assert all(killed)


@pytest.mark.parametrize(("code", "status"), [(0, 0), (3, 3 << 8)])
def test_a_child_that_has_ended_is_still_there_to_be_waited_for(code: int, status: int) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(code)
    assert exit_status(child) is None
    os.close(writer)
    os.close(reader)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)

    assert exit_status(child) == exit_status(child) == status
    assert os.waitpid(child, 0) == (child, status)


@pytest.mark.slow
def test_the_deadline_holds_while_secrets_are_looked_for_in_the_result() -> None:
    def answer(channel: Channel) -> None:
        channel.secrets([f"secret-{number:03}" for number in range(100)])
        channel.result({"numbers": [10_000_000] * (2 << 20)})

    outcome = supervise(answer, deadline=time.monotonic() + 4, memory=1 << 20, size_limit=32 << 20)

    assert outcome.result is None
    assert outcome.failure is not None
    assert outcome.failure["code"] == "TIMEOUT"
