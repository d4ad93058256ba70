"""How hard the tests look for what is wrong with things that are made up as they run."""

import os


def examples(number: int) -> int:
    """So many examples of hypothesis, times FERRULE_TEST_EFFORT, which a person sets who has the time (say, to 10)."""
    return max(1, int(number * float(os.environ.get("FERRULE_TEST_EFFORT", "1"))))
