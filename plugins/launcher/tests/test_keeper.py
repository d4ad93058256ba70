"""What the launcher says to a keeper, and what comes of a call whatever the keeper does."""

import json
import os
import pty
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule_testkit.launcher import Linked, cold
from ferrule_testkit.processes.stub_keeper import Conversation, Frame, keep, pack_answer
from ferrule_testkit.runs import SECONDS, full_pipe

pytestmark = pytest.mark.process

OBJECT = b'{"city": "Oslo"}'
ANSWER = b'{"success": true}'
HUGE = b"[" + b"1," * 700_000
LOST = "KEEPER_LOST"


def make_call(told: Conversation, text: bytes = b"", code: int = 0) -> None:
    """Make a call as a keeper does that nothing is wrong with."""
    told.receive_fields()
    told.send("A")
    assert told.receive_input() == OBJECT
    told.send("B", b"0")
    told.send_answer(ANSWER, text, code)
    told.wait_for_end()


@pytest.mark.slow
@pytest.mark.parametrize(("text", "code"), [(b"", 0), (b"an event\n" * 2000, 1)])
def test_the_answer_of_the_keeper_is_that_of_the_call(text: bytes, code: int, linked: Linked) -> None:
    with keep(linked.socket(), lambda told: make_call(told, text, code)):
        done = linked.run(stdin=OBJECT)
    assert (done.stdout, done.stderr, done.returncode) == (ANSWER + b"\n", text[:8192], code)


def test_the_hello_has_what_a_call_takes_from_its_process(linked: Linked) -> None:
    seen: list[bytes] = []

    def refuse(told: Conversation) -> None:
        seen.extend(told.receive_fields())
        told.send("R", b"not now")

    with keep(linked.socket(), refuse):
        done = linked.run(environ={"IKIGAI_AGENT_ID": "agent-1"})
    assert done.stdout == cold(b"{}")
    assert seen[:3] == [b"1", b'{"tool": "tell"}', os.fsencode(Path.cwd())]
    mask = os.umask(0)
    os.umask(mask)
    assert (int(seen[3], 8), seen[4]) == (mask, b"")
    limits = [tuple(map(int, pair.split(":"))) for pair in seen[5].decode().split(",")]
    import resource

    assert limits == [resource.getrlimit(number) for number in range(16)]
    expected = {**linked.environment, "IKIGAI_AGENT_ID": "agent-1"}
    assert dict(one.decode().split("=", 1) for one in seen[6:]) == expected


@pytest.mark.parametrize(
    "environ",
    [{"FERRULE_EXIT_ZERO": "1"}, {"FERRULE_DEADLINE": "9"}, {"FERRULE_CALLER": "x"}, {"KEY": "x"}, {"PWD": "/x"}],
    ids=str,
)
def test_a_variable_of_a_call_leads_to_the_same_keeper(environ: dict[str, str], linked: Linked) -> None:
    with keep(linked.socket(), make_call):
        assert linked.run(stdin=OBJECT, environ=environ).stdout == ANSWER + b"\n"


@pytest.mark.parametrize(
    "name", ["HOME", "LC_ALL", "FERRULE_STATE", "PYTHONPATH", "MALLOC_X", "no_proxy", "HTTP_PROXY"]
)
def test_a_base_variable_leads_to_a_keeper_of_its_own(name: str, linked: Linked) -> None:
    with keep(linked.socket(**{name: "other"}), make_call):
        assert linked.run(stdin=OBJECT).stdout == cold(OBJECT)
        assert linked.run(stdin=OBJECT, environ={name: "other"}).stdout == ANSWER + b"\n"


def test_a_refusal_is_told_to_who_looks_for_faults(linked: Linked) -> None:
    def refuse(told: Conversation) -> None:
        told.receive_fields()
        told.send("R", b"it is confined otherwise")

    with keep(linked.socket(FERRULE_DEBUG="1"), refuse):
        done = linked.run(stdin=OBJECT, environ={"FERRULE_DEBUG": "1"})
    assert (done.stdout, done.stderr) == (cold(OBJECT), b"The keeper refused the call: it is confined otherwise\n")


# ---- a keeper that is lost


def begin(told: Conversation, *, frames: str) -> None:
    """Go so far in a call: A, I (read the input), 0 or 1 (begin)."""
    told.receive_fields()
    for step in frames:
        if step == "I":
            told.receive_input()
        else:
            told.send("A") if step == "A" else told.send("B", step.encode())


