"""Arguments that a schema has clients repeat in a header (`x-mcp-header`), so that a balancer can decide on them.

What the headers say has to be what the body says: else a request would be sent by one value and answered by another.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, NamedTuple

from ferrule_serve.protocol.vocabulary import HEADER_MISMATCH, RequestError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrule.text.json_types import JSONMapping, JSONObject

_KEY = "x-mcp-header"
_PREFIX = "mcp-param-"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_ENCODED = re.compile(r"=\?base64\?(?P<data>[A-Za-z0-9+/]*={0,2})\?=")
_WHOLE_NUMBER = re.compile(r"(?P<digits>-?[0-9]{1,400})(\.0+)?")
_KINDS = ("integer", "string", "boolean")


class HeaderParameter(NamedTuple):
    """One argument. path: of names of properties. header: in small letters. kind: of JSON Schema."""

    path: tuple[str, ...]
    header: str
    kind: str


def header_parameters(schema: JSONMapping) -> tuple[HeaderParameter, ...]:
    """Those of a schema; none where one of them is wrong, since clients then repeat none of them."""
    try:
        found = tuple(_declared(schema, ()))
    except ValueError:
        return ()
    return found if len({one.header for one in found}) == len(found) else ()


def check_parameters(
    parameters: Sequence[HeaderParameter], arguments: JSONObject, headers: Sequence[tuple[bytes, bytes]]
) -> None:
    """Raise RequestError where a header does not say what the arguments say."""
    for parameter in parameters:
        said = [value.decode("latin-1") for name, value in headers if name.decode("latin-1") == parameter.header]
        value = _value_at(parameter.path, arguments)
        written = _write(value)
        if not said and written is None:
            continue
        if len(said) != 1 or written is None or not _is_same(parameter.kind, value, written, decode(said[0])):
            where = ".".join(parameter.path)
            raise RequestError(HEADER_MISMATCH, f"The header {parameter.header} does not match the argument {where}.")


def decode(value: str | None) -> str | None:
    """The text that a header carries, in base64 where it could not stand there itself; None where that is broken."""
    found = _ENCODED.fullmatch(value) if value is not None else None
    if found is None:
        return value
    try:
        data = base64.b64decode(found["data"], validate=True)
        return data.decode() if base64.b64encode(data).decode() == found["data"] else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _declared(schema: object, path: tuple[str, ...]) -> Iterator[HeaderParameter]:
    """Those of one schema and its properties. Raises ValueError for one that no client could repeat."""
    if not isinstance(schema, dict):
        return
    if _KEY in schema:
        header, kind = schema[_KEY], schema.get("type")
        if not path or not isinstance(header, str) or not _TOKEN.fullmatch(header) or kind not in _KINDS:
            raise ValueError(path)
        yield HeaderParameter(path, _PREFIX + header.lower(), kind)
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        yield from _declared(inner, (*path, name))


def _value_at(path: tuple[str, ...], arguments: object) -> object:
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, dict) else None
    return arguments


def _write(value: object) -> str | None:
    """The value as clients write it into a header, None for what has no such form."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        return None
    try:
        return str(value)
    except ValueError:
        return None  # a number of thousands of digits


def _is_same(kind: str, value: object, written: str, said: str | None) -> bool:
    """Whether a header says the value; 42 and 42.0 are one integer."""
    number = _WHOLE_NUMBER.fullmatch(said or "")
    if number and kind == "integer" and isinstance(value, int | float) and not isinstance(value, bool):
        return value == int(number["digits"])
    return written == said
