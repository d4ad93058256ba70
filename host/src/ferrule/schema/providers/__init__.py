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

__all__ = (
    "FORMATS",
    "Loss",
    "PlainSchema",
    "ProviderFormat",
    "anthropic",
    "gemini",
    "mcp",
    "openai_chat",
    "openai_responses",
    "plain",
)

anthropic = ProviderFormat("anthropic", "Anthropic", converters.anthropic, losses.anthropic)
openai_chat = ProviderFormat("openai", "OpenAI", converters.openai_chat, losses.openai)
openai_responses = ProviderFormat("openai-responses", "OpenAI", converters.openai_responses, losses.openai)
gemini = ProviderFormat("gemini", "Gemini", converters.gemini, losses.gemini, converters.declare_together)
mcp = ProviderFormat("mcp", "MCP", converters.mcp, losses.mcp)
plain = ProviderFormat("plain", "Plain", converters.plain, losses.plain)

FORMATS = {form.name: form for form in (anthropic, openai_chat, openai_responses, gemini, mcp, plain)}
"""Every form by the name that `ferrule schemas --for` has for it."""