FAULTS: dict[str, Callable[[Conversation], None]] = {
    "dies": lambda told: None,
    "hangs": lambda told: told.wait_for_end(),
    "garbage": lambda told: told.connection.sendall(b"\xff" * 100) or told.wait_for_end(),
    "huge-length": lambda told: told.connection.sendall(b"O\xff\xff\xff\xff") or told.wait_for_end(),
    "cut-off": lambda told: told.connection.sendall(b"O\x10\x00\x00\x00\x00"),
    "lying-answer": lambda told: told.send("O", b"\x00\xff\xff\xff\x7fx") or told.wait_for_end(),
    "no-document": lambda told: told.send("O", pack_answer(b"")) or told.wait_for_end(),
    "late-refusal": lambda told: told.send("B", b"2") or told.wait_for_end(),
}


BETWEEN = ("dies", "garbage", "late-refusal")
"""What is done between the first message and the last one, too; the others are there in the tier `full`."""


def _tier(frames: str, fault: str) -> list[pytest.MarkDecorator]:
    """One that hangs is waited for, which another test does as well."""
    if frames and fault == "hangs":
        return [pytest.mark.slow if frames == "AI1" else pytest.mark.full]
    return [] if frames in ("", "AI1") or fault in BETWEEN else [pytest.mark.full]


@pytest.mark.parametrize(
    ("frames", "fault"),
    [pytest.param(frames, fault, marks=_tier(frames, fault)) for frames in ("", "A", "AI", "AI1") for fault in FAULTS],
)
def test_a_keeper_that_is_lost_before_anything_happened_costs_a_cold_start(
    frames: str, fault: str, linked: Linked
) -> None:
    def behave(told: Conversation) -> None:
        begin(told, frames=frames)
        FAULTS[fault](told)

    with keep(linked.socket(), behave):
        done = linked.run(stdin=OBJECT)
    is_limited = done.stdout.startswith(b"limit ")  # which one is that had to wait
    assert is_limited or fault != "hangs" or not frames
    assert (done.stdout.removeprefix(b"limit "), done.stderr, done.returncode) == (cold(OBJECT), b"", 0)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_keeper_that_is_lost_after_the_tool_has_begun_is_an_error(fault: str, linked: Linked) -> None:
    def behave(told: Conversation) -> None:
        begin(told, frames="AI0")
        FAULTS[fault](told)

    with keep(linked.socket(), behave):
        done = linked.run(stdin=OBJECT)
    document = json.loads(done.stdout)
    assert (document["success"], document["error_code"], done.returncode) == (False, LOST, 1)
    assert "may have done its work" in document["error"]
    assert done.stderr.startswith(b"tell: KEEPER_LOST: ")
    assert len(done.stderr) <= 242


@pytest.mark.parametrize(
    ("environ", "code"),
    [
        ({"IKIGAI_AGENT_ID": "a"}, 0),
        ({"FERRULE_EXIT_ZERO": "0", "IKIGAI_AGENT_ID": "a"}, 1),
        ({"FERRULE_EXIT_ZERO": "1"}, 0),
    ],
    ids=str,
)
def test_the_client_chooses_how_a_lost_call_ends(environ: dict[str, str], code: int, linked: Linked) -> None:
    with keep(linked.socket(), lambda told: begin(told, frames="AI0")):
        done = linked.run(stdin=OBJECT, environ=environ)
    assert (json.loads(done.stdout)["error_code"], done.returncode, bool(done.stderr)) == (LOST, code, code == 1)


@pytest.mark.slow
def test_a_keeper_that_takes_its_time_is_waited_for(linked: Linked) -> None:
    def behave(told: Conversation) -> None:
        begin(told, frames="AI0")
        for _ in range(3):
            assert told.receive_until("P") == Frame("P")
            told.send("Q")
        told.send_answer(ANSWER)

    with keep(linked.socket(), behave):
        assert linked.run(stdin=OBJECT).stdout == ANSWER + b"\n"


def test_input_that_nobody_ends_is_whole_after_a_silence(linked: Linked) -> None:
    def behave(told: Conversation) -> None:
        begin(told, frames="A")
        assert told.receive() == Frame("D", OBJECT)

    with keep(linked.socket(), behave):
        process = linked.start()
        process.stdin.write(OBJECT)
        process.stdin.flush()
        assert process.stdout.read() == cold(OBJECT)
    process.stdin.close()
    process.stdout.close()
    process.stderr.close()
    assert process.wait(SECONDS) == 0


# ---- who may be a keeper


def make_open(folder: Path) -> None:
    folder.chmod(0o755)


def make_foreign(folder: Path) -> None:
    os.chown(folder, 65_534, 65_534)


