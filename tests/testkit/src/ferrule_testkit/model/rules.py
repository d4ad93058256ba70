"""What the Messages API refuses in a request, with the sentences in which it does.

Pure functions of a request's headers and body. The sentences are the API's own where users' reports quote them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_REQUIRED = ("model", "max_tokens", "messages")
# fmt: off
KEYS = frozenset([
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "metadata", "stop_sequences",
    "stream", "thinking", "output_config", "service_tier", "cache_control", "container", "inference_geo",
])
# fmt: on
SAMPLING = ("temperature", "top_p", "top_k")
VERSIONS = ("2023-06-01", "2026-10-21")
TOOL_NAME = r"^[a-zA-Z0-9_-]{1,128}$"
COMBINATORS = ("oneOf", "allOf", "anyOf")
_TOOL_BLOCKS = ("tool_use", "tool_result")


class Refusal(NamedTuple):
    """An error of the API. kind: such as `invalid_request_error`."""

    status: int
    kind: str
    message: str


def refusal_of_headers(headers: Mapping[str, str], keys: tuple[str, ...]) -> Refusal | None:
    """What is wrong with a request's headers. headers: their names in small letters. keys: those that are valid."""
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    if not key:
        return Refusal(401, "authentication_error", "x-api-key header is required")
    if key not in keys:
        return Refusal(401, "authentication_error", "invalid x-api-key")
    version = headers.get("anthropic-version")
    if version is None:
        return _invalid("anthropic-version: header is required")
    if version not in VERSIONS:
        return _invalid(f"anthropic-version: {json.dumps(version)} is not a valid version")
    if headers.get("content-type", "").partition(";")[0] != "application/json":
        return _invalid("Content-Type: must be application/json")
    return None


def refusal_of_body(body: Any, version: str) -> Refusal | None:
    """What is wrong with a request's body; the first that is found."""
    if not isinstance(body, dict):
        return _invalid("Input should be a valid dictionary or object to extract fields from")
    try:
        message = next(_faults(body, version), None)
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # its shape is wrong somewhere deep
        message = f"Input should be a valid request: {error!r}"
    return _invalid(message) if message else None


def blocks_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The content of a message as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _invalid(message: str) -> Refusal:
    return Refusal(400, "invalid_request_error", message)


def _faults(body: dict[str, Any], version: str) -> Iterator[str]:
    yield from _fault_of_keys(body, version)
    yield from _faults_of_messages(body["messages"])
    yield from _faults_of_tools(body)
    for place, message in enumerate(body["messages"]):
        yield from _faults_of_pairs(body["messages"], place, message)


def _fault_of_keys(body: dict[str, Any], version: str) -> Iterator[str]:
    for name in _REQUIRED:
        if name not in body:
            yield f"{name}: Field required"
    for name in body:
        if name in SAMPLING and version != VERSIONS[0]:
            yield f"`{name}` is deprecated for this model."
        elif name not in KEYS and name not in SAMPLING:
            yield f"{name}: Extra inputs are not permitted"
    if not isinstance(body["model"], str) or not body["model"]:
        yield "model: Input should be a valid string"
    if not isinstance(body["max_tokens"], int) or isinstance(body["max_tokens"], bool):
        yield "max_tokens: Input should be a valid integer"
    if body["max_tokens"] < 1:
        yield "max_tokens: Input should be greater than or equal to 1"


def _faults_of_messages(messages: Any) -> Iterator[str]:
    if not isinstance(messages, list):
        yield "messages: Input should be a valid list"
    if not messages:
        yield "messages: at least one message is required"
    for place, message in enumerate(messages):
        here = f"messages.{place}"
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            yield f"{here}: a message has `role` and `content`, and nothing else"
        if message["role"] not in ("user", "assistant"):
            yield f"{here}.role: Input should be 'user' or 'assistant'"
        if not message["content"]:
            yield f"{here}: all messages must have non-empty content except for the optional final assistant message"
        yield from _faults_of_blocks(here, blocks_of(message))
    if messages[0]["role"] != "user":
        yield "messages: first message must use the `user` role"
    if messages[-1]["role"] != "user":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."


def _faults_of_blocks(here: str, blocks: list[dict[str, Any]]) -> Iterator[str]:
    for number, block in enumerate(blocks):
        if "type" not in block:
            yield f"{here}.content.{number}.type: Field required"
        if block["type"] == "text" and not block["text"]:
            yield "messages: text content blocks must be non-empty"
        if block["type"] == "text" and not block["text"].strip():
            yield "messages: text content blocks must contain non-whitespace text"


