"""OpenAI: the Responses API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ferrule_ask.keys import OPENAI as OPENAI_KEY
from ferrule_ask.models import dialogue as turns
from ferrule_ask.models import json_text
from ferrule_ask.models.dialogue import Citation, MessageUnreadable, Reply, ToolUse
from ferrule_ask.models.json_text import get_object, get_text, list_objects
from ferrule_ask.models.openai import common
from ferrule_ask.models.openai.streams import RESPONSE_STREAMING

if TYPE_CHECKING:
    from ferrule import Credential
    from ferrule.schema.providers import ProviderFormat
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.models.batch_api import BatchAPI
    from ferrule_ask.models.dialogue import Dialogue, Exchange, Response, ServerError
    from ferrule_ask.models.provider import RequestSettings, Streaming
    from ferrule_ask.pace.stated_limits import StatedLimit

_REASONS = {"max_output_tokens": turns.MAX_TOKENS, "content_filter": turns.REFUSAL}


class OpenAIResponses:
    """See `Provider`."""

    name = "openai"
    api = "a Responses API"
    base_url = "https://api.openai.com/v1"
    base_url_variable = "OPENAI_BASE_URL"
    key: Credential | None = OPENAI_KEY
    token_variable = ""
    streaming: Streaming | None = RESPONSE_STREAMING

    @property
    def batches(self) -> BatchAPI:
        """The Batch API."""
        from ferrule_ask.models.openai.batches import OpenAIBatches

        return OpenAIBatches("/responses")

    def form(self) -> ProviderFormat:
        """See `Provider`."""
        from ferrule.schema.providers import openai_responses

        return openai_responses

    def url(self, settings: RequestSettings) -> str:
        """See `Provider`."""
        return settings.base_url.rstrip("/") + "/responses"

    def headers(self, settings: RequestSettings, key: str) -> Mapping[str, str]:
        """See `Provider`."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def request(self, dialogue: Dialogue, settings: RequestSettings) -> JSONObject:
        """See `Provider`. Nothing is stored at the provider, so what the model has thought goes back with each turn."""
        request: JSONObject = {
            "model": settings.model,
            "max_output_tokens": settings.max_tokens,
            "input": [{"role": "user", "content": dialogue.text}],
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        if dialogue.system:
            request["instructions"] = dialogue.system
        if settings.schema is not None:
            request["text"] = {"format": {"type": "json_schema", **common.answer_format(settings.schema)}}
        request |= common.offer_tools(self.form(), dialogue)
        for exchange in dialogue.exchanges:
            request["input"] += _items(exchange)
        return request

    def read(self, response: Response) -> Reply:
        """See `Provider`."""
        document = json_text.decode_object(response.body)
        output = document.get("output")
        if not isinstance(output, list):
            raise MessageUnreadable("is JSON without `output`")
        parts = [part for item in list_objects(output, "message") for part in list_objects(item.get("content"))]
        texts = [part for part in parts if part.get("type") == "output_text"]
        refusal = next((get_text(part, "refusal") for part in parts if part.get("type") == "refusal"), None)
        uses = tuple(map(_tool_use, list_objects(output, "function_call")))
        return Reply(
            output,
            "".join(get_text(part, "text") or "" for part in texts),
            uses,
            turns.REFUSAL if refusal else _stop_reason(document, has_calls=bool(uses)),
            refusal,
            get_text(document, "model") or "",
            common.read_usage(document, "input_tokens", "output_tokens"),
            response.headers.get("x-request-id") or get_text(document, "id"),
            tuple(citation for part in texts for citation in _citations(part)),
        )

    def error(self, response: Response, document: JSONMapping) -> ServerError:
        """See `Provider`."""
        return common.read_error(response, document)

    def limits(self, headers: Mapping[str, str]) -> Iterator[StatedLimit]:
        """See `Provider`."""
        return common.read_limits(headers)


def _stop_reason(document: JSONMapping, *, has_calls: bool) -> str | None:
    """Raises MessageUnreadable where the response has failed."""
    status = get_text(document, "status")
    if status == "failed":
        said = get_text(get_object(document, "error"), "message") or "without a reason"
        raise MessageUnreadable(f"is a response that has failed: {said}")
    if status == "incomplete":
        reason = get_text(get_object(document, "incomplete_details"), "reason") or ""
        return _REASONS.get(reason, reason or status)
    return turns.TOOL_USE if has_calls else turns.END


def _items(exchange: Exchange) -> list[object]:
    results = [
        {"type": "function_call_output", "call_id": use.id, "output": text} for use, text, *_ in exchange.results
    ]
    return [*exchange.reply.content, *results]


def _tool_use(item: JSONMapping) -> ToolUse:
    identity, name = get_text(item, "call_id"), get_text(item, "name")
    if identity is None or name is None:
        raise MessageUnreadable("calls a tool without an id or a name")
    return ToolUse(identity, name, json_text.decode_arguments(item.get("arguments")))


def _citations(part: JSONMapping) -> Iterator[Citation]:
    for one in list_objects(part.get("annotations"), "url_citation"):
        if url := get_text(one, "url"):
            yield Citation(url, get_text(one, "title") or "")


OPENAI = OpenAIResponses()
