"""Template variables: the names that stand for dates in the definition of a view, and what they stand for today."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

# A notebook may come from anywhere, and what a view shows goes to a model: the environment may hold keys, and these
# do not.
ENVIRONMENT = ("USER", "LOGNAME", "LANG", "TZ")

_ARITHMETIC = re.compile(r"(today|this_week|this_month)([+-]\d{1,6})")


def resolve(name: str, now: datetime) -> str | None:
    """What a variable stands for; None if there is none of this name.

    Dates are `YYYY-MM-DD`, weeks begin on Monday, `now` is ISO 8601 with its zone. `env:VAR` and `env:DEFAULT:VAR`
    give the variables of ENVIRONMENT, and the default or nothing for any other. now: local time.
    """
    if name.startswith("env:"):
        return _environment(name)
    if name == "now":
        return now.isoformat(timespec="seconds")
    if name == "year":
        return f"{now.year:04}"
    if name == "quarter":
        return f"Q{(now.month + 2) // 3}"
    day = resolve_day(name, now)
    return None if day is None else day.isoformat()


def resolve_day(name: str, now: datetime) -> date | None:
    """The day that a variable stands for; None where it stands for none."""
    today = now.date()
    arithmetic = _ARITHMETIC.fullmatch(name)
    base, count = (arithmetic[1], int(arithmetic[2])) if arithmetic else (name, 0)
    if base not in _DAYS:
        return None
    move, start = _DAYS[base]
    try:
        return move(today, start + count)
    except (OverflowError, ValueError):
        return None  # no calendar goes that far


def _environment(name: str) -> str:
    default, _, variable = name.removeprefix("env:").rpartition(":")
    return (os.environ.get(variable, "") if variable in ENVIRONMENT else "") or default


def _day(today: date, days: int) -> date:
    return today + timedelta(days=days)


def _week(today: date, weeks: int) -> date:
    return today + timedelta(days=7 * weeks - today.weekday())


def _month(today: date, months: int) -> date:
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return date(year, month + 1, 1)


def _quarter(today: date, quarters: int) -> date:
    return _month(today, 3 * quarters - (today.month - 1) % 3)


# How each day is found: by what it is a number of, and how many from today on.
_DAYS: dict[str, tuple[Callable[[date, int], date], int]] = {
    "today": (_day, 0),
    "yesterday": (_day, -1),
    "this_week": (_week, 0),
    "next_week": (_week, 1),
    "last_week": (_week, -1),
    "this_month": (_month, 0),
    "next_month": (_month, 1),
    "last_month": (_month, -1),
    "start_of_month": (_month, 0),
    "end_of_month": (lambda today, months: _day(_month(today, months), -1), 1),
    "start_of_quarter": (_quarter, 0),
    "end_of_quarter": (lambda today, quarters: _day(_quarter(today, quarters), -1), 1),
}
