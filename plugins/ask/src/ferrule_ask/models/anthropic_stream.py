"""Anthropic: the events of a message that comes in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_ask.models import json_text
from ferrule_ask.models.anthropic_errors import STATUSES
from ferrule_ask.models.dialogue import ErrorEvent
from ferrule_ask.models.json_text import get_index, get_object, get_text

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

_OTHER_STATUS = 500
_JSON = "partial_json"
# Of the kinds of deltas: where the text of each stands, in the delta and in the block that it belongs to.
_DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": _JSON,
}


class MessageStreaming:
    """See `Streaming`."""

    def url(self, url: str) -> str:
        """See `Streaming`."""
        return url

    def request(self, request: JSONObject) -> JSONObject:
        """See `Streaming`."""
        return {**request, "stream": True}

    def assembly(self) -> MessageAssembly:
        """See `Streaming`."""
        return MessageAssembly()


class MessageAssembly:
    """See `Assembly`."""

    def __init__(self) -> None:
        self._message: JSONObject = {}
        self._blocks: dict[int, JSONObject] = {}
        self._texts: dict[tuple[int, str], list[str]] = {}
        self._is_whole = False

    def take(self, data: str) -> str:
        """See `Assembly`. An event of an unknown kind is passed over, as the API wants it."""
        event = json_text.decode_event(data)
        kind = event.get("type")
        if kind == "error":
            raise ErrorEvent(STATUSES.get(str(get_object(event, "error").get("type")), _OTHER_STATUS), event)
        if kind == "content_block_delta":
            return self._add(get_index(event), get_object(event, "delta"))
        if kind == "message_start":
            self._message = get_object(event, "message")
        elif kind == "content_block_start":
            self._blocks[get_index(event)] = get_object(event, "content_block")
        elif kind == "message_delta":
            self._message |= get_object(event, "delta")
            self._message["usage"] = {**get_object(self._message, "usage"), **get_object(event, "usage")}
        elif kind == "message_stop":
            self._is_whole = True
        return ""

    def document(self) -> JSONObject | None:
        """See `Assembly`."""
        if not self._is_whole:
            return None
        return {**self._message, "content": [self._block(place) for place in sorted(self._blocks)]}

    def _add(self, place: int, delta: JSONMapping) -> str:
        kind = str(delta.get("type"))
        if kind == "citations_delta":
            block = self._blocks.setdefault(place, {})
            block["citations"] = [*(block.get("citations") or ()), get_object(delta, "citation")]
        elif kind in _DELTAS:
            name = _DELTAS[kind]
            text = get_text(delta, name) or ""
            self._texts.setdefault((place, name), []).append(text)
            return text if kind == "text_delta" else ""
        return ""

    def _block(self, place: int) -> JSONObject:
        block = dict(self._blocks[place])
        for (of, name), texts in self._texts.items():
            if of == place and name == _JSON:
                block["input"] = json_text.decode_arguments("".join(texts))
            elif of == place:
                block[name] = (get_text(block, name) or "") + "".join(texts)
        return block


MESSAGE_STREAMING = MessageStreaming()
