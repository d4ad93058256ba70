"""Messages that come: from bytes to a request or a notification whose shape is as JSON-RPC wants it.

Their JSON is read as an executable reads its own: one that two readers could take for different things (duplicate keys,
NaN, numbers out of range) is refused, with the id of the message, so that its client is answered.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from ferrule.text import strict_json
from ferrule_serve.protocol.vocabulary import INVALID_REQUEST, PARSE_ERROR, RequestError, RequestId

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject


class Request(NamedTuple):
    """What is to be answered. number: the client's id of it."""

    number: RequestId
    method: str
    params: JSONObject


class Notification(NamedTuple):
    """What is not to be answered."""

    method: str
    params: JSONObject


class Reply(NamedTuple):
    """An answer to what this server never asks."""


class Unreadable(RequestError):
    """The bytes are no message. number: the id for the answer, None where that is not known."""

    def __init__(self, code: int, message: str, number: RequestId | None = None) -> None:
        super().__init__(code, message)
        self.number = number


def read_message(data: bytes) -> Request | Notification | Reply:
    """The message that the bytes are. Raises Unreadable."""
    try:
        facts = strict_json.loads(data)
    except strict_json.MalformedJSON as error:
        raise _refusal(data, error) from None
    if not isinstance(facts, dict) or facts.get("jsonrpc") != "2.0":
        raise _invalid("it is no object of JSON-RPC 2.0", facts)
    method, params = facts.get("method"), facts.get("params")
    if method is None and "id" in facts and ("result" in facts or "error" in facts):
        return Reply()
    if not isinstance(method, str):
        raise _invalid("it names no method", facts)
    if params is not None and not isinstance(params, dict):
        raise _invalid("its params are no object", facts)
    if "id" not in facts:
        return Notification(method, params or {})
    number = _number_in(facts)
    if number is None:
        raise _invalid("its id is neither a text nor an integer", facts)
    return Request(number, method, params or {})


def _invalid(reason: str, facts: object) -> Unreadable:
    return Unreadable(INVALID_REQUEST, f"Invalid Request: {reason}.", _number_in(facts))


def _refusal(data: bytes, error: strict_json.MalformedJSON) -> Unreadable:
    """Why what is no strict JSON is refused: it may be JSON all the same, and a request with an id."""
    try:
        number = _number_in(json.loads(data))
    except (ValueError, RecursionError):
        return Unreadable(PARSE_ERROR, f"Parse error: {error.discreet}.")
    return Unreadable(INVALID_REQUEST, f"The message is refused: {error.discreet}.", _writable(number))


def _writable(number: RequestId | None) -> RequestId | None:
    """The id, None for one with a lone surrogate, which cannot be written again."""
    try:
        str(number).encode()
    except UnicodeEncodeError:
        return None
    return number


def _number_in(facts: object) -> RequestId | None:
    number = facts.get("id") if isinstance(facts, dict) else None
    return number if isinstance(number, str) or (isinstance(number, int) and not isinstance(number, bool)) else None
