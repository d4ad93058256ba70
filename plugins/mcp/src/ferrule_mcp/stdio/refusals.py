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
_ROOTS = "roots/list"


def answer_request(request: JSONObject, era: str, roots: Sequence[str]) -> JSONObject:
    """The answer to a request of a server. roots: folders that it may be given, none where they are not offered."""
    method, frame = request["method"], {"jsonrpc": "2.0", "id": request.get("id")}
    if method == "ping":
        return {**frame, "result": {}}
    if method == _ROOTS and roots:
        return {**frame, "result": _list_roots(roots)}
    if method == _ELICITATION and has_elicitation(era):
        return {**frame, "result": {"action": "decline"}}
    error = {"code": _METHOD_NOT_FOUND, "message": f"This client does not offer {fit_text(str(method), _MAX_CHARS)}."}
    return {**frame, "error": error}


def describe_declined(request: JSONObject, roots: Sequence[str]) -> str | None:
    """What was declined, in a few words and the server's own; None for a request that was not."""
    method = str(request.get("method"))
    if method == "ping" or (method == _ROOTS and roots):
        return None
    params = request.get("params")
    said = params.get("message") if isinstance(params, dict) else None
    words = f" ({fit_text(said, _MAX_CHARS)})" if isinstance(said, str) and said else ""
    return f"{fit_text(method, _MAX_CHARS)}{words}"


def answer_inputs(result: JSONObject, roots: Sequence[str]) -> JSONObject | None:
    """The answers to what a result since 2026-07-28 asks for, for a second try; None where there can be none.

    A person's answers can be declined. A model's cannot, and neither can roots that are not offered: no client is to be
    asked for what it does not offer.
    """
    requests = result.get("inputRequests") or {}
    if not isinstance(requests, dict):
        return None
    answers = {key: _answer_input(request, roots) for key, request in requests.items()}
    return None if None in answers.values() else answers


def _answer_input(request: object, roots: Sequence[str]) -> JSONObject | None:
    method = request.get("method") if isinstance(request, dict) else None
    if method == _ELICITATION:
        return {"action": "decline"}
    return _list_roots(roots) if method == _ROOTS and roots else None


def _list_roots(roots: Sequence[str]) -> JSONObject:
    return {"roots": [{"uri": _make_uri(folder)} for folder in roots]}


def _make_uri(folder: str) -> str:
    if folder.isascii() and folder.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum():
        return f"file://{folder}"
    from urllib.parse import quote

    return f"file://{quote(folder)}"
