"""Locks between processes: waited for asleep, never beyond the limit, and given back whatever happens."""

import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from ferrule.storage import locked, update_locked
from ferrule.storage.threads import run_within
from ferrule_testkit.runs import wait_for

SECONDS = 60.0


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "lock")


def _hold(path: str, seconds: float, pipe: Connection) -> None:
    try:
        with locked(path, seconds):
            pipe.send("holds")
            pipe.recv()
    except TimeoutError:
        pipe.send("gave up")


class Holder:
    """A process that locks a file, and holds it until it is told to let go."""

    def __init__(self, path: str, seconds: float = SECONDS) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_hold, args=(path, seconds, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def answer(self) -> str:
        assert self.pipe.poll(SECONDS)
        return str(self.pipe.recv())

    def let_go(self) -> None:
        self.pipe.send("let go")
        self.process.join()

    def is_blocked(self) -> bool:
        return is_blocked(self.process.pid)


def is_blocked(process: int | None) -> bool:
    """Whether a process stands in the system's line for a lock."""
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return any(line[1] == "->" and line[5] == str(process) for line in lines)


@pytest.mark.process
def test_one_process_at_a_time_holds_a_lock(path: str) -> None:
    first = Holder(path)
    assert first.answer() == "holds"
    second = Holder(path)
    wait_for(second.is_blocked)
    first.let_go()
    assert second.answer() == "holds"
    second.let_go()


def test_the_file_and_its_folder_are_the_users_alone(path: str) -> None:
    with locked(path, 0) as file:
        assert os.fstat(file).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700


def test_a_lock_is_waited_for_until_the_limit(path: str) -> None:
    with locked(path, 0):
        before = time.monotonic()
        with pytest.raises(TimeoutError), locked(path, 0.1):
            pass
        assert 0.1 <= time.monotonic() - before < 20
        with pytest.raises(TimeoutError), locked(path, 0):
            pass


@pytest.mark.process
def test_a_lock_that_comes_after_the_limit_is_given_back(path: str) -> None:
    first = Holder(path)
    assert first.answer() == "holds"
    late = Holder(path, 0.05)
    assert late.answer() == "gave up"
    first.let_go()
    with locked(path, SECONDS):
        pass


@pytest.mark.process
def test_the_one_who_gave_up_in_this_process_does_not_keep_the_lock_from_others(path: str) -> None:
    first = Holder(path)
    assert first.answer() == "holds"
    with pytest.raises(TimeoutError), locked(path, 0.05):
        pass
    first.let_go()  # and now the thread that was left behind gets it
    with locked(path, SECONDS):
        pass


@pytest.mark.process
def test_a_holder_that_is_killed_lets_go_at_once(path: str) -> None:
    first = Holder(path)
    assert first.answer() == "holds"
    second = Holder(path)
    wait_for(second.is_blocked)
    first.process.kill()
    assert second.answer() == "holds"
    second.let_go()


@pytest.mark.process
def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(path: str) -> None:
    with locked(path, 0):
        left = multiprocessing.Process(target=time.sleep, args=(SECONDS,), daemon=True)
        left.start()
    try:
        with locked(path, 0):
            pass
    finally:
        left.kill()
        left.join()


def test_a_descriptor_of_a_folder_stays_open(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    with locked(folder, 0), pytest.raises(BlockingIOError):
        fcntl.flock(other := os.open(tmp_path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    os.close(folder)


def test_waiting_for_a_lock_leaves_no_descriptor_open(path: str) -> None:
    with locked(path, 0):
        file = os.open(path, os.O_RDWR)
    before = count_descriptors_of(path)
    for _ in range(3):
        first = os.open(path, os.O_RDWR)
        fcntl.flock(first, fcntl.LOCK_EX)
        timer = threading.Timer(0.02, os.close, [first])
        timer.start()
        with locked(file, SECONDS):
            timer.join()
    assert count_descriptors_of(path) == before
    os.close(file)


def count_descriptors_of(path: str) -> int:
    """How many descriptors of this process are of one file: another thread may open or close any other."""
    return sum(os.path.realpath(f"/proc/self/fd/{one}") == path for one in os.listdir("/proc/self/fd"))


@pytest.mark.process
def test_a_descriptor_can_be_locked_after_attempts_that_took_too_long(path: str) -> None:
    with locked(path, 0):
        file = os.open(path, os.O_RDWR)
    for _ in range(10):
        first = os.open(path, os.O_RDWR)
        fcntl.flock(first, fcntl.LOCK_EX)
        for _ in range(3):
            with pytest.raises(TimeoutError), locked(file, 0.005):
                pass
        timer = threading.Timer(0.03, os.close, [first])
        timer.start()
        with locked(file, SECONDS):
            time.sleep(0.02)  # in which the threads that were left behind let go of what they get
            with pytest.raises(TimeoutError), locked(path, 0):
                pass
        timer.join()
    os.close(file)


@pytest.mark.process
def test_an_attempt_that_a_signal_breaks_off_leaves_no_lock(path: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    first = Holder(path)
    assert first.answer() == "holds"
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt), locked(path, SECONDS):
            pass
    finally:
        signal.signal(signal.SIGALRM, before)
    first.let_go()  # and now the thread that was left behind gets it
    with locked(path, SECONDS):
        pass


@pytest.mark.process
def test_a_thread_that_still_waits_does_not_keep_the_interpreter_from_ending(path: str) -> None:
    program = (
        "import sys\nfrom ferrule.storage import locked\n"
        "try:\n    with locked(sys.argv[1], 0.01): pass\n"
        "except TimeoutError:\n    print('gave up', 'threading' in sys.modules)\n"
    )
    with locked(path, 0):
        done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, timeout=SECONDS)
    assert (done.stdout, done.stderr, done.returncode) == ("gave up False\n", "", 0)


@pytest.mark.process
def test_a_child_that_is_forked_while_a_thread_waits_can_lock_for_itself(path: str) -> None:
    first = Holder(path)
    assert first.answer() == "holds"
    waiting = threading.Thread(target=lambda: update_locked(path, SECONDS, lambda data: data + b"."))
    waiting.start()
    wait_for(lambda: is_blocked(os.getpid()))
    forked = Holder(path)
    wait_for(forked.is_blocked)
    first.let_go()
    assert forked.answer() == "holds"
    forked.let_go()
    waiting.join(SECONDS)
    assert not waiting.is_alive()


@pytest.mark.parametrize("place", ["file/lock", "/proc/nowhere/lock"])
def test_a_file_that_cannot_be_opened_is_an_error_of_the_system(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="directory"), locked(str(tmp_path / place), 0):
        pass


# ---- small files that are changed under the lock


def _count(path: str) -> None:
    for _ in range(50):
        update_locked(path, SECONDS, lambda data: str(int(data or b"0") + 1).encode())


@pytest.mark.process
def test_no_change_of_many_processes_is_lost(path: str) -> None:
    processes = [multiprocessing.Process(target=_count, args=(path,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert Path(path).read_bytes() == b"200"


def test_a_shorter_content_leaves_nothing_of_a_longer_one(path: str) -> None:
    update_locked(path, 0, lambda _: b"a long one")
    update_locked(path, 0, lambda _: b"short")
    assert Path(path).read_bytes() == b"short"


def test_the_same_content_is_not_written(path: str) -> None:
    update_locked(path, 0, lambda _: b"same")
    os.utime(path, (1, 1))
    update_locked(path, 0, lambda data: data)
    assert os.stat(path).st_mtime == 1


def test_where_the_lock_cannot_be_had_the_change_sees_nothing_and_is_lost(path: str) -> None:
    seen = []
    update_locked(path, 0, lambda _: b"before")
    with locked(path, 0):
        update_locked(path, 0, lambda data: seen.append(data) or b"after")
    assert seen == [b""]
    assert Path(path).read_bytes() == b"before"


def test_a_change_that_fails_writes_nothing(path: str) -> None:
    update_locked(path, 0, lambda _: b"before")
    with pytest.raises(ZeroDivisionError):
        update_locked(path, 0, lambda _: bytes(1 // 0))
    assert Path(path).read_bytes() == b"before"


# ---- work that may hang


def test_work_is_done_within_its_time_or_undone_later() -> None:
    go, undone = threading.Event(), list[bool]()
    assert run_within(SECONDS, lambda: 5, lambda _: None) == 5
    with pytest.raises(ZeroDivisionError):
        run_within(SECONDS, lambda: 1 // 0, lambda _: None)
    with pytest.raises(TimeoutError):
        run_within(0.01, lambda: go.wait(SECONDS), undone.append)
    assert undone == []
    go.set()
    wait_for(lambda: undone == [True])
