"""Plugin of pytest: four tiers of tests, and what a test of the fastest one may not do.

- `unit` starts no process, opens no connection, and takes at most half a second. Every test is one that is not marked.
- `process` starts programs of the project or servers on loopback, or takes longer than that.
- `slow` needs what is large or takes long: browsers, programs from npm, conformance suites, wheels, long properties.
- `installed` needs installations as users have them: wheels, by pip, pipx and uv, with each Python.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from ferrule_testkit.effort import DEFAULT, effort, examples

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

TIERS = {
    "unit": "starts no process, opens no connection, takes at most half a second; what has no other mark",
    "process": "starts programs of the project or servers on loopback, or takes longer than a unit test",
    "slow": "needs what is large or takes long: browsers, npm, conformance suites, wheels, long properties",
    "installed": "needs installations as users have them: wheels, by pip, pipx and uv, with each Python",
}
MAX_SECONDS = 0.5
_USUAL_EXAMPLES = 100
_PROGRAMS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "ferrule_testkit.program")
_CONNECTIONS = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto")
_BANNED = frozenset(_PROGRAMS + _CONNECTIONS)


class _Watch:
    """What the running test has done that a unit test may not. on: whether anybody wants to know."""

    on = False
    seen: set[str]

    def __init__(self) -> None:
        self.seen = set()

    def hear(self, event: str, _: object) -> None:
        """Note an audit event."""
        if event in _BANNED and self.on:
            self.seen.add(f"{event} ({_place()})")


_watch = _Watch()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks, begin to listen, and have hypothesis try as much as the effort says, however long it takes."""
    for name, meaning in TIERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    sys.addaudithook(_watch.hear)
    settings.register_profile("tiers", max_examples=examples(_USUAL_EXAMPLES), deadline=None)
    settings.load_profile("tiers")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what has no tier as a unit test, before tests are chosen by their marks."""
    for item in items:
        if not any(item.get_closest_marker(name) for name in TIERS):
            item.add_marker("unit")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Listen while a unit test and its fixtures run."""
    _watch.seen.clear()
    _watch.on = item.get_closest_marker("unit") is not None
    try:
        return (yield)
    finally:
        _watch.on = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a unit test that has taken too long, not counting the time in which the machine kept it waiting."""
    began = _own_seconds()
    yield
    taken = _own_seconds() - began
    if _watch.on and taken > MAX_SECONDS and effort() <= DEFAULT:
        pytest.fail(f"A unit test takes at most {MAX_SECONDS} s, and this one took {taken:.2f} s.", pytrace=False)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a unit test that has started a program or opened a connection, itself or by a fixture."""
    yield
    if _watch.on and _watch.seen:
        done = ", ".join(sorted(_watch.seen))
        pytest.fail(f"A unit test starts no program and opens no connection: {done}. Mark it `process`.", pytrace=False)


def _place() -> str:
    """File and line of the test, or of what it calls in the kit, that is at work."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and "/tests/" not in frame.f_code.co_filename:
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}" if frame else "no test"


def _own_seconds() -> float:
    """A clock that stands still while the main thread waits for a processor, where the system counts that."""
    try:
        with open(f"/proc/{os.getpid()}/schedstat", "rb") as file:
            waited_ns = int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        return time.process_time()
    return time.monotonic() - waited_ns / 1e9
