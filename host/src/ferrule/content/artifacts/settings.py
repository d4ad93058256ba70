"""What the admin decides about artifacts, in `[wrappers.artifacts]` of config.toml or in the environment, which wins.

    threshold  FERRULE_ARTIFACTS_THRESHOLD  bytes of compact JSON from which a result is linked; 24,576
    seconds    FERRULE_ARTIFACTS_SECONDS    how long an artifact stays; 1,800, a day at the most
    total      FERRULE_ARTIFACTS_TOTAL      bytes that all artifacts on this machine may take; 268,435,456
    redis      FERRULE_REDIS                URL of the Redis that keeps them instead

What is no positive number counts as not said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration

NAME = "artifacts"
DEFAULT_THRESHOLD_BYTES = 24 * 1024
DEFAULT_SECONDS = 30 * 60
MAX_SECONDS = 24 * 60 * 60
DEFAULT_TOTAL_BYTES = 256 << 20


class Settings:
    """seconds: of an artifact's life. redis: a URL, empty where files are used."""

    __slots__ = ("redis", "seconds", "threshold_bytes", "total_bytes")

    def __init__(self, setting: Callable[[str, str], object]) -> None:
        """setting: gives what was decided under a key of the table and in a variable, None where nothing was."""
        self.threshold_bytes = _number(setting("threshold", "FERRULE_ARTIFACTS_THRESHOLD"), DEFAULT_THRESHOLD_BYTES)
        self.seconds = min(_number(setting("seconds", "FERRULE_ARTIFACTS_SECONDS"), DEFAULT_SECONDS), MAX_SECONDS)
        self.total_bytes = _number(setting("total", "FERRULE_ARTIFACTS_TOTAL"), DEFAULT_TOTAL_BYTES)
        redis = setting("redis", "FERRULE_REDIS")
        self.redis = redis if isinstance(redis, str) else ""

    @classmethod
    def of(cls, configuration: Configuration) -> Settings:
        """The settings where no context of a wrapped call is at hand."""
        table = configuration.wrapper(NAME)
        return cls(lambda key, variable: configuration.environ.get(variable, "").strip() or table.get(key))


def _number(setting: object, otherwise: int) -> int:
    try:
        number = 0 if isinstance(setting, bool) else int(setting)  # type: ignore[call-overload] # what is no number is caught
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return number if number > 0 else otherwise
