"""The end of a server: whatever it does, nothing of it is left."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from ferrule_mcp.stdio import process, session
from ferrule_mcp.stdio.session import Session
from ferrule_testkit.mcp_servers.scenario import FAR_SECONDS, write_scenario
from ferrule_testkit.runs import mark, marked, wait_until_gone

pytestmark = pytest.mark.process


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server gets all the time that it needs to end by itself."""
    monkeypatch.setattr(session, "_GRACE_SECONDS", FAR_SECONDS)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server gets next to no time."""
    monkeypatch.setattr(session, "_GRACE_SECONDS", 0.01)
    monkeypatch.setattr(process, "_TERM_SECONDS", 0.01)


def start(folder: Path, environment: dict[str, str] | None = None, **scenario: Any) -> Session:
    command = write_scenario(folder, **scenario)
    started = Session.start(command, environment or {}, name="ending", deadline=time.monotonic() + FAR_SECONDS)
    started.initialize()
    return started


@pytest.mark.usefixtures("patient")
def test_a_server_that_ends_with_its_stdin_may_finish_what_it_does(tmp_path: Path) -> None:
    done = tmp_path / "done"
    start(tmp_path, end=[{"stderr": "saving\n"}, {"line": "noise"}, {"touch": str(done)}]).close()
    assert done.exists()


@pytest.mark.usefixtures("patient")
def test_one_that_writes_much_at_its_end_does_not_wait_for_a_reader(tmp_path: Path) -> None:
    done = tmp_path / "done"
    flood = [{"times": [200, {"line": "x" * 1_000}]}, {"times": [200, {"stderr": "y" * 1_000}]}]
    start(tmp_path, end=[*flood, {"touch": str(done)}]).close()
    assert done.exists()


def test_one_that_stays_is_asked_by_a_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_GRACE_SECONDS", 0.01)
    monkeypatch.setattr(process, "_TERM_SECONDS", FAR_SECONDS)
    staying = start(tmp_path, end=[{"hang": True}])
    staying.close()
    assert staying._process.find_status() == signal.SIGTERM


@pytest.mark.usefixtures("hasty")
def test_one_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    deaf = start(tmp_path, start=[{"ignore": signal.SIGTERM}], end=[{"hang": True}])
    deaf.close()
    assert deaf._process.find_status() == signal.SIGKILL


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("is_failed", [False, True])
def test_what_it_has_started_is_ended_with_it(tmp_path: Path, is_failed: bool) -> None:
    value, environment = mark({})
    parent = start(tmp_path, environment, on={"notifications/initialized": [[{"fork": True}, {"stderr": "forked\n"}]]})
    while "forked" not in parent.stderr_lines:
        parent.await_messages(0.01)
    assert len(marked(value)) == 2
    parent.close(is_failed=is_failed)
    wait_until_gone(value)


def test_what_a_server_leaves_behind_that_has_ended_is_ended_too(tmp_path: Path) -> None:
    value, environment = mark({})
    command = write_scenario(tmp_path, start=[{"fork": True}, {"stderr": "forked\n"}, {"exit": 0}])
    with Session.start(command, environment, name="ending", deadline=time.monotonic() + FAR_SECONDS) as left:
        while left._process.find_status() is None or "forked" not in left.stderr_lines:
            left._process.read_stderr()
        assert len(marked(value)) == 1
    wait_until_gone(value)


@pytest.mark.usefixtures("hasty")
def test_without_a_descriptor_of_the_process_it_ends_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a system that has none."""

    def refuse(_number: int) -> int:
        raise OSError

    monkeypatch.setattr(os, "pidfd_open", refuse)
    staying = start(tmp_path, end=[{"hang": True}])
    staying.close()
    assert os.WIFSIGNALED(staying._process.find_status() or 0)
    gone = start(tmp_path, on={"tools/call": [[{"fork": True}, {"exit": 4}]]})
    with gone, pytest.raises(Exception, match="ended with exit code 4"):
        gone.call("look", {})


def test_where_a_process_can_only_be_waited_for_it_ends_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "waitid")
    gone = start(tmp_path, on={"tools/call": [[{"exit": 4}]]})
    with gone, pytest.raises(Exception, match="ended with exit code 4"):
        gone.call("look", {})
    start(tmp_path).close()


def test_nothing_of_a_session_stays_in_this_process(tmp_path: Path) -> None:
    files = sorted(Path("/proc/self/fd").iterdir())
    ended = start(tmp_path)
    ended.close()
    ended.close()
    assert sorted(Path("/proc/self/fd").iterdir()) == files
    with pytest.raises(ChildProcessError):
        os.waitpid(ended._process._number, os.WNOHANG)
