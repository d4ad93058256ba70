"""Deadlines, signals, and the processes around a call."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from ferrule_testkit import ikigai
from ferrule_testkit.corpus import Site
from ferrule_testkit.runs import SECONDS, Call, Start, full_pipe, mark, marked, run, wait_for, wait_until_gone

pytestmark = pytest.mark.process


OSLO = b'{"city": "Oslo"}'
GREETING = {"success": True, "greeting": "Hello, Oslo!"}
BOTH = pytest.mark.parametrize("kind", ["scripts", "links"])


def test_a_tool_that_keeps_to_its_own_deadline_is_heard(call: Call) -> None:
    document = call("probe", b'{"until_deadline": true}', FERRULE_DEADLINE="2").document
    assert document["success"] is True


@pytest.mark.parametrize("deadline", ["", "0", "-1", "nan", "inf", "1e300", "1e8", "soon"])
def test_a_deadline_that_makes_no_sense_changes_nothing(deadline: str, call: Call) -> None:
    assert call("example", OSLO, FERRULE_DEADLINE=deadline).document == GREETING


@BOTH
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("whom", ["process", "group"])
def test_a_signal_while_the_tool_runs_is_answered(
    kind: str, whom: str, number: signal.Signals, written: Path, start: Start
) -> None:
    value, environ = mark({})
    begun = written / "begun"
    process = start("probe", kind=kind, environ=environ)
    process.stdin.write(json.dumps({"sleep": 1000, "touch": str(begun), "leave_children": True}).encode())
    process.stdin.close()
    wait_for(begun.exists)

    (os.kill if whom == "process" else os.killpg)(process.pid, number)

    document = ikigai.parse_strictly(process.stdout.read())
    assert document["error_code"] == "INTERNAL_ERROR"
    assert f"interrupted by {number.name}" in document["error"]
    assert process.wait(SECONDS) == 1
    assert marked(value) == []


def test_a_signal_while_stdin_is_read_is_answered(start: Start) -> None:
    process = start("example")
    wait_for(lambda: _handles(process.pid, signal.SIGTERM))

    process.terminate()

    assert "interrupted by SIGTERM" in ikigai.parse_strictly(process.stdout.read())["error"]
    assert process.wait(SECONDS) == 1


def test_a_signal_that_the_caller_ignores_is_ignored(written: Path, start: Start) -> None:
    begun = written / "begun"
    ignored = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    process = start("probe", **ignored)
    process.stdin.write(json.dumps({"sleep": 0.5, "touch": str(begun)}).encode())
    process.stdin.close()
    wait_for(begun.exists)

    os.killpg(process.pid, signal.SIGHUP)

    assert ikigai.parse_strictly(process.stdout.read())["success"] is True


def test_a_host_that_is_killed_takes_its_tool_along(written: Path, start: Start) -> None:
    value, environ = mark({})
    begun = written / "begun"
    process = start("probe", environ=environ)
    process.stdin.write(json.dumps({"sleep": 1000, "touch": str(begun)}).encode())
    process.stdin.close()
    wait_for(begun.exists)

    process.kill()

    wait_until_gone(value)


@pytest.mark.parametrize("blocked", [signal.SIGCHLD, signal.SIGTERM])
def test_signals_that_the_caller_blocks_or_ignores_change_no_answer(blocked: signal.Signals, start: Start) -> None:
    def prepare() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [blocked])

    process = start("example", preexec_fn=prepare)
    output, _ = process.communicate(OSLO, SECONDS)
    assert ikigai.parse_strictly(output) == GREETING


def test_children_that_the_process_had_before_are_left_alone(healthy: Site, here: dict[str, str]) -> None:
    script = 'sleep 1000 <&- >&- 2>&- & echo $! >&2; exec "$0"'
    done = run(["sh", "-c", script, healthy.links / "probe-tool"], b'{"leave_children": true}', environment=here)

    assert done.document["success"] is True
    assert done.left == ["sleep 1000 "]
    os.kill(int(done.stderr), signal.SIGKILL)


def test_a_signal_ends_the_wait_for_somebody_who_reads(start: Start) -> None:
    value, environ = mark({"FERRULE_DEADLINE": "1000"})
    process = start("probe", stdout=full_pipe()[1], environ=environ)
    process.stdin.write(b'{"say": "ready"}')
    process.stdin.close()
    wait_for(lambda: len(marked(value)) == 1 and "S" in _status(process.pid, "State"))
    while process.poll() is None:  # it may still be on its way to the write that blocks
        process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    assert process.returncode == 1


def _handles(process: int, number: int) -> bool:
    """Whether a process has made itself ready for a signal: by a handler, or, as the launcher, by a file."""
    return any(int(_status(process, name), 16) >> (number - 1) & 1 for name in ("SigCgt", "SigBlk"))


def _status(process: int, name: str) -> str:
    """One line of what the kernel says of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith(f"{name}:"))
