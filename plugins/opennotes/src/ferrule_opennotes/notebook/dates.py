"""Dates as notes have them, and as answers give them: ISO 8601 text."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999


def parse(value: object) -> datetime | None:
    """The instant that a text of ISO 8601 names, as local time where it names no zone; None for anything else."""
    if not isinstance(value, str) or not value[:1].isdigit() or len(value) > 40:
        return None
    text = value.strip()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) < len("2026-01-01") or (found.tzinfo is None and text.isdigit()):
        return None  # a number such as 20260101 is an identifier rather than a date
    try:
        return found if found.tzinfo else found.astimezone()
    except (OverflowError, ValueError, OSError):
        return None


def to_iso(value: object) -> str | None:
    """The text itself, in the form that ISO 8601 asks for; None where it is no date."""
    if parse(value) is None:
        return None
    text = str(value).strip()
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return datetime.fromisoformat(text).isoformat().replace("+00:00", "Z")


def from_timestamp(seconds: float) -> str:
    """Seconds since 1970 as `2026-01-28T14:30:00Z`; the last second there is for what no calendar reaches."""
    moment = min(max(seconds, _FIRST), _LAST)
    return datetime.fromtimestamp(int(moment), UTC).isoformat().replace("+00:00", "Z")


def to_seconds(value: object) -> float | None:
    """Seconds since 1970 of the instant that a text names; None where it names none."""
    found = parse(value)
    return found.timestamp() if found else None


def midnight(day: date, days: int = 0) -> float:
    """Seconds since 1970 when a day begins in local time, or the one that is `days` later.

    The first second there is, or the one after the last, where no calendar goes that far.
    """
    try:
        return datetime.combine(day + timedelta(days=days), time()).astimezone().timestamp()
    except (OverflowError, ValueError, OSError):
        return _LAST + 1 if day.year > 1 else _FIRST
