"""Dates as pages write them."""

from __future__ import annotations

import re
from typing import NamedTuple

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_SHORT = {month[:3].lower(): number for number, month in enumerate(MONTHS, start=1)}

_NUMBERS = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?!\d)")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})\b")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\.?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})\b")
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+(?=\d|[a-z])", re.I)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Date(NamedTuple):
    """A date of which the month or the day may not be known (0)."""

    year: int
    month: int = 0
    day: int = 0

    def iso(self) -> str:
        """`2024-03-05`, `2024-03` or `2024`."""
        return "-".join(f"{part:02}" for part in self if part)


def read_date(text: str) -> Date | None:
    """The date that a text begins with, in any of the usual spellings; None if there is none.

    The numbers of a date are taken for year, month and day only where the year comes first: else they are ambiguous.
    """
    text = " ".join(text.split())[:60]
    for pattern, order in ((_COMPACT, "ymd"), (_NUMBERS, "ymd"), (_MONTH_FIRST, "mdy"), (_DAY_FIRST, "dmy")):
        if found := pattern.match(text):
            return _sound(dict(zip(order, found.groups(), strict=True)))
    weekday = _WEEKDAY.match(text)
    return read_date(text[weekday.end() :]) if weekday else None


def _sound(parts: dict[str, str | None]) -> Date | None:
    """The parts as numbers, as far as they can be ones of a date."""
    written = parts["m"] or ""
    month = int(written) if written.isdigit() else _SHORT.get(written[:3].lower(), 0)
    year, day = int(parts["y"] or 0), int(parts["d"] or 0)
    if not 1000 <= year <= 2999 or (written and not written.isdigit() and not month):
        return None
    if month > 12 or not month:
        return Date(year)
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    most = 28 if month == 2 and not is_leap else _DAYS[month - 1]
    return Date(year, month, day) if day <= most else Date(year)
