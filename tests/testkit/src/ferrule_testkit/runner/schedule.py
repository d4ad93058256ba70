"""Plugin of pytest: how many workers share the tests, and which tests one of them gets at once.

What the tests of a file share, such as a server or an environment, each worker makes that gets any of them. So a
worker gets a file, or so many tests of it that the others do not wait for it in the end.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdist.workermanage import WorkerController

MAX_UNIT_TESTS = 16
"""How many tests of a file a worker gets at once."""

IN_ONE_WORKER = frozenset(
    {
        *("tests/release/test_distributions.py", "plugins/dev/tests/test_new_installed.py", "tests/docs/test_site.py"),
        *("host/tests/schema/providers/test_published_types.py", "plugins/serve/tests/test_serve.py"),
        *("plugins/mcp/tests/remote/test_session.py",),
        *("tests/ask/test_aimock.py", "tests/ask/test_recorded.py", "tests/ask/test_sdk.py"),
        *("tests/markdown/test_parsers.py", "tests/serve/test_clients.py", "tests/serve/test_conformance.py"),
        *("tests/serve/test_inspector.py", "tests/serve/test_page.py", "tests/serve/test_page_browser.py"),
        *("tests/serve/test_replicas.py",),
    }
)
"""Files whose tests share what takes seconds to make or to import, which the one worker that gets all of them does."""
ONE_BY_ONE = (
    *("plugins/mcp/tests/servers/", "tests/attacks/test_tools.py", "tests/attacks/test_hooks.py", "tests/installed/"),
)
"""Files and folders with tests of which each takes a minute and shares nothing with the others."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers for each processor, since a test waits now and then.

    Each worker collects all tests and makes what a file shares anew: 778 tests of two plugins took a sixth less of the
    processor's time by four workers on two processors than by six, and a quarter less of the clock's.
    """
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, and end with unit tests, so that no worker waits for another one in the end."""
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    path = _path(item.nodeid)
    if path.startswith(ONE_BY_ONE):
        return 0
    return 1 if path in IN_ONE_WORKER else 3 if item.get_closest_marker("unit") else 2


def share_out(nodeids: Sequence[str]) -> dict[str, str]:
    """By test: the name of what is given to one worker at once, in which it is."""
    numbers: dict[str, int] = {}
    units = {}
    for nodeid in nodeids:
        path = _path(nodeid)
        number = numbers[path] = numbers.get(path, -1) + 1
        if path.startswith(ONE_BY_ONE):
            units[nodeid] = nodeid
        else:
            units[nodeid] = path if path in IN_ONE_WORKER else f"{path} {number // MAX_UNIT_TESTS}"
    return units


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests out as `share_out` says.

    xdist's own scheduler looks through all that has been done, and through the names of all tests, after each test;
    with fifteen thousand, that takes more time than many of the tests. It also begins with the units of the most tests,
    so that the tests of `ONE_BY_ONE`, which take longest, would come last.
    """
    from xdist.scheduler import LoadGroupScheduling

    class Scheduling(LoadGroupScheduling):  # type: ignore[misc] # xdist says nothing of its types
        def __init__(self) -> None:
            config.option.loadscopereorder = False
            super().__init__(config, log)
            self._units: dict[str, str] = {}
            self._places: dict[str, int] = {}

        def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
            super().add_node_collection(node, collection)
            if not self._units:
                self._units = share_out(collection)
                self._places = {nodeid: place for place, nodeid in enumerate(collection)}

        def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
            nodeid = self.registered_collections[node][item_index]
            work = self.assigned_work[node]
            unit = work[self._units[nodeid]]
            unit[nodeid] = True
            if all(unit.values()):
                del work[self._units[nodeid]]
            self._reschedule(node)

        def _assign_work_unit(self, node: WorkerController) -> None:
            name, unit = self.workqueue.popitem(last=False)
            self.assigned_work[node][name] = unit
            node.send_runtest_some([self._places[nodeid] for nodeid, is_done in unit.items() if not is_done])

        def _split_scope(self, nodeid: str) -> str:
            return self._units[nodeid]

    return Scheduling()


def _path(nodeid: str) -> str:
    return nodeid.partition("::")[0]
