"""How often a key may ask: what the headers of an answer say, and when a request's turn is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from ferrule.http.retry_after import unsigned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SHORT = 60.0  # seconds; a window that is longer than a call cannot be waited for
_SLACK = 1.05  # two requests may come closer to each other on their way than they were sent
_MOST = 200  # requests of one window; a plan with more never makes a person wait
_EPOCH = 1_000_000_000  # a reset that is larger is an instant, and no number of seconds


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
        return length is not None and length <= SHORT

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
    found = []
    for index in range(max(map(len, (policy, limits, remaining, resets)))):
        limit, seconds = _policy(_at(policy, index))
        reset = unsigned(_at(resets, index))
        found.append(
            Window(
                limit if limit is not None else _whole(_at(limits, index)),
                seconds,
                _whole(_at(remaining, index)),
                reset if reset is None or reset < _EPOCH else max(0.0, reset - time.time()),
            )
        )
    return found


def next_turn(now: float, taken: Sequence[float], limits: Iterable[tuple[int, float]], blocked: float) -> float:
    """The first instant at which one more request keeps within the limits.

    taken: the instants of the requests so far and to come, in order. limits: requests and seconds of each window.
    blocked: the instant before which the provider takes none.
    """
    turn = max(now, blocked)
    for limit, seconds in limits:
        if 0 < limit <= len(taken):
            turn = max(turn, taken[-limit] + seconds * _SLACK)
    return turn


def limits_of(windows: Iterable[Window]) -> list[tuple[int, float]]:
    """The limits that turns are taken for: those of short windows with few requests."""
    return [
        (window.limit, window.seconds)
        for window in windows
        if window.limit and window.seconds and window.is_short and 0 < window.limit <= _MOST
    ]


def _policy(text: str) -> tuple[int | None, float | None]:
    limit, _, rest = text.partition(";")
    for parameter in rest.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "w":
            return _whole(limit), unsigned(value)
    return _whole(limit), None


def _at(values: Sequence[str], index: int) -> str:
    return values[index] if index < len(values) else ""


def _whole(text: str) -> int | None:
    number = unsigned(text.strip().removeprefix("-"))
    return None if number is None else -int(number) if text.strip().startswith("-") else int(number)
