"""A keeper starts once, ends by itself, and leaves nothing behind, however it or its callers end."""

import json
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ferrule.links import keeper_frames as frames
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.keeper import KeptMachine

pytestmark = pytest.mark.process

OSLO = {"city": "Oslo"}
_WAITS = "open({gate!r}).read(); return {{'waited': True}}"


@contextmanager
def watched(process: int) -> Iterator[int]:
    """A descriptor that is readable once the process has ended."""
    file = os.pidfd_open(process)
    try:
        yield file
    finally:
        os.close(file)


def has_ended(file: int, seconds: float = PATIENCE_SECONDS) -> bool:
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def test_two_starts_give_one_keeper(kept: KeptMachine) -> None:
    assert kept.start() == kept.start()


def test_it_says_what_it_has_loaded(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    process = kept.start()
    kept.call("alpha", OSLO)
    (state,) = kept.ferrule_keep("status")["keepers"]
    facts = {name: state[name] for name in ("process", "calls", "running", "tools")}
    assert facts == {"process": process, "calls": 1, "running": 0, "tools": ["alpha"]}
    assert "alpha" in kept.machine.ferrule("keep", "status", close_fds=True).out


@pytest.mark.slow
def test_it_ends_when_nobody_has_called_for_so_long(kept: KeptMachine) -> None:
    kept.configure('[keep]\ntools = ["*"]\nseconds = 1\n')
    with watched(kept.start()) as file:
        assert has_ended(file)
    assert os.listdir(kept.runtime / "ferrule") == []


def test_it_ends_when_nobody_can_reach_it_any_more(kept: KeptMachine) -> None:
    with watched(kept.start()) as file:
        os.unlink(kept.path)
        assert has_ended(file)


def test_stopping_it_lets_calls_finish(kept: KeptMachine) -> None:
    gate = kept.machine.gate()
    kept.machine.install("alpha", execute=_WAITS.format(gate=str(gate)))
    with watched(kept.start()) as file, kept.begun("alpha") as caller:
        caller.send(frames.frame(frames.INPUT, b"{}") + frames.frame(frames.INPUT_END))
        with open(gate, "w"):  # which waits until the tool is there
            with kept.connect() as line:
                line.sendall(frames.frame(frames.STOP))
                assert line.recv(64)
            assert not has_ended(file, 0)
        assert caller.answer().document == {"waited": True}
        caller.line.close()
        assert has_ended(file)


@pytest.mark.slow
def test_one_of_several_is_ended(kept: KeptMachine) -> None:
    first = kept.start()
    kept.machine.environment["LC_ALL"] = "C.UTF-8"
    second = kept.start()
    assert kept.machine.ferrule("keep", "stop", "--process", "1", close_fds=True).code != 0
    done = kept.machine.ferrule("keep", "stop", "--process", str(first), "--json", close_fds=True)
    assert [(one["process"], one["ended"]) for one in done.document["keepers"]] == [(first, True)]
    assert [one["process"] for one in kept.ferrule_keep("status")["keepers"]] == [second]


def test_a_killed_keeper_is_replaced_by_the_next(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    process = kept.start()
    with watched(process) as file:
        os.kill(process, signal.SIGKILL)
        assert has_ended(file)
    (kept.runtime / "ferrule" / f"keep-{'0' * 16}-{'0' * 16}.lock").touch()  # as one leaves it that was killed
    assert kept.start() != process
    assert len(os.listdir(kept.runtime / "ferrule")) == 2
    assert kept.call("alpha", OSLO).document == {"got": OSLO}


def test_a_call_ends_with_its_caller(kept: KeptMachine) -> None:
    gate = kept.machine.gate()
    execute = f"import os; open({str(gate)!r}).read(); os.write(1, b''); open({str(gate)!r}).read(); return {{}}"
    kept.machine.install("alpha", execute=execute)
    kept.start()
    with kept.begun("alpha") as caller:
        caller.send(frames.frame(frames.INPUT, b"{}") + frames.frame(frames.INPUT_END))
        with open(gate, "w"):
            (state,) = kept.ferrule_keep("status")["keepers"]
            assert state["running"] == 1
    while kept.ferrule_keep("status")["keepers"][0]["running"]:  # each round asks the keeper, which goes on meanwhile
        pass
    kept.machine.install("beta")
    assert kept.call("beta", OSLO).document == {"got": OSLO}


def test_a_signal_is_answered_as_the_executable_answers_it(kept: KeptMachine) -> None:
    gate = kept.machine.gate()
    kept.machine.install("alpha", execute=_WAITS.format(gate=str(gate)))
    kept.start()
    with kept.begun("alpha") as caller:
        caller.send(frames.frame(frames.INPUT, b"{}") + frames.frame(frames.INPUT_END))
        with open(gate, "w"):
            caller.send(frames.frame(frames.SIGNAL, str(int(signal.SIGTERM)).encode()))
            answer = caller.answer()
    assert "interrupted by SIGTERM" in answer.document["error"]
    assert answer.exit_code == 1


@pytest.mark.parametrize("annotations", [{}, {"read_only": True}, {"idempotent": True}])
def test_it_says_when_the_tool_may_have_begun_and_whether_that_can_be_repeated(
    annotations: dict[str, bool], kept: KeptMachine
) -> None:
    path = kept.machine.install("alpha", permissions={})
    if annotations:
        path.with_suffix("").with_name("module_alpha.tool.json").write_text(json.dumps(annotations))
    kept.start()
    with kept.begun("alpha") as caller:
        caller.send(frames.frame(frames.PING))
        assert caller.expect(frames.PONG) == b""
        caller.send(frames.frame(frames.INPUT, b"{}") + frames.frame(frames.INPUT_END))
        assert caller.expect(frames.BEGUN) == (b"1" if annotations else b"0")
        assert caller.answer().document == {"got": {}}


def test_input_counts_as_whole_where_its_end_does_not_come(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    with kept.begun("alpha") as caller:
        caller.send(frames.frame(frames.INPUT, b'{"city": '))
        caller.send(frames.frame(frames.INPUT, b'"Oslo"}'))
        assert caller.answer().document == {"got": OSLO}


@pytest.mark.slow
def test_an_input_that_is_never_whole_is_answered(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    with kept.begun("alpha", environ={"FERRULE_DEADLINE": "1"}) as caller:
        caller.send(frames.frame(frames.INPUT, b'{"city": '))
        assert "stdin was not at its end after 1 s" in caller.answer().document["error"]
