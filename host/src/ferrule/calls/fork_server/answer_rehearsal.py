"""Answers about credentials without any value, so that the copies which give the real ones take less.

Such an answer is worked out in a copy of the server, which ends with it. What the copy has to import, and the code that
the interpreter rewrites while it runs it for the first times, it would pay for in each call.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule.plugin.surroundings import Surroundings

_MODULES = (
    "ferrule.config.credentials_file",
    "ferrule.plugin.cache_identity",
    "ferrule.plugin.credential_answers",
    "ferrule.plugin.hooks.credential_values",
)
_TIMES = 16  # after which the interpreter leaves the code as it is


class AnswerRehearsal:
    """One server's. It looks at no variable of a caller's, and not into the credentials file."""

    def __init__(self) -> None:
        self._left = _TIMES

    def import_all(self) -> None:
        """Import what it takes to answer."""
        for module in _MODULES:
            if module not in sys.modules:
                importlib.import_module(module)

    def rehearse(self, given: Surroundings) -> None:
        """Answer once more, about no value. given: what has answered a call."""
        if not self._left:
            return
        self._left -= 1
        try:
            given.rehearse_answer()
        except (FerruleError, OSError):
            return  # the next call that asks says what is wrong
