"""What the admin decides about artifacts, in `[wrappers.artifacts]` of config.toml or in the environment, which wins.

    threshold  FERRULE_ARTIFACTS_THRESHOLD  bytes of compact JSON from which a result is linked; 24,576
    seconds    FERRULE_ARTIFACTS_SECONDS    how long an artifact stays; 1,800, a day at the most
    total      FERRULE_ARTIFACTS_TOTAL      bytes that all artifacts on this machine may take; 268,435,456
    redis      FERRULE_REDIS                URL of the Redis that keeps them instead

What is no positive number counts as not said.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ferrule.config.configuration import Configuration

WRAPPER = "artifacts"
THRESHOLD = 24 * 1024
SECONDS = 30 * 60
LONGEST = 24 * 60 * 60
TOTAL = 256 << 20


class Settings:
    """threshold, total: bytes. seconds: of an artifact's life. redis: a URL, empty where files are used."""

    __slots__ = ("redis", "seconds", "threshold", "total")

    def __init__(self, setting: Callable[[str, str], Any]) -> None:
        """setting: gives what was decided under a key of the table and in a variable, None where nothing was."""
        self.threshold = _number(setting("threshold", "FERRULE_ARTIFACTS_THRESHOLD"), THRESHOLD)
        self.seconds = min(_number(setting("seconds", "FERRULE_ARTIFACTS_SECONDS"), SECONDS), LONGEST)
        self.total = _number(setting("total", "FERRULE_ARTIFACTS_TOTAL"), TOTAL)
        redis = setting("redis", "FERRULE_REDIS")
        self.redis = redis if isinstance(redis, str) else ""

    @classmethod
    def of(cls, configuration: Configuration) -> Settings:
        """The settings where no context of a wrapped call is at hand."""
        tables = configuration.content.get("wrappers")
        table = tables.get(WRAPPER) if isinstance(tables, dict) else None
        found = table if isinstance(table, dict) else {}
        return cls(lambda key, variable: configuration.environ.get(variable, "").strip() or found.get(key))


def _number(setting: object, otherwise: int) -> int:
    try:
        number = 0 if isinstance(setting, bool) else int(setting)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return number if number > 0 else otherwise
