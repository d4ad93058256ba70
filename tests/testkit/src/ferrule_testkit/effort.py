"""How hard the tests look for what is wrong with things that are made up as they run.

FERRULE_TEST_EFFORT is a factor: 0.2 where nothing is set, 1 in continuous integration, 10 for whoever has the time.
"""

import os

DEFAULT = 0.2


def effort() -> float:
    """The factor."""
    return float(os.environ.get("FERRULE_TEST_EFFORT") or DEFAULT)


def examples(number: int) -> int:
    """So many examples of hypothesis at an effort of 1, and at least one."""
    return max(1, int(number * effort()))
