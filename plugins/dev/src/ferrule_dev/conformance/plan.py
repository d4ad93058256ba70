"""Which checks fit into the time: planned by what one good call takes, the most telling first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ferrule_dev.conformance import sample

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_SIGNAL_SECONDS = 0.5

Count = Callable[["JSONObject"], int]


class Need(NamedTuple):
    """What a check needs. runs: of the executable, as told by the schema of its arguments. seconds: beside these."""

    runs: Count
    seconds: float = 0.0


class Plan(NamedTuple):
    """What is made, and what is left out. seconds: that the chosen checks take. left_out: seconds by check."""

    seconds: float
    left_out: dict[str, float]


def make_plan(parameters: JSONObject, examples: int, call_seconds: float, budget: float) -> Plan:
    """Choose the checks that fit into so many seconds, in the order of what they tell.

    Args:
        examples: how many the author gives.
        call_seconds: of one good call.
    """
    left_out: dict[str, float] = {}
    total = 0.0
    for check, need in {"examples": Need(lambda _: examples), **_NEEDS}.items():
        seconds = need.runs(parameters) * call_seconds + need.seconds
        if total + seconds > budget and total:
            left_out[check] = seconds
        else:
            total += seconds
    return Plan(total, left_out)


def _fixed(runs: int) -> Count:
    return lambda _: runs


_NEEDS: dict[str, Need] = {
    "missing-argument": Need(lambda parameters: len(list(sample.without_each_required({}, parameters)))),
    "not-json": Need(_fixed(4)),
    "credentials-hidden": Need(_fixed(8)),
    "no-network": Need(_fixed(1)),
    "sigterm": Need(_fixed(2), _SIGNAL_SECONDS),
    "optional-filled": Need(_fixed(2)),
    "stdin-closed": Need(_fixed(1)),
    "wrong-type": Need(lambda parameters: len(list(sample.of_another_type({}, parameters)))),
    "bounds": Need(lambda parameters: len(list(sample.outside_of_limits({}, parameters)))),
    "not-utf8": Need(_fixed(1)),
    "deep-input": Need(_fixed(1)),
    "unusual-text": Need(_fixed(3)),
    "huge-input": Need(_fixed(1)),
    "parallel": Need(_fixed(3)),  # of six, on a machine with two processors
    "stdout-closed": Need(_fixed(2)),
    "full-disk": Need(_fixed(2)),
    "no-home": Need(_fixed(2)),
    "extra-argument": Need(_fixed(1)),
    "locale": Need(_fixed(1)),
}
