"""Chat Completions: OpenAI's older API, which most other servers speak, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ferrule_ask import keys
from ferrule_ask.models import dialogue as turns
from ferrule_ask.models import json_text
from ferrule_ask.models.dialogue import Citation, MessageUnreadable, Reply, ToolUse
from ferrule_ask.models.json_text import get_object, get_text, list_objects
from ferrule_ask.models.openai import common
from ferrule_ask.models.openai.streams import CHAT_STREAMING

if TYPE_CHECKING:
    from ferrule import Credential
    from ferrule.schema.providers import ProviderFormat
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.models.batch_api import BatchAPI
    from ferrule_ask.models.dialogue import Dialogue, Exchange, Response, ServerError
    from ferrule_ask.models.provider import RequestSettings, Streaming
    from ferrule_ask.pace.stated_limits import StatedLimit

_STOP_REASONS = {
    "stop": turns.END,
    "length": turns.MAX_TOKENS,
    "tool_calls": turns.TOOL_USE,
    "function_call": turns.TOOL_USE,
    "content_filter": turns.REFUSAL,
}


class OpenAIChat:
    """See `Provider`.

    Args:
        has_batches: whether the server has OpenAI's Batch API, too.
        most: the name of the limit of tokens, which servers of others have as OpenAI had it first.
    """

    api = "a Chat Completions API"
    token_variable = ""
    streaming: Streaming | None = CHAT_STREAMING

    def __init__(
        self,
        name: str,
        base_url: str,
        variable: str,
        key: Credential | None,
        most: str = "max_tokens",
        has_batches: bool = False,
    ) -> None:
        self.name = name
        self.base_url, self.base_url_variable = base_url, variable
        self.key = key
        self._most = most
        self._has_batches = has_batches

    @property
    def batches(self) -> BatchAPI | None:
        """The Batch API, where the server has it."""
        from ferrule_ask.models.openai.batches import OpenAIBatches

        return OpenAIBatches("/chat/completions") if self._has_batches else None

    def form(self) -> ProviderFormat:
        """See `Provider`."""
        from ferrule.schema.providers import openai_chat

        return openai_chat

    def url(self, settings: RequestSettings) -> str:
        """See `Provider`."""
        return settings.base_url.rstrip("/") + "/chat/completions"

    def headers(self, settings: RequestSettings, key: str) -> Mapping[str, str]:
        """See `Provider`."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def request(self, dialogue: Dialogue, settings: RequestSettings) -> JSONObject:
        """See `Provider`."""
        system = [{"role": "system", "content": dialogue.system}] if dialogue.system else []
        request: JSONObject = {
            "model": settings.model,
            self._most: settings.max_tokens,
            "messages": [*system, {"role": "user", "content": dialogue.text}],
        }
        if settings.schema is not None:
            shape = common.answer_format(settings.schema)
            request["response_format"] = {"type": "json_schema", "json_schema": shape}
        request |= common.offer_tools(self.form(), dialogue)
        for exchange in dialogue.exchanges:
            request["messages"] += _turns(exchange)
        return request

    def read(self, response: Response) -> Reply:
        """See `Provider`."""
        document = json_text.decode_object(response.body)
        choices = list_objects(document.get("choices"))
        if not choices:
            raise MessageUnreadable("is JSON without `choices`")
        message = _name_calls(get_object(choices[0], "message"), get_text(document, "id") or "call")
        refusal = get_text(message, "refusal")
        uses = tuple(map(_tool_use, list_objects(message.get("tool_calls"))))
        stop_reason = get_text(choices[0], "finish_reason")
        return Reply(
            [message],
            get_text(message, "content") or "",
            uses,
            turns.REFUSAL if refusal else _stop_reason(stop_reason, has_calls=bool(uses)),
            refusal,
            get_text(document, "model") or "",
            common.read_usage(document, "prompt_tokens", "completion_tokens"),
            response.headers.get("x-request-id") or get_text(document, "id"),
            tuple(_citations(message)),
        )

    def error(self, response: Response, document: JSONMapping) -> ServerError:
        """See `Provider`."""
        return common.read_error(response, document)

    def limits(self, headers: Mapping[str, str]) -> Iterator[StatedLimit]:
        """See `Provider`."""
        return common.read_limits(headers)


def _stop_reason(reason: str | None, *, has_calls: bool) -> str | None:
    """Some servers say that they have stopped where they call a tool."""
    found = _STOP_REASONS.get(reason or "", reason)
    return turns.TOOL_USE if has_calls and found == turns.END else found


def _turns(exchange: Exchange) -> list[JSONObject]:
    results = [{"role": "tool", "tool_call_id": use.id, "content": text} for use, text, *_ in exchange.results]
    return [*(one for one in exchange.reply.content if isinstance(one, dict)), *results]


def _name_calls(message: JSONObject, prefix: str) -> JSONObject:
    """The message with an id for each call: some servers send none, and their results are told apart by it."""
    calls = list_objects(message.get("tool_calls"))
    if all(get_text(call, "id") for call in calls):
        return message
    named = [{**call, "id": get_text(call, "id") or f"{prefix}-{place}"} for place, call in enumerate(calls)]
    return {**message, "tool_calls": named}


def _tool_use(call: JSONMapping) -> ToolUse:
    function = get_object(call, "function")
    name = get_text(function, "name")
    if name is None:
        raise MessageUnreadable("calls a tool without a name")
    return ToolUse(get_text(call, "id") or "", name, json_text.decode_arguments(function.get("arguments")))


def _citations(message: JSONMapping) -> Iterator[Citation]:
    for one in list_objects(message.get("annotations"), "url_citation"):
        facts = get_object(one, "url_citation") or one
        if url := get_text(facts, "url"):
            yield Citation(url, get_text(facts, "title") or "")


OPENAI_CHAT = OpenAIChat(
    "openai-chat",
    "https://api.openai.com/v1",
    "OPENAI_BASE_URL",
    keys.OPENAI,
    "max_completion_tokens",
    has_batches=True,
)
OPENROUTER = OpenAIChat("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_BASE_URL", keys.OPENROUTER)
OLLAMA = OpenAIChat("ollama", "http://127.0.0.1:11434/v1", "OLLAMA_BASE_URL", None)
