"""Plugin of pytest: five tiers of tests, and what a test of the fastest one may not do.

- `unit` starts no process, opens no connection, and takes at most half a second of the processor's time. Every test is
  one that is not marked.
- `process` starts programs of the project or servers on loopback, or takes longer than that.
- `slow` needs what is large or takes long: browsers, programs from npm, conformance suites, wheels, long properties.
- `installed` needs installations as users have them: wheels, by pip, pipx and uv, with each Python.
- `full` makes all of a table of which the other tiers make every pair, or one of each kind; it is asked for by name
  alone.

A unit test that takes longer is an error in continuous integration, and elsewhere a line at the end: nobody's machine
is too slow for the tests.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from hypothesis.database import InMemoryExampleDatabase

from ferrule_testkit.effort import DEFAULT, effort, examples

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

TIERS = {
    "unit": "starts no process, opens no connection, takes half a second at most; what has no other mark",
    "process": "starts programs of the project or servers on loopback, or takes longer than a unit test",
    "slow": "needs what is large or takes long: browsers, npm, conformance suites, wheels, long properties",
    "installed": "needs installations as users have them: wheels, by pip, pipx and uv, with each Python",
    "full": "makes all of a table of which the others make every pair, or one of each kind; asked for by name alone",
}
MAX_SECONDS = 0.5
"""Of the processor's time, which a busy machine does not use up."""

_USUAL_EXAMPLES = 100
_PROPERTY = "seconds of a unit test that is too slow"
_SECONDS: pytest.StashKey[float] = pytest.StashKey()
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
        if self.on and event in _BANNED:  # on first: it is all that is asked while the interpreter ends
            self.seen.add(f"{event} ({_place()})")


_watch = _Watch()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks, begin to listen, and have hypothesis try as much as the effort says, however long it takes."""
    for name, meaning in TIERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    sys.addaudithook(_watch.hear)
    number, unhurried = examples(_USUAL_EXAMPLES), [HealthCheck.too_slow]
    settings.register_profile("tiers", max_examples=number, deadline=None, suppress_health_check=unhurried)
    if not _can_keep_examples():
        settings.register_profile("tiers", settings.get_profile("tiers"), database=InMemoryExampleDatabase())
    settings.load_profile("tiers")
    config.pluginmanager.register(_SlowTests(), "ferrule-slow-unit-tests")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what has no tier as a unit test, before tests are chosen by their marks."""
    for item in items:
        if not any(item.get_closest_marker(name) for name in TIERS):
            item.add_marker("unit")


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Listen while a unit test and its fixtures run, and measure it again where it took too long."""
    _watch.seen.clear()
    _watch.on = item.get_closest_marker("unit") is not None
    try:
        outcome = yield
        if _watch.on and isinstance(item, pytest.Function) and item.stash.get(_SECONDS, 0.0) > _limit(item):
            _measure_again(item, nextitem)
        return outcome
    finally:
        _watch.on = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Note how much of the processor's time a unit test takes, or what is tested in it takes by hypothesis."""
    if not _watch.on:
        return (yield)
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    if handle is None:
        began = time.process_time()
        try:
            return (yield)
        finally:
            item.stash[_SECONDS] = time.process_time() - began
    tested, spent = handle.inner_test, _Spent()
    handle.inner_test = spent.measured(tested)
    try:
        return (yield)
    finally:
        handle.inner_test = tested
        item.stash[_SECONDS] = spent.seconds


def _can_keep_examples() -> bool:
    """Whether hypothesis can write where it would keep what failed; its warning, that it cannot, would be an error."""
    folder = Path(".hypothesis")
    return os.access(folder if folder.exists() else ".", os.W_OK)


class _Spent:
    """The processor's time that a function takes in all of its calls; what calls it is left out."""

    seconds = 0.0

    def measured(self, function: Callable[..., object]) -> Callable[..., object]:
        """The same function, whose time is counted."""

        @functools.wraps(function)
        def measured(*arguments: object, **named: object) -> object:
            began = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds += time.process_time() - began

        return measured


def _limit(item: pytest.Item) -> float:
    """What a test may take: more examples may take more."""
    is_property = hasattr(getattr(item, "obj", None), "hypothesis")
    return MAX_SECONDS * max(1.0, effort() / DEFAULT if is_property else 1.0)


def _measure_again(item: pytest.Function, nextitem: pytest.Item | None) -> None:
    """Run a test once more, since the first one pays for imports and caches; report it where it takes as long again."""
    item.stash[_SECONDS] = 0.0
    item._initrequest()  # fixtures of its own, as plugins that run tests again do it
    again = runtestprotocol(item, log=False, nextitem=nextitem)
    taken = item.stash[_SECONDS]
    if taken <= _limit(item) or not all(report.passed for report in again):
        return
    is_error = bool(os.environ.get("CI"))
    report = pytest.TestReport(
        item.nodeid,
        item.location,
        {},
        outcome="failed" if is_error else "passed",
        longrepr=_told(taken) if is_error else None,
        when="teardown",
        user_properties=[(_PROPERTY, f"{taken:.2f}")],
    )
    item.ihook.pytest_runtest_logreport(report=report)


def _told(seconds: float) -> str:
    return (
        f"A unit test takes at most {MAX_SECONDS} s of the processor's time, and this one took {seconds:.2f} s, twice. "
        "Mark it `process`, or have it do less."
    )


class _SlowTests:
    """Names the unit tests that were too slow at the end of the run, where that is no error."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what a report says, which may come from another process."""
        for name, value in report.user_properties:
            if name == _PROPERTY and report.passed:
                self._found[report.nodeid] = str(value)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write them."""
        if self._found:
            terminalreporter.section("slow unit tests")
            terminalreporter.line(f"These take more than {MAX_SECONDS} s, which is an error in continuous integration.")
            for test, seconds in sorted(self._found.items()):
                terminalreporter.line(f"{seconds} s {test}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """Fail a unit test that has started a program or opened a connection, itself or by a fixture.

    What the session's fixtures do at their end, behind the last test, is not that test's.
    """
    before = set(_watch.seen)
    yield
    if _watch.on and (seen := before if nextitem is None else _watch.seen):
        done = ", ".join(sorted(seen))
        pytest.fail(f"A unit test starts no program and opens no connection: {done}. Mark it `process`.", pytrace=False)


def _place() -> str:
    """File and line of the test, or of what it calls in the kit, that is at work."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and "/tests/" not in frame.f_code.co_filename:
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}" if frame else "no test"
