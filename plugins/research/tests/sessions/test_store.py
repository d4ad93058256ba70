"""What stays of sessions: after four hours, after fifty others, after a kill at any point, and with many writers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule import ToolError
from ferrule.storage import state_folder
from ferrule_research.sessions import read_session, record_sources
from ferrule_research.sessions.store import IDLE_SECONDS, MAX_SESSIONS

Call = Callable[..., dict[str, Any]]


def folder() -> Path:
    return Path(state_folder(), "sessions")


def set_age(session: str, seconds: float) -> None:
    used = time.time() - seconds
    os.utime(folder() / f"{session}.json", (used, used))


def test_a_session_is_a_private_file(session: str) -> None:
    path = folder() / f"{session}.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder().stat().st_mode & 0o777 == 0o700
    path.chmod(0o666)
    with pytest.raises(ToolError) as raised:
        read_session(session)
    assert raised.value.code == "SESSION_NOT_FOUND"


def test_a_session_goes_four_hours_after_its_last_use(add: Call, session: str) -> None:
    set_age(session, IDLE_SECONDS - 60)
    read_session(session)  # which is a use
    assert time.time() - (folder() / f"{session}.json").stat().st_mtime < 60
    set_age(session, IDLE_SECONDS + 1)
    with pytest.raises(ToolError):
        read_session(session)
    assert "no such research session" in record_sources(session, [{"url": "https://a.example/"}])
    add()  # which removes it
    assert not (folder() / f"{session}.json").exists()


def test_of_more_than_fifty_that_which_was_used_longest_ago_goes(add: Call) -> None:
    sessions = [add()["sessionId"] for _ in range(MAX_SESSIONS)]
    for number, one in enumerate(sessions):
        set_age(one, 1000 - number)
    read_session(sessions[0])
    newest = add()["sessionId"]
    left = {path.stem for path in folder().glob("*.json")}
    assert left == {*sessions, newest} - {sessions[1]}


def test_drafts_of_processes_that_were_killed_are_removed(add: Call, session: str) -> None:
    old, new = folder() / ".old.json.0123", folder() / ".new.json.0123"
    for path in (old, new):
        path.write_text("{")
    os.utime(old, (1, 1))
    add()
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"shape": 99}', b"\xff\xfe"])
def test_a_damaged_file_is_a_session_that_is_not_there(add: Call, session: str, content: bytes) -> None:
    (folder() / f"{session}.json").write_bytes(content)
    with pytest.raises(ToolError) as raised:
        add(2, sessionId=session)
    assert raised.value.code == "SESSION_NOT_FOUND"


def test_a_state_folder_that_is_none_is_an_error_with_advice(
    add: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "file"))
    with pytest.raises(ToolError, match="cannot be used") as raised:
        add()
    assert (raised.value.code, "FERRULE_STATE" in (raised.value.hint or "")) == ("SESSIONS_UNUSABLE", True)


# ---- a kill at any point

KILLED = """
import os, signal, sys
session, name, moment, number = sys.argv[1:]
real, left = getattr(os, name), [int(number)]

def call(*arguments, **named):
    left[0] -= 1
    if left[0] == 0 and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*arguments, **named)
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

from ferrule_dev.testing import context
from ferrule_research import step
arguments = {"searchStep": "The second.", "stepNumber": 2, "nextStepNeeded": True, "sessionId": session}
within = context("sequential_search")  # which opens other files
setattr(os, name, call)
step.execute(arguments, within)
setattr(os, name, real)
print("answered")
"""
# The system calls by which a step is kept: the lock, the session and the draft are opened.
CALLS = [*(("open", number) for number in (1, 2, 3)), ("read", 1), ("write", 1), ("fsync", 1), ("replace", 1)]


@pytest.mark.process
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(("name", "number"), CALLS)
def test_a_kill_loses_the_unanswered_step_at_most(add: Call, session: str, name: str, number: int, moment: str) -> None:
    command = [sys.executable, "-c", KILLED, session, name, moment, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, (done.stdout, done.stderr)  # or the call is made no more
    assert "answered" not in done.stdout
    steps = [one["description"] for one in read_session(session)["steps"]]
    assert steps in (["Look around."], ["Look around.", "The second."])
    assert (len(steps) == 2) == ((name, moment) == ("replace", "after"))
    answer = add(2, "The second.", sessionId=session)  # as its caller would who got no answer
    assert [one["description"] for one in answer["steps"]] == ["Look around.", "The second."]


# ---- many writers

WRITER = """
import sys
session, number, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
from ferrule import ToolError
from ferrule_dev.testing import context
from ferrule_research import step
from ferrule_research.sessions import record_sources
print("ready", flush=True)
sys.stdin.read()
for one in range(steps):
    assert record_sources(session, [{"url": f"https://a.example/{number}/{one}"}]) == ""
    text, last = f"Step {one} of {number}.", 1
    while True:
        arguments = {"searchStep": text, "stepNumber": last + 1, "nextStepNeeded": True, "sessionId": session}
        try:
            step.execute(arguments, context("sequential_search"))
            break
        except ToolError as error:
            assert error.details["recoveryHint"]["canResume"], error
            last = error.details["recoveryHint"]["lastKnownStep"]
"""


@pytest.mark.slow
@pytest.mark.process
def test_many_processes_lose_nothing_of_one_session(session: str) -> None:
    writers, steps = 6, 5
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, session, str(number), str(steps)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(writers)
    ]
    for one in processes:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in processes:
        assert one.stdin is not None
        one.stdin.close()
    for one in processes:
        assert one.wait() == 0
        assert one.stdout is not None
        one.stdout.close()
    found = read_session(session)
    texts = [one["description"] for one in found["steps"]]
    assert [one["stepNumber"] for one in found["steps"]] == list(range(1, writers * steps + 2))
    assert sorted(texts[1:]) == sorted(f"Step {one} of {number}." for number in range(writers) for one in range(steps))
    assert {one["url"] for one in found["sources"]} == {
        f"https://a.example/{number}/{one}" for number in range(writers) for one in range(steps)
    }
