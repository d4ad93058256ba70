"""One tool's schema in the form that each provider's request takes it, and what each form cannot keep.

    anthropic(schema)         one entry of `tools` of the Messages API
    openai_chat(schema)       one entry of `tools` of Chat Completions
    openai_responses(schema)  one entry of `tools` of the Responses API
    gemini(schema)            one entry of `tools` of generateContent, with one function declaration
    mcp(schema)               one entry of `tools` of the answer to tools/list

Each is a pure function: schema is what `--schema` prints (`{"name", "description", "parameters"}`), it is not changed,
and the result is JSON that shares nothing with it. Each has `losses(schema)`, a tuple of Loss, and `tools(schemas)`,
all of a request's tools: for Gemini that is one entry with all declarations. All raise ValueError, with the first
finding, for a schema that breaks a rule of the format.

What fits a form fits the schema. What fits the schema fits every form, but for arguments that the schema does not
define: the host refuses those at the top level, and all forms but Anthropic's say so, with `additionalProperties`.
Objects below stay as open as they are. No form asks for a strict mode: that would make every parameter required.

>>> from ferrule.provider_formats import openai_chat
>>> schema = {"name": "greet", "description": "Greets.", "parameters": {"type": "object", "properties": {}}}
>>> openai_chat(schema)["function"]["parameters"]
{'type': 'object', 'properties': {}, 'additionalProperties': False}
"""

from __future__ import annotations

from ferrule.provider_formats import converters, losses
from ferrule.provider_formats.format import Form, Loss

__all__ = ["FORMS", "Form", "Loss", "anthropic", "gemini", "mcp", "openai_chat", "openai_responses"]

anthropic = Form("anthropic", "Anthropic", converters.anthropic, losses.anthropic, converters.one_by_one)
openai_chat = Form("openai", "OpenAI", converters.openai_chat, losses.openai, converters.one_by_one)
openai_responses = Form("openai-responses", "OpenAI", converters.openai_responses, losses.openai, converters.one_by_one)
gemini = Form("gemini", "Gemini", converters.gemini, losses.gemini, converters.declared_together)
mcp = Form("mcp", "MCP", converters.mcp, losses.mcp, converters.one_by_one)

FORMS: dict[str, Form] = {form.name: form for form in (anthropic, openai_chat, openai_responses, gemini, mcp)}
"""Every form by the name that `ferrule schemas --for` has for it."""
