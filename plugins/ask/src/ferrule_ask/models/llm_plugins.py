"""The models of llm's plugins, where llm is installed: `llm/NAME`, asked in this process.

A question is a conversation of llm's, which stays here until it has ended: what a plugin keeps of a reply is its own.
llm is imported once a model of it is asked, and its plugins as well.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ferrule_ask import typed_answers
from ferrule_ask.cost.prices import Tokens
from ferrule_ask.loop_thread import in_thread
from ferrule_ask.models import dialogue as turns
from ferrule_ask.models import json_text
from ferrule_ask.models.dialogue import ModelFailed, Reply, Response, ServerError, ToolUse
from ferrule_ask.models.json_text import get_object, get_text, get_tokens, list_objects

if TYPE_CHECKING:
    from ferrule import Credential
    from ferrule.schema.providers import ProviderFormat
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.models.dialogue import Dialogue
    from ferrule_ask.models.provider import RequestSettings, Streaming
    from ferrule_ask.pace.stated_limits import StatedLimit

_MAX_CONVERSATIONS = 1_000  # that are kept while their tools are called
_CONVERSATION = "conversation"
_CODES = {401: "AUTH_INVALID", 403: "FORBIDDEN", 404: "MODEL_NOT_FOUND", 429: "RATE_LIMIT", 503: "OVERLOADED"}


class LLMPlugins:
    """See `Provider`. `post` stands for a server."""

    name = "llm"
    api = "a plugin of llm"
    base_url = "llm:"
    base_url_variable = "the plugin of llm"
    key: Credential | None = None  # each plugin finds its own
    token_variable = ""
    streaming: Streaming | None = None

    def __init__(self) -> None:
        self._conversations: OrderedDict[str, Any] = OrderedDict()

    def form(self) -> ProviderFormat:
        """See `Provider`."""
        from ferrule.schema.providers import openai_chat

        return openai_chat

    def url(self, settings: RequestSettings) -> str:
        """See `Provider`."""
        return f"{self.base_url}{settings.model}"

    def headers(self, settings: RequestSettings, key: str) -> Mapping[str, str]:
        """See `Provider`."""
        return {}

    def request(self, dialogue: Dialogue, settings: RequestSettings) -> JSONObject:
        """See `Provider`. Of the exchanges, llm itself has all but the last results."""
        offers = dialogue.offers if dialogue.may_call else ()
        request: JSONObject = {
            "model": settings.model,
            "max_tokens": settings.max_tokens,
            "prompt": dialogue.text,
            "system": dialogue.system,
            "schema": None if settings.schema is None else typed_answers.project_schema(settings.schema),
            "tools": [offer.schema for offer in offers],
        }
        if dialogue.exchanges:
            last = dialogue.exchanges[-1]
            request[_CONVERSATION] = last.reply.content
            request["results"] = [
                {"id": one.use.id, "name": one.use.name, "output": one.content} for one in last.results
            ]
        return request

    async def post(self, body: bytes) -> Response:
        """Put a request of `request` to llm. Raises ModelFailed."""
        return Response(200, {}, json_text.encode(await self._answer(json_text.decode_object(body))))

    def read(self, response: Response) -> Reply:
        """See `Provider`."""
        document = json_text.decode_object(response.body)
        calls = list_objects(document.get("calls"))
        uses = tuple(ToolUse(str(one["id"]), str(one["name"]), json_text.clean_json(one["arguments"])) for one in calls)
        usage = get_object(document, "usage")
        given, written = get_tokens(usage, "input"), get_tokens(usage, "output")
        return Reply(
            [document.get(_CONVERSATION)],
            get_text(document, "text") or "",
            uses,
            turns.TOOL_USE if uses else turns.END,
            None,
            get_text(document, "model") or "",
            None if given is None or written is None else Tokens(given, 0, 0, written),
            None,
        )

    def error(self, response: Response, document: JSONMapping) -> ServerError:
        """See `Provider`. Nothing is answered with another status."""
        return ServerError()

    def limits(self, headers: Mapping[str, str]) -> Iterator[StatedLimit]:
        """See `Provider`."""
        return iter(())

    async def _answer(self, request: JSONObject) -> JSONObject:
        conversation = await self._conversation(request)
        model = conversation.model
        options = _options(model, request)
        ask = _ask if _is_async(model) else _ask_in_thread
        try:
            response, text, calls, usage = await ask(conversation, options)
        except Exception as error:  # noqa: BLE001 - of a plugin, whose words may hold a key
            raise _failure_of(error, model) from None
        self._conversations[conversation.id] = conversation
        while len(self._conversations) > _MAX_CONVERSATIONS:
            self._conversations.popitem(last=False)
        return {
            _CONVERSATION: conversation.id,
            "text": json_text.clean(text),
            "calls": [{"id": one.tool_call_id, "name": one.name, "arguments": one.arguments} for one in calls],
            "usage": {"input": usage.input, "output": usage.output},
            "model": getattr(response, "resolved_model", None) or model.model_id,
        }

    async def _conversation(self, request: JSONObject) -> Any:
        """A new one, or the one that a result is for."""
        known = request.get(_CONVERSATION)
        if known:
            found = self._conversations.pop(str(known[0]), None)
            if found is None:
                raise ModelFailed("API_ERROR", "What llm had of this conversation is gone. Ask again.")
            return found
        return (await in_thread(lambda: _model(str(request["model"])))).conversation()


def _model(name: str) -> Any:
    """A model of llm by its name or alias, in its asynchronous form if it has one."""
    try:
        import llm

        asynchronous, others = llm.get_async_model_aliases(), llm.get_model_aliases()
    except ModuleNotFoundError as error:
        if error.name != "llm":
            raise _not_loaded(error) from None
        sentence = "llm is not installed here. Install it next to ferrule, with the plugin of the model."
        raise ModelFailed("INVALID_REQUEST", sentence, was_sent=False) from None
    except Exception as error:  # noqa: BLE001 - of a plugin
        raise _not_loaded(error) from None
    model = asynchronous.get(name) or others.get(name)
    if model is None:
        sentence = f"llm has no model {name!r}. Name one that `llm models` lists."
        raise ModelFailed("MODEL_NOT_FOUND", sentence, was_sent=False)
    return model


def _not_loaded(error: Exception) -> ModelFailed:
    sentence = f"llm, or a plugin of it, cannot be loaded ({type(error).__name__}). Look at what `llm plugins` says."
    return ModelFailed("INVALID_REQUEST", sentence, was_sent=False)


def _options(model: Any, request: JSONObject) -> JSONObject:
    """The arguments of llm's `prompt`."""
    import llm

    tools, results = request["tools"], request.get("results", ())
    if (tools or results) and not model.supports_tools:
        sentence = f"The model {model.model_id} of llm takes no tools. Offer none: --no-tools, or tools=()."
        raise ModelFailed("INVALID_REQUEST", sentence, was_sent=False)
    system, schema = request["system"], request["schema"]
    if schema and not model.supports_schema:
        words = f"Answer with JSON alone, which fits this schema: {json.dumps(schema)}"
        system, schema = "\n\n".join(filter(None, [system, words])), None
    takes_most = "max_tokens" in model.Options.model_fields
    return {
        "prompt": "" if results else request["prompt"],
        "system": system or None,
        "schema": schema,
        "stream": False,
        "tools": [llm.Tool(one["name"], one["description"], one["parameters"]) for one in tools] or None,
        "tool_results": [llm.ToolResult(one["name"], one["output"], tool_call_id=one["id"]) for one in results] or None,
        "options": {"max_tokens": request["max_tokens"]} if takes_most else {},
    }


