"""OpenAI: the events of answers that come in pieces, of both APIs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_ask.models import json_text
from ferrule_ask.models.dialogue import ErrorEvent
from ferrule_ask.models.json_text import get_index, get_object, get_text, list_objects

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

_STATUSES = {"rate_limit_exceeded": 429, "insufficient_quota": 429, "invalid_prompt": 400, "invalid_api_key": 401}
_OTHER_STATUS = 500
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_END_OF_CHAT = "[DONE]"


class ResponseStreaming:
    """See `Streaming`."""

    def url(self, url: str) -> str:
        """See `Streaming`."""
        return url

    def request(self, request: JSONObject) -> JSONObject:
        """See `Streaming`."""
        return {**request, "stream": True}

    def assembly(self) -> ResponseAssembly:
        """See `Streaming`."""
        return ResponseAssembly()


class ResponseAssembly:
    """See `Assembly`. The last event has the whole response."""

    def __init__(self) -> None:
        self._document: JSONObject | None = None

    def take(self, data: str) -> str:
        """See `Assembly`."""
        event = json_text.decode_event(data)
        kind = event.get("type")
        if kind == "error":
            raise _failure(event)
        if kind in _ENDS:
            self._document = get_object(event, "response")
        return get_text(event, "delta") or "" if kind == "response.output_text.delta" else ""

    def document(self) -> JSONObject | None:
        """See `Assembly`."""
        return self._document


class ChatStreaming:
    """See `Streaming`."""

    def url(self, url: str) -> str:
        """See `Streaming`."""
        return url

    def request(self, request: JSONObject) -> JSONObject:
        """See `Streaming`. Without its option, the usage would be in no piece."""
        return {**request, "stream": True, "stream_options": {"include_usage": True}}

    def assembly(self) -> ChatAssembly:
        """See `Streaming`."""
        return ChatAssembly()


class _Call:
    """A call of a tool, whose pieces come one after the other. place: its index, or that of the call before it."""

    def __init__(self, place: int) -> None:
        self.place = place
        self._facts: JSONObject = {"type": "function"}
        self._arguments: list[str] = []

    def has(self, piece: JSONMapping) -> bool:
        """Whether a piece is one of this call: at its place, under no other id, and without the name of a next call.

        Some servers send neither index nor id. There a call begins with its name; a server that repeats the name in
        each piece does so before the arguments are whole.
        """
        place, identity, name = _place(piece), get_text(piece, "id"), get_text(get_object(piece, "function"), "name")
        own_id, own_name = get_text(self._facts, "id"), get_text(get_object(self._facts, "function"), "name")
        if place is not None and place != self.place:
            return False
        if identity and own_id:
            return identity == own_id
        return not name or not own_name or (name == own_name and not self._is_whole())

    def add(self, piece: JSONMapping) -> None:
        """Take a piece: the first has the id and the name, each a part of the arguments."""
        function = get_object(piece, "function")
        self._facts |= {name: value for name, value in piece.items() if name not in ("index", "function") and value}
        named = {key: one for key, one in function.items() if one}
        self._facts["function"] = {**get_object(self._facts, "function"), **named}
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # as Ollama's own API has them
            self._arguments.append(json_text.encode(arguments).decode())
        else:
            self._arguments.append(get_text(function, "arguments") or "")

    def document(self) -> JSONObject:
        """The whole call."""
        function = {**get_object(self._facts, "function"), "arguments": "".join(self._arguments)}
        return {**self._facts, "function": function}

    def ends(self, other: _Call) -> bool:
        """Whether this was only the end of another call: the name again, where that was whole, and nothing more."""
        own, facts = self._facts, other._facts
        if "".join(self._arguments) or own.get("id") or self.place != other.place:
            return False
        return (
            get_object(own, "function").get("name") == get_object(facts, "function").get("name") and other._is_whole()
        )

    def _is_whole(self) -> bool:
        text = "".join(self._arguments)
        return bool(text) and isinstance(json_text.decode_arguments(text), dict)


class ChatAssembly:
    """See `Assembly`. Texts of the pieces are joined, and lists as well; calls of tools by their index, id and name."""

    def __init__(self) -> None:
        self._document: JSONObject = {}
        self._others: JSONObject = {"role": "assistant"}
        self._texts: dict[str, list[str]] = {}
        self._calls: list[_Call] = []
        self._finish_reason: str | None = None

    def take(self, data: str) -> str:
        """See `Assembly`."""
        if data.strip() == _END_OF_CHAT:
            return ""
        event = json_text.decode_event(data)
        if event.get("error"):
            raise _failure(event)
        self._document |= {name: value for name, value in event.items() if name != "choices" and value is not None}
        choices = list_objects(event.get("choices"))
        if not choices:
            return ""
        self._finish_reason = get_text(choices[0], "finish_reason") or self._finish_reason
        delta = get_object(choices[0], "delta")
        self._add(delta)
        return get_text(delta, "content") or ""

    def document(self) -> JSONObject | None:
        """See `Assembly`."""
        if self._finish_reason is None:
            return None
        message: JSONObject = {"content": None, **self._others}
        message |= {name: "".join(texts) for name, texts in self._texts.items()}
        calls = [one for number, one in enumerate(self._calls) if not any(map(one.ends, self._calls[:number]))]
        if calls:
            message["tool_calls"] = [one.document() for one in sorted(calls, key=lambda one: one.place)]
        return {**self._document, "choices": [{"message": message, "finish_reason": self._finish_reason}]}

    def _add(self, delta: JSONMapping) -> None:
        for name, value in delta.items():
            if name == "tool_calls":
                for call in list_objects(value):
                    self._add_call(call)
            elif isinstance(value, str) and name != "role":
                self._texts.setdefault(name, []).append(json_text.clean(value))
            elif isinstance(value, list):
                self._others[name] = [*self._others.get(name, ()), *value]

    def _add_call(self, piece: JSONMapping) -> None:
        call = next((one for one in reversed(self._calls) if one.has(piece)), None)
        if call is None or (_is_next(piece) and call is not self._calls[-1]):
            place = _place(piece)
            call = _Call(self._calls[-1].place if place is None and self._calls else place or 0)
            self._calls.append(call)
        call.add(piece)


def _place(piece: JSONMapping) -> int | None:
    return get_index(piece) if type(piece.get("index")) is int else None


def _is_next(piece: JSONMapping) -> bool:
    """Whether only the order says to which call a piece belongs: then it is of the last one, or begins the next."""
    return _place(piece) is None and not get_text(piece, "id")


def _failure(event: JSONMapping) -> ErrorEvent:
    """The error of an event, which has it in `error` or as its own members."""
    facts = get_object(event, "error") or event
    code = facts.get("code")
    status = code if type(code) is int and 400 <= code < 600 else _STATUSES.get(str(code), _OTHER_STATUS)
    return ErrorEvent(status, {"error": {**facts, "code": None} if type(code) is int else facts})


RESPONSE_STREAMING, CHAT_STREAMING = ResponseStreaming(), ChatStreaming()
