"""How much of a result comes within an answer; what is larger comes as a link. `[serve]` of config.toml, or variables.

    result_bytes  FERRULE_SERVE_RESULT_BYTES  bytes of JSON or text; 65,534 as of an executable, 8 MiB at most
    media_bytes   FERRULE_SERVE_MEDIA_BYTES   bytes of all images, sound and files of an answer; 524,288

A message of the protocol has each JSON result twice, and bytes in base64. Clients end a connection over a message that
is too long for them; the official one for Python takes 1 MiB over HTTP.

What is no positive number counts as not said, and the server says so when it starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.calls.server_interface import ANSWER_BYTES

if TYPE_CHECKING:
    from ferrule.config import Configuration

DEFAULT_MEDIA_BYTES = 512 << 10
MAX_RESULT_BYTES = 8 << 20
_RESULT = "result_bytes", "FERRULE_SERVE_RESULT_BYTES"
_MEDIA = "media_bytes", "FERRULE_SERVE_MEDIA_BYTES"


class Limits(NamedTuple):
    """The limits in bytes."""

    result_bytes: int
    media_bytes: int

    @classmethod
    def of(cls, settings: Configuration) -> Limits:
        """The limits that a configuration sets."""
        result = _setting(settings, *_RESULT) or ANSWER_BYTES
        media = _setting(settings, *_MEDIA) or DEFAULT_MEDIA_BYTES
        return cls(min(result, MAX_RESULT_BYTES), media)


def result_bytes(settings: Configuration) -> int:
    """The limit of a result, for the call that makes it."""
    return Limits.of(settings).result_bytes


def problems(settings: Configuration) -> list[str]:
    """What is said of limits and counts as not said, each as a sentence."""
    found = []
    for key, variable in (_RESULT, _MEDIA):
        said = _said(settings, key, variable)
        if said is not None and not _setting(settings, key, variable):
            default = getattr(Limits.of(settings), key)
            found.append(f"`{key}` of [serve], or {variable}, is no number of bytes, so it is {default:,}.")
    return found


def _said(settings: Configuration, key: str, variable: str) -> object:
    table = settings.content.get("serve", {})
    return settings.environ.get(variable, "").strip() or (table.get(key) if isinstance(table, dict) else None)


def _setting(settings: Configuration, key: str, variable: str) -> int:
    setting = _said(settings, key, variable)
    if isinstance(setting, bool) or not isinstance(setting, str | int | float):
        return 0
    try:
        number = int(setting)
    except (ValueError, OverflowError):
        return 0
    return max(number, 0)
