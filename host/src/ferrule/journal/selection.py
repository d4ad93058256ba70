"""Which calls of the journal a question is about."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule.journal.entries import Entry

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}


class Selection(NamedTuple):
    """tools: names, none for all. since: in UTC. caller: stands in the agent, the client or the way, in any case."""

    tools: tuple[str, ...] = ()
    since: datetime | None = None
    caller: str = ""
    failed: bool = False
    denied: bool = False

    def has(self, entry: Entry) -> bool:
        """Whether a call is among those that are asked for."""
        return (
            (not self.tools or entry["tool"] in self.tools)
            and (self.since is None or _time(entry) >= self.since)
            and self.caller.lower() in caller_of(entry).lower()
            and not (self.failed and entry["outcome"] == "ok")
            and not (self.denied and not entry.get("denied"))
        )


def parse_instant(text: str, now: datetime) -> datetime:
    """`2h` before now, or an instant as of ISO 8601, local time where it names no zone. Raises ValueError."""
    span = _SPAN.fullmatch(text.strip())
    if span:
        try:
            return now - timedelta(seconds=float(span[1]) * _SECONDS[span[2]])
        except OverflowError:
            raise ValueError(f"{text!r} is longer ago than there are dates") from None
    try:
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except ValueError:
        raise ValueError(f"{text!r} is neither a span, such as 30m, 2h or 7d, nor a date, such as 2026-05-01") from None


def caller_of(entry: Entry) -> str:
    """Who made a call, in words: `agent-7`, `inspector 0.17.0 (serve)`, `ask`."""
    client = entry.get("client", {})
    named = " ".join(str(client[key]) for key in ("name", "version") if client.get(key))
    who = ", ".join(filter(None, [named, str(entry.get("agent", ""))]))
    return f"{who} ({entry['way']})" if who else entry["way"]


def _time(entry: Entry) -> datetime:
    try:
        found = datetime.fromisoformat(entry["time"])
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
