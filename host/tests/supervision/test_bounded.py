"""Work within limits, and what ends it."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ferrule import ToolError, bounded, run_bounded
from ferrule.errors import WorkFailed

if TYPE_CHECKING:
    from ferrule.errors import ErrorFacts

pytestmark = pytest.mark.process


MIB = 1 << 20


def do(work: Callable[[], object], seconds: float = 30, memory_mib: float = 400, max_bytes: int = MIB) -> object:
    """memory_mib: on top of what this process has, which grows with each test before."""
    return bounded(work, seconds=seconds, memory_mib=measure_resident_mib() + memory_mib, max_bytes=max_bytes)


def measure_resident_mib() -> float:
    """What is in memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / MIB


def children() -> set[str]:
    """The numbers of the processes that this one has started."""
    return {one for path in Path("/proc/self/task").glob("*/children") for one in path.read_text().split()}


def test_the_result_comes_back_whole() -> None:
    text = os.urandom(MIB // 4).hex() + "é\n"
    assert do(lambda: text) == text
    assert do(lambda: {"a": [1, 2.5, None, True, "\n"]}) == {"a": [1, 2.5, None, True, "\n"]}
    assert do(lambda: ("a", 1)) == ["a", 1]
    data = os.urandom(MIB)
    assert do(lambda: data) == data
    assert do(lambda: b"") == b""
    assert do(lambda: None) is None


def test_what_the_work_changes_stays_in_its_process() -> None:
    seen: list[int] = []

    def work() -> int:
        seen.append(os.getpid())
        return seen[0]

    assert do(work) != os.getpid()
    assert seen == []


def fail() -> str:
    raise ValueError("no such page")


def exit_early() -> str:
    raise SystemExit(0)


def crash() -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def leave() -> str:
    os._exit(0)


def fill_memory() -> str:
    return "x" * len([bytearray(MIB) for _ in range(2_000)])


def lack_memory() -> str:
    raise OSError(errno.ENOMEM, "none left")


def spin() -> str:
    while True:
        pass


@pytest.mark.parametrize(
    ("work", "limit", "message"),
    [
        (fail, None, "The work raised ValueError: no such page."),
        (exit_early, None, "The work raised SystemExit: 0."),
        (crash, None, "The work's process was ended by SIGKILL before it had returned anything."),
        (leave, None, "The work's process ended with exit code 0 before it had returned anything."),
        (lambda: float("nan"), None, "The work raised Unrepresentable: "),
        (fill_memory, "memory_mib", "The work ran out of memory."),
        (lack_memory, "memory_mib", "The work ran out of memory."),
        (lambda: "x" * MIB, "max_bytes", "The work returned more than 1,048,576 bytes."),
        (lambda: bytes(MIB + 1), "max_bytes", "The work returned more than 1,048,576 bytes."),
    ],
)
def test_work_that_gives_no_result_fails_and_the_limit_is_named(
    work: Callable[[], object], limit: str | None, message: str
) -> None:
    with pytest.raises(WorkFailed) as failed:
        do(work)
    assert failed.value.limit == limit
    assert failed.value.message.startswith(message)


def test_an_error_of_a_tool_comes_back_as_it_is() -> None:
    def refuse() -> None:
        raise ToolError("NOT_FOUND", "No such page.", hint="Look again.", details={"page": 4}, retry_after=2)

    with pytest.raises(ToolError) as refused:
        do(refuse)
    assert refused.value.facts() == {
        "code": "NOT_FOUND",
        "message": "No such page.",
        "hint": "Look again.",
        "details": {"page": 4},
        "retry_after": 2,
    }


def test_an_error_that_is_too_large_is_told_in_short() -> None:
    def refuse() -> None:
        raise ToolError("NOT_FOUND", "x" * MIB)

    with pytest.raises(WorkFailed, match=r"The work raised ToolError: x+…"):
        do(refuse)


@pytest.mark.parametrize("seconds", [0.2, 0.0, -1.0])
def test_work_that_takes_too_long_is_ended(seconds: float) -> None:
    reader, writer = os.pipe()

    def work() -> str:
        os.write(writer, str(os.getpid()).encode())
        return spin()

    with pytest.raises(WorkFailed) as failed:
        do(work, seconds)
    assert failed.value.limit == "seconds"
    os.write(writer, b".")
    process = os.read(reader, 20).partition(b".")[0]
    os.close(reader)
    os.close(writer)
    if process:
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)


@pytest.mark.slow
def test_the_processors_time_is_a_limit_of_its_own_and_waiting_uses_none_of_it() -> None:
    with pytest.raises(WorkFailed) as failed:
        bounded(spin, seconds=60, cpu_seconds=1)
    assert failed.value.limit == "cpu_seconds"
    assert bounded(lambda: time.sleep(1.2) or "rested", seconds=60, cpu_seconds=1) == "rested"


@pytest.mark.slow
def test_the_limit_of_the_processors_time_is_named_where_the_work_does_not_hear_of_it() -> None:
    def work() -> str:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        return spin()

    with pytest.raises(WorkFailed) as failed:
        bounded(work, seconds=60, cpu_seconds=1)
    assert failed.value.limit == "cpu_seconds"


@pytest.mark.parametrize("seconds", [1e12, float("inf")])
def test_work_may_be_given_any_amount_of_time(seconds: float) -> None:
    assert do(lambda: "x", seconds) == "x"


def test_of_two_copies_that_return_the_first_alone_answers() -> None:
    def work() -> str:
        gate, forked = os.pipe()
        if os.fork():
            os.close(forked)
            os.read(gate, 1)  # until the other one has ended
            return "first"
        return "second"

    assert do(work) == "first"


