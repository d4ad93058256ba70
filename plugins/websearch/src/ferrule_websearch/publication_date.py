"""When a result was published, from whatever a provider says of it, as ISO 8601."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "(?P<month>[a-z]{3})[a-z]*\\.?"
_WRITTEN = re.compile(rf"{_MONTH}\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{4}})", re.I)  # January 2, 2026
_WRITTEN_DAY_FIRST = re.compile(rf"(?P<day>\d{{1,2}})\s+{_MONTH},?\s+(?P<year>\d{{4}})", re.I)  # 2 January 2026
_AGE = re.compile(r"(?P<number>\d{1,3}|an?)\s+(?P<unit>minute|hour|day|week|month|year)s?\s+ago", re.I)
_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 7 * 86_400}
_MONTHS_OF_YEAR = 12
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")
_MAX_CHARS = 64
_MAX_EPOCH_SECONDS = 100_000_000_000  # a larger number counts milliseconds


def parse_date(value: object) -> str:
    """A date or an instant in ISO 8601, such as `2026-01-02` or `2026-01-02T03:04:05Z`; "" for what is none.

    Taken are ISO 8601, `January 2, 2026`, `2 January 2026`, `3 days ago`, the dates of e-mails, and seconds or
    milliseconds since 1970. An instant with a zone is told in UTC, one without stays without. An age says no more than
    it counts: weeks and months become a month, such as `2026-01`, and years a year.

    >>> parse_date("2026-01-02T04:04:05+01:00"), parse_date("Jan 2, 2026"), len(parse_date("3 weeks ago"))
    ('2026-01-02T03:04:05Z', '2026-01-02', 7)
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _from_epoch(float(value))
        return _from_text(value.strip()) if isinstance(value, str) and len(value) <= _MAX_CHARS else ""
    except (ValueError, OverflowError, TypeError, OSError):
        return ""


def days_ago(days: float) -> str:
    """The instant so many days before now, in ISO 8601, for providers that are asked for what is newer than that."""
    from datetime import UTC, datetime, timedelta

    return _utc(datetime.now(UTC).replace(microsecond=0) - timedelta(days=days))


def _from_text(text: str) -> str:
    from datetime import UTC, datetime

    if _ISO.fullmatch(text):
        return _written(text)
    if found := _WRITTEN.fullmatch(text) or _WRITTEN_DAY_FIRST.fullmatch(text):
        month = _MONTHS.index(found["month"].lower()) + 1
        return datetime(int(found["year"]), month, int(found["day"]), tzinfo=UTC).date().isoformat()
    if found := _AGE.fullmatch(text):
        number = found["number"].lower()
        return _date_of_age(1 if number in ("a", "an") else int(number), found["unit"].lower())
    if "," in text and ":" in text:
        from email.utils import parsedate_to_datetime

        return _written(parsedate_to_datetime(text).isoformat())
    return ""


def _date_of_age(number: int, unit: str) -> str:
    """When something was that is so old: a day, a month or a year, as exact as the unit."""
    from datetime import UTC, datetime, timedelta

    now = datetime.now(UTC)
    if unit == "year":
        return f"{now.year - number:04}"
    if unit == "month":
        year, month = divmod(now.year * _MONTHS_OF_YEAR + now.month - 1 - number, _MONTHS_OF_YEAR)
        return f"{year:04}-{month + 1:02}"
    day = (now - timedelta(seconds=number * _SECONDS[unit])).date().isoformat()
    return day[: len("2026-01")] if unit == "week" else day


def _written(text: str) -> str:
    """ISO 8601 as this library writes it. Raises ValueError."""
    from datetime import UTC, date, datetime

    if len(text) == len("2026-01-02"):
        return date.fromisoformat(text).isoformat()
    instant = datetime.fromisoformat(text).replace(microsecond=0)
    return instant.isoformat() if instant.tzinfo is None else _utc(instant.astimezone(UTC))


def _from_epoch(seconds: float) -> str:
    from datetime import UTC, datetime

    if not seconds > 0:  # nor no number at all
        return ""
    seconds = seconds / 1000 if seconds >= _MAX_EPOCH_SECONDS else seconds
    return _utc(datetime.fromtimestamp(int(seconds), UTC))


def _utc(instant: datetime) -> str:
    return instant.isoformat().removesuffix("+00:00") + "Z"
