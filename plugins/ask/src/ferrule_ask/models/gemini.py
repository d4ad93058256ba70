"""Google's Gemini: the API generateContent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from ferrule_ask import typed_answers
from ferrule_ask.cost.prices import Tokens
from ferrule_ask.keys import GEMINI as KEY
from ferrule_ask.models import dialogue as turns
from ferrule_ask.models import json_text
from ferrule_ask.models.dialogue import Citation, MessageUnreadable, Reply, ServerError, ToolUse
from ferrule_ask.models.gemini_stream import CONTENT_STREAMING
from ferrule_ask.models.json_text import get_object, get_text, get_tokens, list_objects

if TYPE_CHECKING:
    from ferrule import Credential
    from ferrule.schema.providers import ProviderFormat
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.models.dialogue import Dialogue, Exchange, Response
    from ferrule_ask.models.provider import RequestSettings, Streaming
    from ferrule_ask.pace.stated_limits import StatedLimit

_REFUSED = frozenset({"SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "IMAGE_SAFETY"})
_RETRY, _REASON = "google.rpc.RetryInfo", "google.rpc.ErrorInfo"


class Gemini:
    """See `Provider`."""

    name = "gemini"
    api = "a Gemini API"
    base_url = "https://generativelanguage.googleapis.com"
    base_url_variable = "GOOGLE_GEMINI_BASE_URL"
    key: Credential | None = KEY
    token_variable = ""
    streaming: Streaming | None = CONTENT_STREAMING

    def form(self) -> ProviderFormat:
        """See `Provider`."""
        from ferrule.schema.providers import gemini

        return gemini

    def url(self, settings: RequestSettings) -> str:
        """See `Provider`."""
        return f"{settings.base_url.rstrip('/')}/v1beta/models/{quote(settings.model, safe='')}:generateContent"

    def headers(self, settings: RequestSettings, key: str) -> Mapping[str, str]:
        """See `Provider`."""
        return {"x-goog-api-key": key} if key else {}

    def request(self, dialogue: Dialogue, settings: RequestSettings) -> JSONObject:
        """See `Provider`.

        Models before the third generation take no schema of an answer with tools, so it goes with the request after
        which no calls are to come; until then it stands in the instructions.
        """
        request: JSONObject = {"contents": [{"role": "user", "parts": [{"text": dialogue.text}]}]}
        config: JSONObject = {"maxOutputTokens": settings.max_tokens}
        system = dialogue.system
        can_call = bool(dialogue.offers) and dialogue.may_call
        if settings.schema is not None:
            schema = typed_answers.project_schema(settings.schema)
            if can_call:
                words = f"Answer with JSON alone, which fits this schema: {json_text.encode(schema).decode()}"
                system = "\n\n".join(filter(None, [system, words]))
            else:
                config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
        if system:
            request["systemInstruction"] = {"parts": [{"text": system}]}
        if can_call or (dialogue.offers and settings.schema is None):
            request["tools"] = self.form().tools([offer.schema for offer in dialogue.offers])
            mode = "AUTO" if can_call else "NONE"
            request["toolConfig"] = {"functionCallingConfig": {"mode": mode}}
        for exchange in dialogue.exchanges:
            request["contents"] += _contents(exchange)
        return {**request, "generationConfig": config}

    def read(self, response: Response) -> Reply:
        """See `Provider`."""
        document = json_text.decode_object(response.body)
        candidates = list_objects(document.get("candidates"))
        blocked = get_text(get_object(document, "promptFeedback"), "blockReason")
        if not candidates and not blocked:
            raise MessageUnreadable("is JSON without `candidates`")
        first = candidates[0] if candidates else {}
        content = get_object(first, "content")
        parts = [part for part in list_objects(content.get("parts")) if not part.get("thought")]
        uses = tuple(_tool_uses(parts))
        reason = get_text(first, "finishReason") or ""
        refusal = blocked or (reason if reason in _REFUSED else None)
        return Reply(
            [content] if content else [],
            "".join(get_text(part, "text") or "" for part in parts),
            uses,
            turns.REFUSAL if refusal else _stop_reason(reason, has_calls=bool(uses)),
            refusal,
            get_text(document, "modelVersion") or "",
            _usage(get_object(document, "usageMetadata")),
            get_text(document, "responseId"),
            tuple(_citations(first)),
        )

    def error(self, response: Response, document: JSONMapping) -> ServerError:
        """See `Provider`."""
        error = get_object(document, "error")
        kind, said = get_text(error, "status") or "", get_text(error, "message") or ""
        details = list_objects(error.get("details"))
        reasons = [get_text(one, "reason") for one in details if str(one.get("@type", "")).endswith(_REASON)]
        code = ""
        if "API_KEY_INVALID" in reasons or kind == "UNAUTHENTICATED":
            code = "AUTH_INVALID"
        elif response.status == 404:
            code = "MODEL_NOT_FOUND"
        elif response.status == 400 and "token count" in said:
            code = "CONTEXT_WINDOW"
        return ServerError(kind, said, code, None, _wait(details))

    def limits(self, headers: Mapping[str, str]) -> Iterator[StatedLimit]:
        """See `Provider`. No header names one."""
        return iter(())


def _contents(exchange: Exchange) -> list[object]:
    """The model's content as it came, and the results. What has no id is known by its name and place."""
    parts = []
    for use, text, is_error, _ in exchange.results:
        answer: JSONObject = {"name": use.name, "response": {"error" if is_error else "output": text}}
        is_named = not use.id.startswith(_OWN_ID)
        parts.append({"functionResponse": {"id": use.id, **answer} if is_named else answer})
    return [*exchange.reply.content, {"role": "user", "parts": parts}]