def test_a_file_that_the_work_opens_in_the_place_of_its_pipe_gets_nothing_of_the_answer(tmp_path: Path) -> None:
    def work() -> str:
        original = os.getpid()
        if os.fork() == 0:  # holds the pipe open, so that the original is not ended as soon as it closes its end
            while os.getppid() == original:
                time.sleep(0.005)
            os._exit(0)
        os.closerange(3, 256)
        for number in range(20):
            os.open(tmp_path / str(number), os.O_WRONLY | os.O_CREAT)
        return "x"

    with pytest.raises(WorkFailed):
        do(work)
    assert all(file.stat().st_size == 0 for file in tmp_path.iterdir())


def test_a_signal_to_the_copy_wakes_nothing_of_the_caller() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    handler = signal.signal(signal.SIGUSR1, lambda *_: None)
    before = signal.set_wakeup_fd(writer)
    try:
        assert do(lambda: os.kill(os.getpid(), signal.SIGUSR1)) is None
        with pytest.raises(BlockingIOError):
            os.read(reader, 1)
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGUSR1, handler)
        os.close(reader)
        os.close(writer)


class _OddError(ToolError):
    def facts(self) -> "ErrorFacts":
        raise ValueError


@pytest.mark.parametrize("error", [ToolError("A", "told", details={"a": {1}}), _OddError("A", "told")])
def test_an_error_whose_facts_are_none_is_told_in_short(error: ToolError) -> None:
    def refuse() -> None:
        raise error

    with pytest.raises(WorkFailed, match=r"The work raised _?\w*Error: told\."):
        do(refuse)


def test_what_the_work_has_started_ends_with_it_also_where_it_holds_the_pipe() -> None:
    def work() -> int:
        if process := os.fork():
            return process
        time.sleep(600)
        return 0

    process = bounded(work, seconds=60)
    deadline = time.monotonic() + 20
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not is_running(process)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_work_ends_with_its_caller() -> None:
    """Killed, the caller ends nothing itself, and its stdout closes only when the work's process is gone, too."""
    code = "import os, signal, time; from ferrule import bounded\n"
    code += "def work():\n    os.kill(os.getppid(), signal.SIGKILL)\n    time.sleep(600)\n"
    code += "bounded(work, seconds=600)"
    finished = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, timeout=60, check=False)
    assert finished.returncode == -signal.SIGKILL


def test_a_caller_that_ignores_its_children_gets_the_result_too() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert do(lambda: "x") == "x"
        with pytest.raises(WorkFailed):
            do(crash)
    finally:
        signal.signal(signal.SIGCHLD, before)


def own_children() -> set[str]:
    """The children of this process, among which may be orphans of other tests that it has adopted."""
    lists = Path("/proc/self/task").glob("*/children")
    return {child for path in lists for child in path.read_text().split()}


def test_no_process_and_no_descriptor_is_left() -> None:
    before, children = os.listdir("/dev/fd"), own_children()
    for work in (fail, crash, lambda: "x"):
        try:
            do(work)
        except WorkFailed:
            continue
    assert own_children() <= children
    assert os.listdir("/dev/fd") == before


@pytest.mark.parametrize("code", [3, 4])
def test_an_exit_code_of_the_work_is_no_limit(code: int) -> None:
    with pytest.raises(WorkFailed, match=f"ended with exit code {code} ") as raised:
        do(lambda: os._exit(code))
    assert raised.value.limit is None


# ---- several at once


def test_works_are_done_at_once_and_come_back_in_their_order() -> None:
    ends = [os.pipe() for _ in range(4)]

    def meet(own: int) -> int:
        """Return once each of the others is at work: one after the other, they would wait for ever."""
        for number, (reader, writer) in enumerate(ends):
            if number == own:
                os.write(writer, b"...")
            else:
                os.read(reader, 1)
        return own

    assert run_bounded([lambda own=number: meet(own) for number in range(4)], seconds=30) == [0, 1, 2, 3]
    for end in [one for both in ends for one in both]:
        os.close(end)


@pytest.mark.slow
def test_a_work_that_fails_or_does_not_end_costs_no_other() -> None:
    def refuse() -> str:
        raise ToolError("NOT_FOUND", "There is none.", details={"kind": "not_found"})

    large = "x" * MIB  # more than a pipe holds
    others = children()
    works = [lambda: large, refuse, fail, exit_early, lambda: signal.pause() or "", lambda: large]
    first, refused, failed, ended, late, last = run_bounded(works, seconds=2)
    assert first == last == large
    assert isinstance(refused, ToolError)
    assert (refused.code, refused.details) == ("NOT_FOUND", {"kind": "not_found"})
    assert "no such page" in str(failed)
    assert isinstance(ended, WorkFailed)
    assert isinstance(late, WorkFailed)
    assert late.limit == "seconds"
    assert children() == others


def test_a_work_that_cannot_be_begun_costs_no_other() -> None:
    def run_out() -> list[object]:
        """Begin three works with descriptors for one of them alone."""
        reader, writer = os.pipe()
        os.close(reader)
        os.close(writer)
        resource.setrlimit(resource.RLIMIT_NOFILE, (writer + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        found = run_bounded([lambda: "first", lambda: "second", lambda: "third"], seconds=30)
        return [f"{type(one).__name__}: {one}" if isinstance(one, WorkFailed) else one for one in found]

    failed = f"WorkFailed: The work could not be begun: {os.strerror(errno.EMFILE)}."
    assert do(run_out) == ["first", failed, failed]
