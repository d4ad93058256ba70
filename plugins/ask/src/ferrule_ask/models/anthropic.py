"""Anthropic: the Messages API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ferrule.http import parse_unsigned
from ferrule_ask import typed_answers
from ferrule_ask.cost.prices import Tokens
from ferrule_ask.keys import ANTHROPIC as KEY
from ferrule_ask.models import json_text
from ferrule_ask.models.anthropic_stream import MESSAGE_STREAMING
from ferrule_ask.models.dialogue import REFUSAL, Citation, MessageUnreadable, Reply, ServerError, ToolUse
from ferrule_ask.models.json_text import get_text, get_tokens, list_objects
from ferrule_ask.pace.stated_limits import StatedLimit

if TYPE_CHECKING:
    from ferrule import Credential
    from ferrule.schema.providers import ProviderFormat
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.models.batch_api import BatchAPI
    from ferrule_ask.models.dialogue import Dialogue, Exchange, Response
    from ferrule_ask.models.provider import RequestSettings, Streaming
    from ferrule_ask.tools.protocols import Passage, ToolOffer

_PATH = "v1/messages"
_LIMITS = "anthropic-ratelimit-"
_BILLING_PHRASES = ("credit balance", "spend limit", "usage limits", "spending limit")
_CONTEXT_PHRASES = ("prompt is too long", "context window", "context limit")


class Anthropic:
    """See `Provider`."""

    name = "anthropic"
    api = "a Messages API"
    base_url = "https://api.anthropic.com"
    base_url_variable = "ANTHROPIC_BASE_URL"
    key: Credential | None = KEY
    token_variable = "ANTHROPIC_AUTH_TOKEN"  # noqa: S105 - a name
    streaming: Streaming | None = MESSAGE_STREAMING

    @property
    def batches(self) -> BatchAPI:
        """Message Batches."""
        from ferrule_ask.models.anthropic_batches import BATCHES

        return BATCHES

    def form(self) -> ProviderFormat:
        """See `Provider`."""
        from ferrule.schema.providers import anthropic

        return anthropic

    def url(self, settings: RequestSettings) -> str:
        """The address of the Messages API. A path of the base URL stays, with or without a slash at its end."""
        return settings.base_url + ("" if settings.base_url.endswith("/") else "/") + _PATH

    def headers(self, settings: RequestSettings, key: str) -> Mapping[str, str]:
        """See `Provider`."""
        return {"authorization": f"Bearer {key}", "anthropic-version": settings.api_version}

    def request(self, dialogue: Dialogue, settings: RequestSettings) -> JSONObject:
        """See `Provider`.

        The tools are sent in every request, since the API may refuse a conversation about tools without them.
        """
        request: JSONObject = {
            "model": settings.model,
            "max_tokens": settings.max_tokens,
            "messages": [{"role": "user", "content": dialogue.text}],
        }
        if dialogue.system:
            request["system"] = dialogue.system
        if settings.schema is not None:
            request["output_config"] = typed_answers.output_format(settings.schema)
        if dialogue.offers:
            request["tools"] = [_tool(offer) for offer in dialogue.offers]
            auto = {"type": "auto", "disable_parallel_tool_use": True}
            request["tool_choice"] = auto if dialogue.may_call else {"type": "none"}
        for exchange in dialogue.exchanges:
            # Where an answer has a schema, the API refuses citations.
            request["messages"] += _turns(exchange, cites=settings.cites and settings.schema is None)
        return request

    def read(self, response: Response) -> Reply:
        """See `Provider`."""
        document = json_text.decode_object(response.body)
        content = document.get("content")
        if not isinstance(content, list):
            raise MessageUnreadable("is JSON without `content`")
        stop_reason = get_text(document, "stop_reason")
        texts = [block for block in list_objects(content, "text") if isinstance(block.get("text"), str)]
        return Reply(
            content,
            "".join(json_text.clean(block["text"]) for block in texts),
            tuple(_tool_use(block) for block in list_objects(content, "tool_use")),
            stop_reason,
            _refusal(document.get("stop_details")) if stop_reason == REFUSAL else None,
            get_text(document, "model") or "",
            _usage(document.get("usage")),
            response.headers.get("request-id") or get_text(document, "request_id"),
            tuple(citation for block in texts for citation in _citations(block)),
        )

    def error(self, response: Response, document: JSONMapping) -> ServerError:
        """See `Provider`."""
        error = document.get("error")
        if not isinstance(error, dict):
            error = {"message": error if isinstance(error, str) else ""}
        kind, said = (str(error.get(name) or "") for name in ("type", "message"))
        request_id = response.headers.get("request-id") or get_text(document, "request_id")
        return ServerError(kind, said, _code(response.status, kind, said.lower()), request_id)

    def limits(self, headers: Mapping[str, str]) -> Iterator[StatedLimit]:
        """See `Provider`.

        >>> headers = {"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "7"}
        >>> list(Anthropic().limits(headers))
        [StatedLimit(name='requests', limit=50.0, left=7.0)]
        """
        for name in ("requests", "tokens", "input-tokens", "output-tokens"):
            limit = parse_unsigned(headers.get(f"{_LIMITS}{name}-limit", ""))
            left = parse_unsigned(headers.get(f"{_LIMITS}{name}-remaining", ""))
            if limit and left is not None:
                yield StatedLimit(name, float(limit), float(left))


def _tool(offer: ToolOffer) -> JSONObject:
    schema = offer.schema
    return {"name": schema["name"], "description": schema["description"], "input_schema": schema["parameters"]}


def _turns(exchange: Exchange, *, cites: bool) -> list[JSONObject]:
    """The model's message as it came, and the user's with the results."""
    results: list[JSONObject] = []
    for use, text, is_error, passages in exchange.results:
        content = [_passage(one) for one in passages] if passages and cites and not is_error else text
        result: JSONObject = {"type": "tool_result", "tool_use_id": use.id, "content": content}
        results.append({**result, "is_error": True} if is_error else result)
    return [{"role": "assistant", "content": exchange.reply.content}, {"role": "user", "content": results}]


def _passage(one: Passage) -> JSONObject:
    """A block that can be cited, with what the API refuses to have empty; all of a request are so, or none."""
    text: JSONObject = {"type": "text", "text": one.text if one.text.strip() else one.title or one.url}
    if not one.url:
        return text
    block: JSONObject = {"type": "search_result", "source": one.url, "title": one.title or one.url}
    return {**block, "content": [text], "citations": {"enabled": True}}


def _tool_use(block: JSONMapping) -> ToolUse:
    identity, name = block.get("id"), block.get("name")
    if not isinstance(identity, str) or not identity or not isinstance(name, str):
        raise MessageUnreadable("calls a tool without an id or a name")
    return ToolUse(identity, json_text.clean(name), json_text.clean_json(block.get("input")))


def _usage(usage: object) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    numbers = [get_tokens(usage, name) for name in names]
    if numbers[0] is None or numbers[3] is None:
        return None
    return Tokens(*(number or 0 for number in numbers))


def _refusal(details: object) -> str | None:
    if not isinstance(details, dict):
        return None
    return get_text(details, "explanation") or get_text(details, "category")


def _citations(block: JSONMapping) -> Iterator[Citation]:
    for one in list_objects(block.get("citations")):
        url = get_text(one, "url") or get_text(one, "source")
        if url:
            yield Citation(url, get_text(one, "title") or "")


def _code(status: int, kind: str, said: str) -> str:
    if status in (400, 429) and any(words in said for words in _BILLING_PHRASES):
        return "BILLING"
    if status in (400, 413) and any(words in said for words in _CONTEXT_PHRASES):
        return "CONTEXT_WINDOW"
    if status == 404 and kind == "not_found_error" and "model" in said:
        return "MODEL_NOT_FOUND"
    return ""


ANTHROPIC = Anthropic()
