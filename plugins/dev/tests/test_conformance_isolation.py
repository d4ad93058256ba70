"""What `ferrule check` asks the kernel for, and that it does not wait for it for ever."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from ferrule.supervision import processes
from ferrule_dev.conformance.runs import isolation

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are no namespaces"),
]


def test_a_kernel_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_TRIAL_SECONDS", 0.01)
    others = processes.children()
    why = isolation._try_in_child(lambda: signal.pause() and None)
    assert why == "the kernel has not done it within 0 s"
    (child,) = processes.children() - others
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def test_a_refusal_of_the_kernel_is_told() -> None:
    def refuse() -> None:
        raise PermissionError(1, "Operation not permitted")

    assert isolation._try_in_child(refuse) == "the kernel does not allow it here (Operation not permitted)"
    assert isolation._try_in_child(lambda: None) is None
