"""What a server asks of its client while it works: a sign of life and the roots are given, all else is declined."""

from __future__ import annotations

from ferrule_mcp.stdio.eras import has_elicitation
from ferrule_mcp.stdio.lines import fit_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.text.json_types import JSONObject

_METHOD_NOT_FOUND = -32601
_ELICITATION = "elicitation/create"
_MAX_CHARS = 1_000  # of what a server asks, in a sentence
_UNASKED = ("ping", "roots/list")


def answer_request(request: JSONObject, era: str, roots: Sequence[str]) -> JSONObject:
    """The answer to a request of a server. roots: folders that it may be given, none where they are not offered."""
    method, frame = request["method"], {"jsonrpc": "2.0", "id": request.get("id")}
    if method == "ping":
        return {**frame, "result": {}}
    if method == "roots/list" and roots:
        return {**frame, "result": {"roots": [{"uri": _make_uri(folder)} for folder in roots]}}
    if method == _ELICITATION and has_elicitation(era):
        return {**frame, "result": {"action": "decline"}}
    error = {"code": _METHOD_NOT_FOUND, "message": f"This client does not offer {fit_text(str(method), _MAX_CHARS)}."}
    return {**frame, "error": error}


def describe_declined(request: JSONObject) -> str | None:
    """What was declined, in a few words and the server's own; None for a request that was not."""
    method = str(request.get("method"))
    if method in _UNASKED:
        return None
    params = request.get("params")
    said = params.get("message") if isinstance(params, dict) else None
    words = f" ({fit_text(said, _MAX_CHARS)})" if isinstance(said, str) and said else ""
    return f"{fit_text(method, _MAX_CHARS)}{words}"


def decline_inputs(result: JSONObject) -> JSONObject | None:
    """The answers to what a result since 2026-07-28 asks for, for a second try; None where it cannot be declined so.

    A person's answers can be declined. A model's and the roots cannot: no client is asked for what it does not offer.
    """
    requests = result.get("inputRequests") or {}
    if not isinstance(requests, dict) or not all(map(_is_elicitation, requests.values())):
        return None
    return {key: {"action": "decline"} for key in requests}


def _is_elicitation(request: object) -> bool:
    return isinstance(request, dict) and request.get("method") == _ELICITATION


def _make_uri(folder: str) -> str:
    if folder.isascii() and folder.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum():
        return f"file://{folder}"
    from urllib.parse import quote

    return f"file://{quote(folder)}"