def make_link(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def make_foreign_socket(folder: Path) -> None:
    os.chown(next(folder.iterdir()), 65_534, 65_534)


def make_file(folder: Path) -> None:
    path = next(folder.iterdir())
    path.rename(folder / "socket")
    path.write_text("")


@pytest.mark.parametrize("spoil", [make_open, make_foreign, make_link, make_foreign_socket, make_file])
def test_what_another_user_may_have_made_is_no_keeper(spoil: Callable[[Path], None], linked: Linked) -> None:
    if "foreign" in spoil.__name__ and os.geteuid() != 0:
        pytest.skip("elsewhere: only root gives files away")
    path = linked.socket()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()
        spoil(path.parent)
        assert linked.run(stdin=OBJECT).stdout == cold(OBJECT)
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()


def test_a_socket_that_nobody_listens_on_is_no_keeper(linked: Linked) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(str(linked.socket()))
    assert linked.run(stdin=OBJECT).stdout == cold(OBJECT)


def test_a_full_backlog_is_not_waited_for(linked: Linked) -> None:
    path = str(linked.socket())
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(path)
        listening.listen(0)
        waiting = []
        code = 0
        while code == 0:
            waiting.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            waiting[-1].setblocking(False)
            code = waiting[-1].connect_ex(path)
        assert linked.run(stdin=OBJECT).stdout == cold(OBJECT)
        for one in waiting:
            one.close()


def test_more_than_a_hello_may_have_goes_the_cold_way(linked: Linked) -> None:
    environ = {f"V{number}": "x" * 100_000 for number in range(11)}
    with keep(linked.socket(), make_call):
        assert linked.run(stdin=OBJECT, environ=environ).stdout == cold(OBJECT)
        assert linked.run(stdin=OBJECT).stdout == ANSWER + b"\n"


# ---- signals


class Begun:
    """A call that has begun, and a keeper that waits for what the launcher says."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.began, self.signalled, self.ended = threading.Event(), threading.Event(), threading.Event()

    def behave(self, told: Conversation, *, answers: bool) -> None:
        begin(told, frames="AI0")
        self.began.set()
        try:
            self.frames.append(told.receive_until("S"))
            self.signalled.set()
            if answers:
                told.send_answer(ANSWER, b"interrupted\n", 1)
            told.wait_for_end()
        finally:
            self.ended.set()


def _start(linked: Linked) -> "subprocess.Popen[bytes]":
    process = linked.start()
    process.stdin.write(OBJECT)
    process.stdin.close()
    return process


def _finish(process: "subprocess.Popen[bytes]") -> tuple[bytes, bytes, int]:
    out, text = process.stdout.read(), process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    return out, text, process.wait(SECONDS)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=str)
def test_a_signal_is_for_the_keeper_which_answers(number: signal.Signals, linked: Linked) -> None:
    seen = Begun()
    with keep(linked.socket(), lambda told: seen.behave(told, answers=True)):
        process = _start(linked)
        seen.began.wait(SECONDS)
        process.send_signal(number)
        assert _finish(process) == (ANSWER + b"\n", b"interrupted\n", 1)
    assert seen.frames == [Frame("S", b"%d" % number)]


def test_a_signal_that_comes_before_the_keeper_has_taken_the_call_is_for_it_all_the_same(linked: Linked) -> None:
    seen: list[Frame] = []

    def behave(told: Conversation) -> None:
        told.receive_fields()
        os.kill(process.pid, signal.SIGTERM)
        told.send("A")
        seen.append(told.receive_until("S"))
        told.send_answer(ANSWER, b"interrupted\n", 1)

    with keep(linked.socket(), behave):
        process = linked.start()
        assert _finish(process) == (ANSWER + b"\n", b"interrupted\n", 1)
        process.stdin.close()
    assert seen == [Frame("S", b"%d" % signal.SIGTERM)]


def test_a_signal_that_comes_before_a_refusal_ends_the_call_as_it_ends_python_at_its_start(linked: Linked) -> None:
    def behave(told: Conversation) -> None:
        told.receive_fields()
        os.kill(process.pid, signal.SIGTERM)
        told.send("R", b"not now")

    with keep(linked.socket(), behave):
        process = linked.start()
        assert _finish(process) == (b"", b"", -signal.SIGTERM)
        process.stdin.close()


def test_a_second_signal_ends_the_launcher_and_closes_the_connection(linked: Linked) -> None:
    seen = Begun()
    with keep(linked.socket(), lambda told: seen.behave(told, answers=False)):
        process = _start(linked)
        seen.began.wait(SECONDS)
        process.send_signal(signal.SIGTERM)
        seen.signalled.wait(SECONDS)
        process.send_signal(signal.SIGINT)
        assert _finish(process) == (b"", b"", -signal.SIGINT)
        assert seen.ended.wait(SECONDS)


def test_a_launcher_that_is_killed_closes_the_connection(linked: Linked) -> None:
    seen = Begun()
    with keep(linked.socket(), lambda told: seen.behave(told, answers=False)):
        process = _start(linked)
        seen.began.wait(SECONDS)
        process.kill()
        assert seen.ended.wait(SECONDS)
        assert _finish(process)[2] == -signal.SIGKILL


def test_a_signal_that_the_caller_ignores_is_ignored(linked: Linked) -> None:
    def behave(told: Conversation) -> None:
        begin(told, frames="AI0")
        os.kill(process.pid, signal.SIGHUP)
        assert told.receive().type == "P"
        told.send_answer(ANSWER)

    with keep(linked.socket(), behave):
        process = linked.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.stdin.write(OBJECT)
        process.stdin.close()
        assert _finish(process)[::2] == (ANSWER + b"\n", 0)


# ---- streams


def test_input_is_forwarded_as_it_comes(linked: Linked) -> None:
    came = threading.Event()

    def behave(told: Conversation) -> None:
        told.receive_fields()
        told.send("A")
        assert told.receive() == Frame("D", OBJECT[:5])
        came.set()
        assert told.receive() == Frame("D", OBJECT[5:])
        told.send("B", b"0")
        told.send_answer(ANSWER)

    with keep(linked.socket(), behave):
        process = linked.start()
        process.stdin.write(OBJECT[:5])
        process.stdin.flush()
        assert came.wait(SECONDS)
        process.stdin.write(OBJECT[5:])
        process.stdin.flush()
        assert process.stdout.read() == ANSWER + b"\n"  # nobody has closed stdin
        process.stdin.close()
        assert _finish(process)[2] == 0


@pytest.mark.parametrize("is_lost", [False, True], ids=["kept", "lost"])
def test_input_past_the_limit_is_read_and_thrown_away(is_lost: bool, linked: Linked) -> None:
    data = b"x" * (3 << 20)

    def behave(told: Conversation) -> None:
        told.receive_fields()
        told.send("A")
        assert len(told.receive_input()) == (1 << 20) + 1
        if not is_lost:
            told.send_answer(ANSWER)

    with keep(linked.socket(), behave):
        done = linked.run(stdin=data)
    assert done.stdout == (cold(data[: (1 << 20) + 1]) if is_lost else ANSWER + b"\n")


@pytest.mark.parametrize("closing", ["<&-", ">&-"])
def test_a_closed_stream_goes_the_cold_way(closing: str, linked: Linked) -> None:
    path = linked.socket()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()
        command = ["sh", "-c", f'exec "$0" {closing}', str(linked.path)]
        subprocess.run(command, env=linked.environment, input=OBJECT, capture_output=True, timeout=SECONDS, check=False)
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()


def test_without_stderr_the_answer_is_on_stdout_alone(linked: Linked) -> None:
    with keep(linked.socket(), lambda told: make_call(told, b"text", 1)):
        command = ["sh", "-c", 'exec "$0" 2>&-', str(linked.path)]
        done = subprocess.run(command, env=linked.environment, input=OBJECT, capture_output=True, timeout=SECONDS)
    assert (done.stdout, done.stderr, done.returncode) == (ANSWER + b"\n", b"", 1)


@pytest.mark.slow
def test_a_terminal_goes_the_cold_way(linked: Linked) -> None:
    master, terminal = pty.openpty()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(linked.socket()))
        listening.listen()
        process = linked.start(stdin=terminal)
        os.close(terminal)
        os.write(master, b"\x04")  # the end of a terminal's input
        assert _finish(process)[0] == cold(b"")
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()
    os.close(master)


def test_an_answer_that_nobody_reads_is_a_failure(linked: Linked) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with keep(linked.socket(), make_call):
        process = linked.start(stdout=writer)
        os.close(writer)
        process.stdin.write(OBJECT)
        process.stdin.close()
        assert process.wait(SECONDS) == 1
    process.stderr.close()


def test_an_answer_that_is_not_read_in_time_is_a_failure(linked: Linked) -> None:
    reader, writer = full_pipe()
    with keep(linked.socket(), make_call):
        process = linked.start(stdout=writer, environ={"FERRULE_DEADLINE": "0.5"})
        os.close(writer)
        process.stdin.write(OBJECT)
        process.stdin.close()
        assert process.wait(SECONDS) == 1
    process.stderr.close()
    os.close(reader)


def test_many_calls_at_once_have_an_answer_each(linked: Linked) -> None:
    calls = 24

    def behave(told: Conversation) -> None:
        told.receive_fields()
        told.send("A")
        data = told.receive_input()
        told.send("B", b"0")
        told.send_answer(data)

    with keep(linked.socket(), behave, calls=calls):
        processes = [linked.start() for _ in range(calls)]
        for number, process in enumerate(processes):
            process.stdin.write(b'{"number": %d}' % number)
            process.stdin.close()
        answers = [_finish(process) for process in processes]
    # One that the keeper takes too late on a busy machine has gone the cold way, with the same input.
    for number, (out, _, code) in enumerate(answers):
        assert (out.splitlines()[-1], code) == (b'{"number": %d}' % number, 0)
