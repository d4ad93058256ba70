"""Plugin of pytest: of a table of tests that are no unit tests, a run may make the first row and some of the others.

FERRULE_TEST_ROWS is `N:WORD`: one in N of the other rows is made, by their names and the word, so that another word
makes other rows. Without it, all are made. Every unit test, and every test without a table, is made in any case.
"""

from __future__ import annotations

import os
from hashlib import blake2s
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VARIABLE = "FERRULE_TEST_ROWS"
_CHOICE: pytest.StashKey[tuple[int, str] | None] = pytest.StashKey()


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
    rows = [item.nodeid for item in items if not item.get_closest_marker("unit")]
    left_out = set(rows) - set(choose_rows(rows, *choice))
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


def pytest_report_header(config: pytest.Config) -> str:
    """Say which rows are made, so that the same run can be made again."""
    choice = config.stash[_CHOICE]
    if choice is None:
        return ""
    share, word = choice
    return f"{VARIABLE}={share}:{word}: the first row of a table, and one in {share} of the others"
