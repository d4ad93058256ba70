"""How often a key may ask: what the headers of an answer say, and when a request's turn is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from ferrule.http import parse_unsigned

MAX_WAIT_SECONDS = 60.0  # a window that is longer than a call cannot be waited for
_SLACK_FACTOR = 1.05  # two requests may come closer to each other on their way than they were sent
_MAX_REQUESTS = 200  # of one window; a plan with more never makes a user wait
_MIN_EPOCH_SECONDS = 1_000_000_000  # a reset that is larger is an instant, and no number of seconds


class Window(NamedTuple):
    """One limit of a plan: `limit` requests in `seconds`. remaining and reset (in seconds) are as of one answer.

    What an answer does not say is None.
    """

    limit: int | None
    seconds: float | None
    remaining: int | None = None
    reset: float | None = None

    @property
    def is_short(self) -> bool:
        """Whether waiting for it makes sense within a call."""
        length = self.reset if self.seconds is None else self.seconds
        return length is not None and length <= MAX_WAIT_SECONDS

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing remains of it. A limit of 0 is how a plan without one is written."""
        return self.remaining is not None and self.remaining <= 0 and self.limit != 0


def windows(headers: Mapping[str, str]) -> list[Window]:
    """The windows that X-RateLimit-Policy, -Limit, -Remaining and -Reset tell of; `[]` where they tell nothing.

    >>> windows({"x-ratelimit-policy": "1;w=1, 15000;w=2592000", "x-ratelimit-remaining": "0, 14000"})[0]
    Window(limit=1, seconds=1.0, remaining=0, reset=None)
    """
    policy, limits, remaining, resets = (
        headers.get(f"x-ratelimit-{name}", "").split(",") for name in ("policy", "limit", "remaining", "reset")
    )
    if not any(any(map(str.strip, values)) for values in (policy, limits, remaining, resets)):
        return []
    return [_window(*texts) for texts in zip_longest(policy, limits, remaining, resets, fillvalue="")]


def _window(policy: str, limit: str, remaining: str, reset: str) -> Window:
    count, seconds = _policy(policy)
    wait = parse_unsigned(reset)
    if wait is not None and wait >= _MIN_EPOCH_SECONDS:
        wait = max(0.0, wait - time.time())
    return Window(_whole(limit) if count is None else count, seconds, _whole(remaining), wait)


def next_turn(now: float, taken: Sequence[float], limits: Iterable[tuple[int, float]], blocked: float) -> float:
    """The first instant at which one more request keeps within the limits.

    Args:
        taken: the instants of the requests so far and to come, in order.
        limits: requests and seconds of each window.
        blocked: the instant before which the provider takes none.
    """
    turn = max(now, blocked)
    for limit, seconds in limits:
        if 0 < limit <= len(taken):
            turn = max(turn, taken[-limit] + seconds * _SLACK_FACTOR)
    return turn


def limits_of(windows: Iterable[Window]) -> list[tuple[int, float]]:
    """The limits that turns are taken for: those of short windows with few requests."""
    return [
        (window.limit, window.seconds)
        for window in windows
        if window.limit and window.seconds and window.is_short and 0 < window.limit <= _MAX_REQUESTS
    ]


def _policy(text: str) -> tuple[int | None, float | None]:
    limit, _, rest = text.partition(";")
    for parameter in rest.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "w":
            return _whole(limit), parse_unsigned(value)
    return _whole(limit), None


def _whole(text: str) -> int | None:
    number = parse_unsigned(text.strip().removeprefix("-"))
    return None if number is None else -int(number) if text.strip().startswith("-") else int(number)
