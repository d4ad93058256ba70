"""JSON as it goes to a provider and comes from one: whole, finite, and without half characters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ferrule_ask.models.dialogue import MessageUnreadable

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

_MAX_TOKENS = 1 << 40


def encode(request: JSONMapping) -> bytes:
    """A request as JSON in UTF-8. A lone surrogate, which UTF-8 does not have, is escaped."""
    try:
        return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(request, separators=(",", ":")).encode()


def decode(body: bytes) -> object:
    """JSON that can be sent back as it is. Raises MessageUnreadable."""
    try:
        document: object = json.loads(body.decode(), parse_constant=_no_number, parse_float=_finite)
        return document
    except UnicodeDecodeError:
        raise MessageUnreadable("is not text in UTF-8") from None
    except RecursionError:
        raise MessageUnreadable("is nested too deeply") from None
    except ValueError:
        raise MessageUnreadable("is not JSON") from None


def decode_object(body: bytes) -> JSONObject:
    """An object of JSON. Raises MessageUnreadable."""
    document = decode(body)
    if not isinstance(document, dict):
        raise MessageUnreadable("is JSON, but no object")
    return document


def decode_event(data: str) -> JSONObject:
    """The object in the data of a server-sent event. Raises MessageUnreadable."""
    return decode_object(data.encode("utf-8", "replace"))


def decode_arguments(text: object) -> object:
    """The arguments of a call that a provider gives as JSON in a text: any JSON, or the text where it is none."""
    if not isinstance(text, str):
        return clean_json(text)
    try:
        return clean_json(json.loads(text or "{}", parse_constant=_no_number, parse_float=_finite))
    except (ValueError, RecursionError):
        return clean(text)


def list_objects(value: object, kind: str = "") -> list[JSONObject]:
    """The objects in a list, of this `type` where one is given; none of what is no list."""
    found = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return [one for one in found if not kind or one.get("type") == kind]


def get_object(document: JSONMapping, name: str) -> JSONObject:
    """The object under a name; empty without one."""
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def get_text(document: JSONMapping, name: str) -> str | None:
    """The text under a name; None for none or an empty one."""
    value = document.get(name)
    return clean(value) if isinstance(value, str) and value else None


def get_tokens(document: JSONMapping, name: str) -> int | None:
    """The number of tokens under a name; None for what can be none."""
    value = document.get(name)
    return value if type(value) is int and 0 <= value <= _MAX_TOKENS else None


def get_index(document: JSONMapping, name: str = "index") -> int:
    """The number of a place in a list; 0 without one."""
    value = document.get(name)
    return value if type(value) is int and value >= 0 else 0


def clean(text: str) -> str:
    """Without lone surrogates, which neither a file nor a database takes."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def clean_json(value: object) -> object:
    """JSON without lone surrogates. Raises MessageUnreadable where it is nested too deeply."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:  # writing may bear less than reading, and this has to be sent back
        raise MessageUnreadable("is nested too deeply") from None
    cleaned = clean(text)
    return value if cleaned == text else json.loads(cleaned)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def _no_number(text: str) -> float:
    raise ValueError(text)
