"""One tool's schema in the form that each provider's request takes it, and what each form cannot keep.

    anthropic(schema)         one entry of `tools` of the Messages API
    openai_chat(schema)       one entry of `tools` of Chat Completions
    openai_responses(schema)  one entry of `tools` of the Responses API
    gemini(schema)            one entry of `tools` of generateContent, with one function declaration
    mcp(schema)               one entry of `tools` of the answer to tools/list
    plain(schema)             the schema in the few keywords that every library takes; `PlainSchema` translates calls

Each is a pure function: schema is what `--schema` prints (`{"name", "description", "parameters"}`), it is not changed,
and the result is JSON that shares nothing with it. Each has `losses(schema)`, a tuple of Loss, and `tools(schemas)`,
all of a request's tools: for Gemini that is one entry with all declarations. All raise ValueError, with the first
finding, for a schema that breaks a rule of the format.

For code that writes such schemas there are the limits that it has to keep (MAX_BYTES of the printed schema,
LONGEST_NAME, LONGEST_DESCRIPTION), `find_refusals` and `snake_case` for names of parameters, and the words for keywords
that a schema cannot have: `say(keywords, description)` and `with_words(description, words)`. `measure_links(schema)`
gives the bytes that a link for each provider prints.

What fits a form fits the schema. What fits the schema fits every form, but for arguments that the schema does not
define: the host refuses those at the top level, and all forms but Anthropic's say so, with `additionalProperties`.
Objects below stay as open as they are. No form asks for a strict mode: that would make every parameter required. The
plain form is another matter: it holds a model to less than the schema does, and its arguments have to be translated.

>>> from ferrule.schema.providers import openai_chat
>>> schema = {"name": "greet", "description": "Greets.", "parameters": {"type": "object", "properties": {}}}
>>> openai_chat(schema)["function"]["parameters"]
{'type': 'object', 'properties': {}, 'additionalProperties': False}
"""

from __future__ import annotations

from ferrule.schema.providers import converters, losses
from ferrule.schema.providers.format import Loss, ProviderFormat
from ferrule.schema.providers.plain_schema import PlainSchema
from ferrule.schema.rules.contract import MAX_BYTES
from ferrule.schema.rules.recommendations import LONGEST_DESCRIPTION, LONGEST_NAME, find_refusals, snake_case

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.schema.providers.adaptation import measure_links
    from ferrule.schema.providers.words import say, with_words

__all__ = (
    "FORMATS",
    "LONGEST_DESCRIPTION",
    "LONGEST_NAME",
    "MAX_BYTES",
    "Loss",
    "PlainSchema",
    "ProviderFormat",
    "anthropic",
    "find_refusals",
    "gemini",
    "mcp",
    "measure_links",
    "openai_chat",
    "openai_responses",
    "plain",
    "say",
    "snake_case",
    "with_words",
)

anthropic = ProviderFormat("anthropic", "Anthropic", converters.anthropic, losses.anthropic)
openai_chat = ProviderFormat("openai", "OpenAI", converters.openai_chat, losses.openai)
openai_responses = ProviderFormat("openai-responses", "OpenAI", converters.openai_responses, losses.openai)
gemini = ProviderFormat("gemini", "Gemini", converters.gemini, losses.gemini, converters.declare_together)
mcp = ProviderFormat("mcp", "MCP", converters.mcp, losses.mcp)
plain = ProviderFormat("plain", "Plain", converters.plain, losses.plain)

FORMATS = {form.name: form for form in (anthropic, openai_chat, openai_responses, gemini, mcp, plain)}
"""Every form by the name that `ferrule schemas --for` has for it."""


def __getattr__(name: str) -> object:
    modules = {"say": "words", "with_words": "words", "measure_links": "adaptation"}
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ferrule.lazy import load  # not above: the call of a link for a provider needs none of them

    return load(__name__, f"{__name__}.{modules[name]}", name)
