"""A call as text to copy: for curl, as JSON-RPC, for a shell."""

from __future__ import annotations

import json
import shlex
from typing import NamedTuple

from ferrule.text import strict_json
from ferrule_serve.protocol.vocabulary import CAPABILITIES_KEY, CLIENT_KEY, ENVELOPE_VERSIONS, VERSION_KEY

_MAX_CHARS = 100_000  # of the arguments: a shell takes 128 KiB at most as one word


class CallLine(NamedTuple):
    """One way to make a call again."""

    label: str
    text: str


class Endpoint(NamedTuple):
    """Where clients call. url: of MCP. has_token: whether a request has to carry one."""

    url: str
    has_token: bool


def call_lines(tool: str, arguments: bytes, own: bytes, endpoint: Endpoint) -> list[CallLine]:
    """The call for curl, as JSON-RPC, and for a shell; none where it is too long, or where the arguments are no object.

    Args:
        own: the arguments as the tool itself takes them, which a shell calls. All of it is printable ASCII, so that
            what is shown is what is copied.
    """
    try:
        facts, own_facts = strict_json.loads_object(arguments), strict_json.loads_object(own)
    except strict_json.MalformedJSON:
        return []
    if max(len(_json(facts)), len(_json(own_facts))) > _MAX_CHARS:
        return []
    request = _request(tool, facts)
    return [
        CallLine("curl", _curl(tool, request, endpoint)),
        CallLine("JSON-RPC", request),
        CallLine("shell", shlex.join(("ferrule", "run", tool, _json(own_facts)))),
    ]


def _request(tool: str, arguments: object) -> str:
    meta = {
        VERSION_KEY: ENVELOPE_VERSIONS[-1],
        CLIENT_KEY: {"name": "curl", "version": "1"},
        CAPABILITIES_KEY: {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return _json({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def _curl(tool: str, request: str, endpoint: Endpoint) -> str:
    headers = [
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"MCP-Protocol-Version: {ENVELOPE_VERSIONS[-1]}",
        "Mcp-Method: tools/call",
        f"Mcp-Name: {tool}",
    ]
    token = ['-H "Authorization: Bearer $FERRULE_SERVE_TOKEN"'] if endpoint.has_token else []
    parts = [f"-H {shlex.quote(header)}" for header in headers]
    return " ".join(["curl -sS", *parts, *token, "-d", shlex.quote(request), shlex.quote(endpoint.url)])


def _json(value: object) -> str:
    return json.dumps(value).replace("\x7f", "\\u007f")
