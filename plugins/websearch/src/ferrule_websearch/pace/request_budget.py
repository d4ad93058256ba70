"""What one question may cost at a provider: so many requests, unless the admin allows more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import Context

MAX_REQUESTS = 3
SETTING, VARIABLE = "max_requests", "FERRULE_SEARCH_MAX_REQUESTS"
_MOST = 1000


class RequestBudget:
    """The requests of one question to one provider.

    limit: how many there may be. A request that the provider refuses because too many came at once costs nothing: it is
    in `sent`, and not in what is spent. `guesses` counts those of which nothing said when to repeat them. reserved: how
    many are kept for other queries of the same question. report: gets the number of requests so far, before each one.
    """

    def __init__(self, limit: int = MAX_REQUESTS, report: Callable[[int], object] = lambda _: None) -> None:
        self.limit = limit
        self.sent = 0
        self.guesses = 0
        self.reserved = 0
        self._spent = 0
        self._report = report

    @property
    def left(self) -> int:
        """How many more may be sent."""
        return max(0, self.limit - self._spent)

    def allows(self, *, is_first: bool) -> bool:
        """Whether a query may send one more request. is_first: it is the query's first one, which was kept for it."""
        return self.left > (0 if is_first else self.reserved)

    def record(self) -> None:
        """One more is sent."""
        self.sent += 1
        self._spent += 1
        self._report(self.sent)

    def refund(self, *, is_guess: bool = False) -> None:
        """The last one was refused before it cost anything, and is sent again. is_guess: when, is only guessed."""
        self._spent -= 1
        self.guesses += is_guess


def max_requests(context: Context, otherwise: int = MAX_REQUESTS) -> int:
    """The most requests of one question, as the admin decided for a tool; else `otherwise`.

    The variable wins over `max_requests` in the tool's table. What is no whole number from 1 on counts as not set.
    """
    return _positive(context.setting(SETTING, VARIABLE)) or otherwise


def explain_limit(name: str, limit: int, tool: str, left_out: str) -> str:
    """What the bound left out, and what to do.

    Args:
        name: of the provider.
        tool: whose table has the setting.
    """
    times = "once" if limit == 1 else f"{limit} times"
    return (
        f"{name} was asked {times}, the most for one question; {left_out}. Make the question narrower, or have the "
        f"admin raise {SETTING} in [tools.{tool}]."
    )


def _positive(setting: object) -> int:
    if isinstance(setting, str) and setting.isascii() and setting.isdigit():
        setting = int(setting[:6])
    if isinstance(setting, bool) or not isinstance(setting, int):
        return 0
    return min(max(setting, 0), _MOST)
