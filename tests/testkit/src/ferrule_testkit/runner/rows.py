"""Plugin of pytest: of the slow tests that have a table, a run may make the first row, and some of the others.

FERRULE_TEST_ROWS is `N:WORD`: one in N of the other rows is made, by their names and the word, so that another word
makes other rows. Without it, all are made. Every test that is not slow, or has no table, is made in any case.
"""

from __future__ import annotations

import os
from hashlib import blake2s
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VARIABLE = "FERRULE_TEST_ROWS"
_TIERS = ("slow", "installed")
_CHOICE: pytest.StashKey[tuple[int, str] | None] = pytest.StashKey()
_LEFT_OUT: pytest.StashKey[int] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Read the variable. Raises UsageError where it is neither empty nor what it can be."""
    choice = os.environ.get(VARIABLE, "")
    share, separator, word = choice.partition(":")
    if choice and not (separator and share.isdecimal() and int(share)):
        raise pytest.UsageError(f"{VARIABLE} is `N:WORD`, one in N rows by the word, and not {choice!r}")
    config.stash[_CHOICE] = (int(share), word) if choice else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not chosen, after tests were chosen by their marks."""
    choice = config.stash[_CHOICE]
    if choice is None:
        return
    slow = [item.nodeid for item in items if any(item.get_closest_marker(tier) for tier in _TIERS)]
    left_out = set(slow) - set(choose_rows(slow, *choice))
    config.stash[_LEFT_OUT] = len(left_out)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
    items[:] = [item for item in items if item.nodeid not in left_out]


def choose_rows(nodeids: Sequence[str], share: int, word: str) -> Iterable[str]:
    """The first row of each test, and one in `share` of the others."""
    seen = set()
    for nodeid in nodeids:
        test = nodeid.partition("[")[0]
        if test not in seen or _number(f"{word} {nodeid}") % share == 0:
            yield nodeid
        seen.add(test)


def _number(text: str) -> int:
    return int.from_bytes(blake2s(text.encode(), digest_size=8).digest(), "big")


def pytest_report_collectionfinish(config: pytest.Config) -> str:
    """Say how many rows are left out, where one process runs all."""
    left_out = config.stash.get(_LEFT_OUT, 0)
    return f"{left_out} rows of slow tests are left out by {VARIABLE}" if left_out else ""
