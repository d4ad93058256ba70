"""How much of a result comes within an answer; what is larger comes as a link. `[serve]` of config.toml, or variables.

    result_bytes  FERRULE_SERVE_RESULT_BYTES  bytes of JSON or text; 65,534 as of an executable, 8 MiB at most
    media_bytes   FERRULE_SERVE_MEDIA_BYTES   bytes of all images, sound and files of an answer; 524,288

A message of the protocol has each JSON result twice, and bytes in base64. Clients end a connection over a message that
is too long for them; the official one for Python takes 1 MiB over HTTP.

What is no positive number counts as not said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.calls.server_interface import ANSWER_BYTES

if TYPE_CHECKING:
    from ferrule.config import Configuration

DEFAULT_MEDIA_BYTES = 512 << 10
MAX_RESULT_BYTES = 8 << 20


class Limits(NamedTuple):
    """The limits in bytes."""

    result_bytes: int
    media_bytes: int

    @classmethod
    def of(cls, settings: Configuration) -> Limits:
        """The limits that a configuration sets."""
        result = _setting(settings, "result_bytes", "FERRULE_SERVE_RESULT_BYTES") or ANSWER_BYTES
        media = _setting(settings, "media_bytes", "FERRULE_SERVE_MEDIA_BYTES") or DEFAULT_MEDIA_BYTES
        return cls(min(result, MAX_RESULT_BYTES), media)


def result_bytes(settings: Configuration) -> int:
    """The limit of a result, for the call that makes it."""
    return Limits.of(settings).result_bytes


def _setting(settings: Configuration, key: str, variable: str) -> int:
    table = settings.content.get("serve", {})
    setting = settings.environ.get(variable, "").strip() or (table.get(key) if isinstance(table, dict) else None)
    try:
        number = 0 if isinstance(setting, bool) or setting is None else int(setting)
    except (TypeError, ValueError, OverflowError):
        return 0
    return max(number, 0)
