"""Gemini: the events of an answer that comes in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_ask.models import json_text
from ferrule_ask.models.dialogue import ErrorEvent
from ferrule_ask.models.json_text import get_object, get_text, list_objects

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_WHOLE, _IN_PIECES = ":generateContent", ":streamGenerateContent?alt=sse"
_OTHER_STATUS = 500
_TEXT_ALONE = ({"text"}, {"text", "thought"})


class ContentStreaming:
    """See `Streaming`."""

    def url(self, url: str) -> str:
        """See `Streaming`."""
        path, _, query = url.partition("?")
        return path.removesuffix(_WHOLE) + _IN_PIECES + (f"&{query}" if query else "")

    def request(self, request: JSONObject) -> JSONObject:
        """See `Streaming`."""
        return request

    def assembly(self) -> ContentAssembly:
        """See `Streaming`."""
        return ContentAssembly()


class ContentAssembly:
    """See `Assembly`. Each piece is a response, with some of the parts of the first candidate."""

    def __init__(self) -> None:
        self._document: JSONObject = {}
        self._candidate: JSONObject = {}
        self._parts: list[JSONObject] = []

    def take(self, data: str) -> str:
        """See `Assembly`."""
        event = json_text.decode_event(data)
        error = get_object(event, "error")
        if error:
            code = error.get("code")
            raise ErrorEvent(code if type(code) is int and 400 <= code < 600 else _OTHER_STATUS, event)
        self._document |= {name: value for name, value in event.items() if name != "candidates"}
        candidate = next(iter(list_objects(event.get("candidates"))), {})
        self._candidate |= {name: value for name, value in candidate.items() if name != "content"}
        parts = list_objects(get_object(candidate, "content").get("parts"))
        for part in parts:
            self._add(part)
        return "".join(get_text(part, "text") or "" for part in parts if not part.get("thought"))

    def document(self) -> JSONObject | None:
        """See `Assembly`."""
        if "finishReason" in self._candidate:
            content = {"role": "model", "parts": self._parts}
            return {**self._document, "candidates": [{**self._candidate, "content": content}]}
        return self._document if get_object(self._document, "promptFeedback").get("blockReason") else None

    def _add(self, part: JSONObject) -> None:
        """Add a part; a text that goes on makes none of its own."""
        last = self._parts[-1] if self._parts else {}
        is_more = set(part) in _TEXT_ALONE and set(last) == set(part) and last.get("thought") == part.get("thought")
        if is_more and isinstance(last.get("text"), str) and isinstance(part["text"], str):
            last["text"] += part["text"]
        else:
            self._parts.append(dict(part))


CONTENT_STREAMING = ContentStreaming()