def _faults_of_tools(body: dict[str, Any]) -> Iterator[str]:
    tools = body.get("tools", [])
    for place, tool in enumerate(tools):
        yield from _faults_of_tool(f"tools.{place}.custom", tool)
    if len({tool["name"] for tool in tools}) < len(tools):
        yield "tools: Tool names must be unique."
    if "tool_choice" in body and not tools:
        yield "tool_choice: tool_choice may only be specified while providing tools"
    if not tools and any(block["type"] in _TOOL_BLOCKS for message in body["messages"] for block in blocks_of(message)):
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools."
    yield from _faults_of_choice(body.get("tool_choice", {"type": "auto"}))
    if "format" in body.get("output_config", {}) and '"search_result"' in json.dumps(body["messages"]):
        yield "output_config.format: citations cannot be used with structured outputs"


def _faults_of_tool(here: str, tool: Mapping[str, Any]) -> Iterator[str]:
    for name in ("name", "input_schema"):
        if name not in tool:
            yield f"{here}.{name}: Field required"
    for name in set(tool) - {"name", "description", "input_schema", "cache_control", "strict", "type"}:
        yield f"{here}.{name}: Extra inputs are not permitted"
    if not re.match(TOOL_NAME, tool["name"]):
        yield f"{here}.name: String should match pattern '{TOOL_NAME}'"
    schema = tool["input_schema"]
    if schema.get("type") != "object":
        yield f"{here}.input_schema.type: Field required"
    if any(name in schema for name in COMBINATORS):
        yield f"{here}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"


def _faults_of_choice(choice: Mapping[str, Any]) -> Iterator[str]:
    allowed = {"auto": {"disable_parallel_tool_use"}, "any": {"disable_parallel_tool_use"}, "none": set[str]()}
    kind = choice.get("type")
    if kind == "tool":
        return
    if kind not in allowed:
        yield f"tool_choice: Input tag {kind!r} does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
    for name in set(choice) - {"type"} - allowed[str(kind)]:
        yield f"tool_choice.{kind}.{name}: Extra inputs are not permitted"


def _faults_of_pairs(messages: list[dict[str, Any]], place: int, message: dict[str, Any]) -> Iterator[str]:
    wanted = _ids(messages[place - 1], "assistant", "tool_use", "id") if place else []
    given = _ids(message, "user", "tool_result", "tool_use_id")
    yield from _faults_of_results(place, message, wanted)
    missing = [one for one in wanted if one not in given]
    if missing:
        yield (
            f"messages.{place - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )
    for one in given:
        if given.count(one) > 1:
            yield (
                f"messages.{place}: each tool_use must have a single result. Found multiple `tool_result` blocks with "
                f"id: {one}"
            )


def _faults_of_results(place: int, message: dict[str, Any], wanted: list[str]) -> Iterator[str]:
    is_past_results = False
    for number, block in enumerate(blocks_of(message)):
        if block["type"] != "tool_result":
            is_past_results = True
        elif block["tool_use_id"] not in wanted:
            yield (
                f"messages.{place}.content.{number}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{block['tool_use_id']}. Each `tool_result` block must have a corresponding `tool_use` block in the "
                "previous message."
            )
        elif is_past_results:
            yield f"messages.{place}.content.{number}: `tool_result` blocks must come before all other content"
        elif isinstance(block.get("content"), list) and (fault := _fault_of_search_results(block["content"])):
            yield f"messages.{place}.content.{number}.tool_result.{fault}"
        elif not block.get("content") and block.get("is_error"):
            yield f"messages.{place}.content.{number}.tool_result: content cannot be empty if `is_error` is true"


def _fault_of_search_results(content: list[dict[str, Any]]) -> str:
    """What is wrong with blocks that can be cited: all or none may be, and none of their texts is empty."""
    found = [block for block in content if block["type"] == "search_result"]
    if len({bool(block.get("citations", {}).get("enabled")) for block in found}) > 1:
        return "content: citations must be enabled for all search results or for none"
    for block in found:
        if not block.get("source") or not block.get("title"):
            return "content: search_result.source and search_result.title: Field required"
        if not block["content"] or any(one["type"] != "text" or not one["text"].strip() for one in block["content"]):
            return "content: search_result.content: text content blocks must be non-empty"
    return ""


def _ids(message: dict[str, Any], role: str, kind: str, name: str) -> list[str]:
    if message["role"] != role:
        return []
    return [block[name] for block in blocks_of(message) if block["type"] == kind]
