"""A dispatcher of the SDK that keeps what a server answered, as it came.

The SDK reads a whole list of tools by its models, so one odd tool makes the list unusable; and it holds the result of a
call against the tool's output schema, for which it asks for the list each time. Both are left to ferrule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import ElicitResult

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcp.shared.dispatcher import CallOptions
    from mcp.shared.message import SessionMessage  # noqa: F401 - named by the type of the base
    from mcp_types import InputResponses, RequestId

    from ferrule import JSONObject

LIST, CALL = "tools/list", "tools/call"
_ELICITATION = "elicitation/create"
_INPUT_REQUIRED = "input_required"
_ANY_OBJECT: JSONObject = {"type": "object"}


class RecordedDispatcher(JSONRPCDispatcher):
    """Sends requests as its base does. answered: the last result of each method, as the server sent it."""

    def __init__(self, *streams: Any) -> None:
        super().__init__(*streams)
        self.answered: dict[str, JSONObject] = {}

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: RequestId | None = None,
    ) -> JSONObject:
        """Send a request, and return so much of its result as the SDK needs."""
        self.answered.pop(method, None)
        result = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        self.answered[method] = result
        if method == LIST:
            return _reduce_list(result)
        return _drop_content(result) if method == CALL else result


def is_input_required(result: JSONObject) -> bool:
    """Whether a result asks the client for something instead of answering."""
    return result.get("resultType") == _INPUT_REQUIRED


def tools_in(page: JSONObject) -> list[JSONObject]:
    """What a page of a list describes, whatever else stands in it."""
    listed = page.get("tools")
    return [tool for tool in listed if isinstance(tool, dict)] if isinstance(listed, list) else []


def find_left_out(page: JSONObject, names: set[str]) -> list[str]:
    """The names of a page that the SDK has left out. names: those that it has not."""
    found = (str(tool["name"]) for tool in tools_in(page) if _is_named(tool))
    return [name for name in found if name not in names]


def decline_inputs(result: JSONObject) -> InputResponses | None:
    """The answers for another try; None where it cannot be answered: only what is asked of the user can be declined."""
    requests = result.get("inputRequests") or {}
    if not isinstance(requests, dict) or not all(map(_is_elicitation, requests.values())):
        return None
    return {key: ElicitResult(action="decline") for key in requests}


def _is_elicitation(request: object) -> bool:
    return isinstance(request, dict) and request.get("method") == _ELICITATION


def _reduce_list(result: JSONObject) -> JSONObject:
    """A list in which the SDK finds each tool's name, and the parameters that go into headers."""
    tools = [_reduce_tool(tool) for tool in tools_in(result) if _is_named(tool)]
    cursor = result.get("nextCursor")
    return {
        "ttlMs": 0,
        "cacheScope": "private",
        "resultType": "complete",
        "tools": tools,
        **({"nextCursor": cursor} if isinstance(cursor, str) else {}),
    }


def _reduce_tool(tool: JSONObject) -> JSONObject:
    schema = tool.get("inputSchema")
    is_usable = isinstance(schema, dict) and schema.get("type") == "object"
    return {"name": tool["name"], "inputSchema": schema if is_usable else _ANY_OBJECT}


def _is_named(tool: JSONObject) -> bool:
    return isinstance(tool.get("name"), str)


def _drop_content(result: JSONObject) -> JSONObject:
    """A result that the SDK has nothing to check of: it holds one with `isError` against no schema."""
    return {"content": [], "isError": True, "resultType": "complete"}
