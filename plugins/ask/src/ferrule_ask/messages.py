"""The two requests of a question, and what a response says. Pure; nothing is sent from here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule.provider_formats.converters import anthropic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule_ask.protocols import Offer
    from ferrule_ask.settings import Settings

LIMIT_REACHED = "Tool call limit reached. Please answer with what you have."
_MOST_TOKENS = 1 << 40
_CUT_SHORT = frozenset({"max_tokens", "refusal", "model_context_window_exceeded"})


class MessageUnreadable(Exception):
    """A response is no message. Its only argument says in what way."""


class ToolUse(NamedTuple):
    """The model's wish to call a tool. input: an object, or whatever else the model made of it; no lone surrogates."""

    id: str
    name: str
    input: Any


class Usage(NamedTuple):
    """Tokens as a reply reports them."""

    input: int = 0
    cache_writing: int = 0
    cache_reading: int = 0
    output: int = 0

    @property
    def all_input(self) -> int:
        """Those that came out of a cache, or went into it, included."""
        return self.input + self.cache_writing + self.cache_reading


class Reply(NamedTuple):
    """One message of the model. content: as it came. usage: None where the server did not report it."""

    content: list[Any]
    text: str
    tool_uses: tuple[ToolUse, ...]
    stop_reason: str | None
    refusal: str | None
    model: str
    usage: Usage | None
    request_id: str | None

    @property
    def wants_tool(self) -> bool:
        """Whether it calls a tool; what was cut short may have cut the call's arguments, too."""
        return bool(self.tool_uses) and self.stop_reason not in _CUT_SHORT


class ToolAnswer(NamedTuple):
    """What is answered to one tool use."""

    id: str
    content: str
    is_error: bool


def question(context: str | None, prompt: str) -> str:
    """The text of the user's message."""
    return f"Context: {context}\n\nQuestion: {prompt}" if context else prompt


def first_request(settings: Settings, text: str, offers: Sequence[Offer]) -> dict[str, Any]:
    """The body of the first request. The model may call at most one of the tools."""
    request: dict[str, Any] = {
        "model": settings.model,
        "max_tokens": settings.max_tokens,
        "messages": [{"role": "user", "content": text}],
    }
    if offers:
        request["tools"] = [anthropic(dict(offer.schema)) for offer in offers]
        request["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
    return request


def second_request(first: Mapping[str, Any], reply: Reply, answers: Sequence[ToolAnswer]) -> dict[str, Any]:
    """The body of the second request: the model's message as it came, and an answer to every tool use in it.

    The tools are sent again, since the API may refuse a conversation about tools without them; none may be called.
    """
    results = [_result(answer) for answer in answers]
    turn = [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]
    return {**first, "messages": [*first["messages"], *turn], "tool_choice": {"type": "none"}}


def answers_to(reply: Reply, chosen: ToolUse, content: str, *, is_error: bool) -> list[ToolAnswer]:
    """One answer for each id among the tool uses: to the chosen one what came of it, to the others that it was it."""
    answers = {use.id: ToolAnswer(use.id, LIMIT_REACHED, True) for use in reply.tool_uses}
    answers[chosen.id] = ToolAnswer(chosen.id, content, is_error)
    return list(answers.values())


def encode(request: Mapping[str, Any]) -> bytes:
    """A request as JSON in UTF-8. A lone surrogate, which UTF-8 does not have, is escaped."""
    try:
        return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(request, separators=(",", ":")).encode()


def decode(body: bytes) -> Any:
    """JSON that can be sent back as it is. Raises MessageUnreadable."""
    try:
        return json.loads(body.decode(), parse_constant=_no_number, parse_float=_finite)
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


def _result(answer: ToolAnswer) -> dict[str, Any]:
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": answer.id, "content": answer.content}
    return {**result, "is_error": True} if answer.is_error else result


def _blocks(content: list[Any], kind: str) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict) and block.get("type") == kind]


def _tool_use(block: Mapping[str, Any]) -> ToolUse:
    identity, name = block.get("id"), block.get("name")
    if not isinstance(identity, str) or not identity or not isinstance(name, str):
        raise MessageUnreadable("calls a tool without an id or a name")
    return ToolUse(identity, _clean(name), _clean_json(block.get("input")))


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    numbers = [_tokens(usage.get(name)) for name in names]
    if numbers[0] is None or numbers[3] is None:
        return None
    return Usage(*(number or 0 for number in numbers))


def _tokens(value: object) -> int | None:
    """A number of tokens; None for what can be none."""
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def _refusal(details: object) -> str | None:
    if not isinstance(details, dict):
        return None
    return _text_or_none(details.get("explanation")) or _text_or_none(details.get("category"))


def _text_or_none(value: object) -> str | None:
    return _clean(value) if isinstance(value, str) and value else None


def _clean(text: str) -> str:
    """Without lone surrogates, which neither a file nor a database takes."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _clean_json(value: Any) -> Any:
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
