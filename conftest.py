"""What holds for the tests of all distributions."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

pytest_plugins = [
    "ferrule_testkit.runner.collection",
    "ferrule_testkit.runner.compilation",
    "ferrule_testkit.runner.leftovers",
    "ferrule_testkit.runner.rows",
    "ferrule_testkit.runner.schedule",
    "ferrule_testkit.runner.tiers",
    "ferrule_testkit.runner.time_limit",
    *(f"ferrule_testkit.fixtures.{name}" for name in ("ask", "installed", "offered_tools", "office", "search", "web")),
]

_SET_CHILD_SUBREAPER = 36
# Reasons that have to do with who runs the tests, or on which system, and not with a program that is missing.
_ALLOWED = ("only root", "elsewhere", "this is the run")


@pytest.fixture(scope="session", autouse=True)
def _own_place_of_inner_runs(tmp_path_factory: pytest.TempPathFactory) -> Generator[None, None, None]:
    """A pytest that a test starts has its folders apart from those of other runs.

    Each run of pytest removes the folders of all runs but the last three. That of a whole run of these tests has some
    hundred thousand files, whose removal takes minutes, which a test with a time limit would take for a hanging one.
    They are not below this run's own folder either: a process that has that in its environment counts as left behind.
    """
    tmp_path_factory.getbasetemp()  # which is made when it is first asked for
    with tempfile.TemporaryDirectory(prefix="inner-", ignore_cleanup_errors=True) as folder:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In continuous integration every program is installed, so a test that is skipped there is one that fails."""
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not reason.removeprefix("Skipped: ").startswith(_ALLOWED):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid} was skipped, and must not be in continuous integration: {reason}"
    return report


def pytest_runtest_teardown() -> None:
    """A test that supervises in this process leaves it adopting orphans, which would be the next test's children."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
