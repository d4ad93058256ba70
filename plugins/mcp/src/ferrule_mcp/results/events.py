"""What a server says while it works, as events of the call, bounded: the host ends a call that says too much."""

from __future__ import annotations

from ferrule_mcp.stdio.lines import fit_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferrule.text.json_types import JSONObject

    Send = Callable[[Mapping[str, object]], None]

_MAX_EVENTS = 500
_MAX_CHARS = 2_000  # of one event
_MAX_FIRST_LINE_CHARS = 200
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_SIGNS = ("error:", "error -", "error executing", "error ", "failed to ", "exception:", "traceback (most recent")
_LONGEST_ERROR_CHARS = 2_000


class EventRelay:
    """Hands on what a server says during one call. send: `Context.event`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._count = 0

    def report_progress(self, params: JSONObject) -> None:
        """Hand on the `params` of `notifications/progress`."""
        progress, total, message = (params.get(key) for key in ("progress", "total", "message"))
        if not _is_number(progress):
            return
        event: JSONObject = {"event": "progress", "progress": progress}
        if _is_number(total):
            event["total"] = total
        if isinstance(message, str):
            event["message"] = fit_text(message, _MAX_CHARS)
        self._put(event)

    def report_log(self, params: JSONObject) -> None:
        """Hand on those of `notifications/message`."""
        level, logger = params.get("level"), params.get("logger")
        event: JSONObject = {"event": "log", "level": level if level in _LEVELS else "info"}
        if isinstance(logger, str):
            event["logger"] = fit_text(logger, _MAX_CHARS)
        event["data"] = _shorten(params.get("data"))
        self._put(event)

    def report_declined(self, declined: Sequence[str]) -> None:
        """Say what the server asked for and was not given."""
        for what in declined:
            self._put({"event": "declined", "level": "warning", "content": f"The server asked for {what}: declined."})

    def report_garbage(self, count: int, lines: Sequence[str]) -> None:
        """Say that the server wrote to stdout what was no message."""
        if count:
            content = f"The server wrote {count:,} lines to stdout that are no messages: {lines[0]}"
            self._put({"event": "not_a_message", "level": "warning", "content": content})

    def report_doubt(self, result: object) -> None:
        """Say where a success reads like an error. It stays a success: what a tool reads may begin in that way, too."""
        if isinstance(result, str) and reads_like_error(result):
            first = fit_text(result.strip().split("\n", 1)[0], _MAX_FIRST_LINE_CHARS)
            content = f"The server calls this a success, and it reads like an error: {first}"
            self._put({"event": "reads_like_error", "level": "warning", "content": content})

    def _put(self, event: JSONObject) -> None:
        self._count += 1
        if self._count < _MAX_EVENTS:
            self._send(event)
        elif self._count == _MAX_EVENTS:
            self._send({"event": "events_left_out", "content": f"The server said more than {_MAX_EVENTS} things."})


def reads_like_error(text: str) -> bool:
    """Whether a text says by how it begins that something failed."""
    return len(text) <= _LONGEST_ERROR_CHARS and text.lstrip().lower().startswith(_SIGNS)


def _shorten(data: object) -> object:
    """What a log message says, as it is where it is short."""
    from ferrule.text import strict_json

    text = data if isinstance(data, str) else strict_json.dumps(data).decode()
    return data if len(text) <= _MAX_CHARS else fit_text(text, _MAX_CHARS)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
