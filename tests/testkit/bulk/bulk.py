"""Returns a result of exactly the size that is asked for, which may be linked and cached."""

import json
import os
from typing import Any

from ferrule import Context, Credential, ResultPolicy, ToolError, hookimpl


@hookimpl
def result_policy() -> ResultPolicy:
    return ResultPolicy(linkable=True, cache_seconds=600)


def described(name: str) -> dict[str, Any]:
    """The schema of a tool of this name."""
    return {
        "name": name,
        "description": "Returns a result of exactly so many bytes of compact JSON.",
        "parameters": {
            "type": "object",
            "properties": {
                "bytes": {"type": "integer", "description": "The size.", "minimum": 100},
                "letter": {"type": "string", "description": "What the text is made of."},
                "leak": {"type": "boolean", "description": "Whether the key stands in the text."},
                "meta": {"type": "boolean", "description": "Whether something stands beside the result."},
                "fault": {"type": "string", "description": "What goes wrong: error, crash, nan, list."},
            },
            "required": ["bytes"],
        },
    }


def result(arguments: dict[str, Any]) -> dict[str, Any]:
    """A result of so many bytes."""
    letter = arguments.get("letter", "x")
    secret = os.environ.get("BULK_KEY", "") if arguments.get("leak") else ""
    text = f"A first sentence. {secret}"
    frame: dict[str, Any] = {"success": True, "title": f"Bulk {secret}".strip(), "text": text, "more": ["", 1]}
    left = arguments["bytes"] - len(json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode())
    count, rest = divmod(left, len(json.dumps(letter, ensure_ascii=False).encode()) - 2)
    return {**frame, "text": text + letter * count + "." * rest}


@hookimpl
def schema() -> dict[str, Any]:
    return described("bulk")


@hookimpl
def credentials() -> list[Credential]:
    return [Credential("key", environment="BULK_KEY", path="bulk.key", url="https://bulk.example/keys")]


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> Any:
    fault = arguments.get("fault")
    if fault == "error":
        raise ToolError("HTTP_ERROR", "HTTP 404: Not Found")
    if fault == "crash":
        raise RuntimeError("bulk broke")
    if fault == "nan":
        return {**result(arguments), "number": float("nan")}
    if fault == "list":
        return [result(arguments), 1]
    beside = {"_meta": {"took": os.getpid()}} if arguments.get("meta") else {}
    return {**result(arguments), **beside}
