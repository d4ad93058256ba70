"""The process between the supervising one and a child that may start others."""

import os
import select
import signal
import subprocess
import sys

import pytest

from ferrule.supervision.guard import fork_below_guard, is_possible
from ferrule.supervision.signals import Signals
from ferrule_testkit import PATIENCE_SECONDS

pytestmark = [pytest.mark.process, pytest.mark.skipif(not is_possible(), reason="it needs descriptors for processes")]


@pytest.mark.parametrize("end", [lambda: os._exit(7), lambda: os.kill(os.getpid(), 9), lambda: os._exit(0)])
def test_a_guard_ends_as_the_child_does(end: object) -> None:
    expected = os.fork()
    if not expected:
        end()  # type: ignore[operator] # its kind is known here
    with Signals() as signals:
        guard, child = fork_below_guard(lambda _: end(), signals)  # type: ignore[operator] # its kind is known here
        assert guard != child
        assert os.waitpid(guard, 0)[1] == os.waitpid(expected, 0)[1]


def test_a_child_that_cannot_be_forked_is_an_error_and_leaves_no_guard() -> None:
    """As an ordinary user, to whom the limit of processes applies: there is room for the guard, and for no child."""
    program = """
import os, resource
from ferrule.supervision.guard import fork_below_guard
from ferrule.supervision.signals import Signals
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(54321); os.setuid(54321)
resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
with Signals() as signals:
    try:
        fork_below_guard(lambda _: os._exit(0), signals)
    except BlockingIOError as error:
        print(type(error).__name__)
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("none is left")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if os.geteuid():
        pytest.skip("only root can be a user who has no other process")
    assert (done.stdout, done.stderr) == ("BlockingIOError\nnone is left\n", "")


@pytest.mark.parametrize("handling", [signal.SIG_DFL, signal.SIG_IGN], ids=["default", "ignored"])
def test_what_a_killed_child_has_started_ends_with_it(handling: signal.Handlers) -> None:
    """Also where who has started the program ignores that children end."""
    program = """
import os, subprocess, sys
from ferrule.supervision.guard import go_on_below_guard
go_on_below_guard()
print(subprocess.Popen(["sleep", "600"], start_new_session=True).pid, flush=True)
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, handling),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sleeping = os.pidfd_open(int(process.stdout.readline()))
        try:
            process.stdin.close()
            assert select.select([sleeping], [], [], PATIENCE_SECONDS)[0]
            assert process.wait() == -signal.SIGKILL
        finally:
            try:
                signal.pidfd_send_signal(sleeping, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.close(sleeping)
