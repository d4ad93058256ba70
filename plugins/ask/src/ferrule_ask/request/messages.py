"""The two requests of a question, and what a response says. Pure; nothing is sent from here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask import typed_answers
from ferrule_ask.cost.prices import Tokens

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.settings import Settings
    from ferrule_ask.tools.protocols import ToolOffer

LIMIT_REACHED = "Tool call limit reached. Please answer with what you have."
_MAX_TOKENS = 1 << 40
_CUT_SHORT = frozenset({"max_tokens", "refusal", "model_context_window_exceeded"})


class Response(NamedTuple):
    """A whole response. headers: a mapping in which letter case does not matter."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class MessageUnreadable(Exception):
    """A response is no message. Its only argument says in what way."""


class ToolUse(NamedTuple):
    """A call of a tool by the model. input: an object, or any other JSON that it wrote; no lone surrogates."""

    id: str
    name: str
    input: object


class Reply(NamedTuple):
    """One message of the model. content: as it came. usage: None where the server did not report it."""

    content: list[object]
    text: str
    tool_uses: tuple[ToolUse, ...]
    stop_reason: str | None
    refusal: str | None
    model: str
    usage: Tokens | None
    request_id: str | None

    @property
    def wants_tool(self) -> bool:
        """Whether it calls a tool; what was cut short may have cut the call's arguments, too."""
        return bool(self.tool_uses) and self.stop_reason not in _CUT_SHORT


def question(context: str | None, prompt: str) -> str:
    """The text of the user's message."""
    return f"Context: {context}\n\nQuestion: {prompt}" if context else prompt


def first_request(settings: Settings, text: str, offers: Sequence[ToolOffer], today: str | None = None) -> JSONObject:
    """The body of the first request. The model may call at most one of the tools.

    Args:
        today: the date, which the model is told; None for what makes two questions equal on all days.
    """
    request: JSONObject = {
        "model": settings.model,
        "max_tokens": settings.max_tokens,
        "messages": [{"role": "user", "content": text}],
    }
    system = [settings.system, f"Today is {today}." if today else ""]
    if any(system):
        request["system"] = "\n\n".join(filter(None, system))
    if settings.schema is not None:
        request["output_config"] = typed_answers.output_format(settings.schema)
    if offers:
        request["tools"] = [_tool(offer.schema) for offer in offers]
        request["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
    return request


def second_request(first: JSONMapping, reply: Reply, results: Sequence[JSONObject]) -> JSONObject:
    """The body of the second request: the model's message as it came, and a result for every tool use in it.

    The tools are sent again, since the API may refuse a conversation about tools without them; none may be called.
    """
    turn = [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]
    return {**first, "messages": [*first["messages"], *turn], "tool_choice": {"type": "none"}}


def tool_results(reply: Reply, chosen: ToolUse, content: str, *, is_error: bool) -> list[JSONObject]:
    """One result for each id among the tool uses: the chosen one's, and for all others that no more may be called."""
    results = {use.id: _result(use.id, LIMIT_REACHED, is_error=True) for use in reply.tool_uses}
    results[chosen.id] = _result(chosen.id, content, is_error=is_error)
    return list(results.values())


def encode(request: JSONMapping) -> bytes:
    """A request as JSON in UTF-8. A lone surrogate, which UTF-8 does not have, is escaped."""
    try:
        return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(request, separators=(",", ":")).encode()


def decode(body: bytes) -> object:
    """JSON that can be sent back as it is. Raises MessageUnreadable."""
    try:
        document: object = json.loads(body.decode(), parse_constant=_no_number, parse_float=_finite)
        return document
    except UnicodeDecodeError:
        raise MessageUnreadable("is not text in UTF-8") from None
    except RecursionError:
        raise MessageUnreadable("is nested too deeply") from None
    except ValueError:
        raise MessageUnreadable("is not JSON") from None


def read(body: bytes, request_id: str | None) -> Reply:
    """The message in a response. Raises MessageUnreadable."""
    document = decode(body)
    if not isinstance(document, dict):
        raise MessageUnreadable("is JSON, but no object")
    content = document.get("content")
    if not isinstance(content, list):
        raise MessageUnreadable("is JSON without `content`")
    stop_reason = _text_or_none(document.get("stop_reason"))
    return Reply(
        content,
        "".join(_clean(block["text"]) for block in _blocks(content, "text") if isinstance(block.get("text"), str)),
        tuple(_tool_use(block) for block in _blocks(content, "tool_use")),
        stop_reason,
        _refusal(document.get("stop_details")) if stop_reason == "refusal" else None,
        _text_or_none(document.get("model")) or "",
        _usage(document.get("usage")),
        request_id or _text_or_none(document.get("request_id")),
    )


def _tool(schema: JSONMapping) -> JSONObject:
    return {"name": schema["name"], "description": schema["description"], "input_schema": schema["parameters"]}


def _result(identity: str, content: str, *, is_error: bool) -> JSONObject:
    result: JSONObject = {"type": "tool_result", "tool_use_id": identity, "content": content}
    return {**result, "is_error": True} if is_error else result


def _blocks(content: list[object], kind: str) -> list[JSONObject]:
    return [block for block in content if isinstance(block, dict) and block.get("type") == kind]


def _tool_use(block: JSONMapping) -> ToolUse:
    identity, name = block.get("id"), block.get("name")
    if not isinstance(identity, str) or not identity or not isinstance(name, str):
        raise MessageUnreadable("calls a tool without an id or a name")
    return ToolUse(identity, _clean(name), _clean_json(block.get("input")))


def _usage(usage: object) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    numbers = [_tokens(usage.get(name)) for name in names]
    if numbers[0] is None or numbers[3] is None:
        return None
    return Tokens(*(number or 0 for number in numbers))


def _tokens(value: object) -> int | None:
    """A number of tokens; None for what can be none."""
    return value if type(value) is int and 0 <= value <= _MAX_TOKENS else None


def _refusal(details: object) -> str | None:
    if not isinstance(details, dict):
        return None
    return _text_or_none(details.get("explanation")) or _text_or_none(details.get("category"))


def _text_or_none(value: object) -> str | None:
    return _clean(value) if isinstance(value, str) and value else None


def _clean(text: str) -> str:
    """Without lone surrogates, which neither a file nor a database takes."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _clean_json(value: object) -> object:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:  # writing may bear less than reading, and this has to be sent back
        raise MessageUnreadable("is nested too deeply") from None
    clean = _clean(text)
    return value if clean == text else json.loads(clean)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def _no_number(text: str) -> float:
    raise ValueError(text)