_OWN_ID = "call-"  # of a call to which the provider has given none


def _tool_uses(parts: list[JSONObject]) -> Iterator[ToolUse]:
    calls = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
    for number, call in enumerate(calls):
        name = get_text(call, "name")
        if name is None:
            raise MessageUnreadable("calls a tool without a name")
        yield ToolUse(get_text(call, "id") or f"{_OWN_ID}{number}", name, json_text.clean_json(call.get("args") or {}))


def _stop_reason(reason: str, *, has_calls: bool) -> str | None:
    if reason == "MAX_TOKENS":
        return turns.MAX_TOKENS
    return turns.TOOL_USE if has_calls else turns.END if reason in ("STOP", "") else reason.lower()


def _usage(usage: JSONMapping) -> Tokens | None:
    """What the model has thought is paid as output; what came out of a cache is in the prompt's tokens."""
    prompt = get_tokens(usage, "promptTokenCount")
    if prompt is None:
        return None
    cached = min(prompt, get_tokens(usage, "cachedContentTokenCount") or 0)
    of_tools = get_tokens(usage, "toolUsePromptTokenCount") or 0
    written = (get_tokens(usage, "candidatesTokenCount") or 0) + (get_tokens(usage, "thoughtsTokenCount") or 0)
    return Tokens(prompt - cached + of_tools, 0, cached, written)


def _citations(candidate: JSONMapping) -> Iterator[Citation]:
    for one in list_objects(get_object(candidate, "groundingMetadata").get("groundingChunks")):
        web = get_object(one, "web")
        if url := get_text(web, "uri"):
            yield Citation(url, get_text(web, "title") or "")


def _wait(details: list[JSONObject]) -> float | None:
    """Seconds of a RetryInfo, such as "36s"."""
    for one in details:
        delay = one.get("retryDelay")
        if str(one.get("@type", "")).endswith(_RETRY) and isinstance(delay, str) and delay.endswith("s"):
            try:
                return max(0.0, float(delay[:-1]))
            except ValueError:
                return None
    return None


GEMINI = Gemini()
