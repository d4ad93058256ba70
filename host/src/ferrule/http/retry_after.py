"""When a request that was refused may be sent again."""

from __future__ import annotations

import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a Retry-After header names, as a number or as a date; None where it names none.

    headers: by names in small letters, or a mapping in which letter case does not matter.
    """
    value = headers.get("retry-after", "").strip()
    seconds = parse_unsigned(value)
    if seconds is not None or not value:
        return seconds
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def parse_unsigned(text: str) -> float | None:
    """The number that a header holds, without sign or exponent; None where it holds anything else."""
    text = text.strip()
    return float(text) if len(text) <= 15 and text.isascii() and text.replace(".", "", 1).isdigit() else None