def _is_async(model: Any) -> bool:
    import llm

    return isinstance(model, llm.AsyncModel | llm.AsyncKeyModel)


async def _ask(conversation: Any, options: JSONObject) -> tuple[Any, str, list[Any], Any]:
    """The response, its text, its calls of tools, and its usage."""
    response = conversation.prompt(**options)
    return response, await response.text(), await response.tool_calls(), await response.usage()


async def _ask_in_thread(conversation: Any, options: JSONObject) -> tuple[Any, str, list[Any], Any]:
    """The same of a model that blocks. A thread cannot be ended, so it goes on after its question has ended."""

    def ask() -> tuple[Any, str, list[Any], Any]:
        response = conversation.prompt(**options)
        return response, response.text(), response.tool_calls(), response.usage()

    return await in_thread(ask)


def _failure_of(error: Exception, model: Any) -> ModelFailed:
    """What a plugin has raised. Only errors that llm shows to users are quoted."""
    import llm

    name = model.model_id
    if isinstance(error, llm.NeedsKeyException):
        owner = getattr(model, "needs_key", None) or "NAME"
        sentence = f"The model {name} of llm has no key. Run: llm keys set {owner}"
        return ModelFailed("AUTH_MISSING", sentence, was_sent=False)
    if isinstance(error, llm.ModelError):
        return ModelFailed("API_ERROR", f"The model {name} of llm failed: {error}. Ask again, or another model.")
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    said = f"The plugin of {name} failed ({type(error).__name__})"
    code = _CODES.get(status) if type(status) is int else None
    if code is None:
        return ModelFailed("API_ERROR", f"{said}. Ask it with `llm` to see why.")
    return ModelFailed(
        code, f"{said}: HTTP {status}. Ask again later.", may_repeat=code in ("RATE_LIMIT", "OVERLOADED")
    )


LLM = LLMPlugins()
