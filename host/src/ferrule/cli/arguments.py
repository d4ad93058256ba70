"""`key=value` words of a command line, made the JSON arguments that a schema expects."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ferrule.installed.supervised_work import LOAD_SECONDS
from ferrule.plugin import computed_schema
from ferrule.schema import schema_file
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.config import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject


_TYPES = {"integer": (int, float), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,)}


class Pair:
    """One word: its key, its value as text, and whether that text is JSON (`key:=JSON`)."""

    def __init__(self, word: str) -> None:
        """Take a word apart. Raises ValueError where it is neither `key=value` nor `key:=JSON`."""
        key, sign, text = word.partition("=")
        self.is_json = key.endswith(":")
        self.key = key.removesuffix(":")
        self.text = text
        if not sign or not self.key:
            raise ValueError(f"{word!r} is neither key=value nor key:=JSON")


def schema_of(tool: InstalledTool, deadline: float, settings: Configuration) -> JSONObject:
    """The schema, which a plugin that computes it is asked for. Raises the error with which that failed."""
    until = min(deadline, time.monotonic() + LOAD_SECONDS)
    return schema_file.read_static(tool) or computed_schema.compute_schema(tool, until, settings)


def arguments(pairs: Iterable[Pair], schema: JSONObject) -> JSONObject:
    """The arguments that the pairs mean: each value in the type that the schema gives its key.

    A key that the schema has as an array may come several times, once for each item. What does not read as a value of
    its type stays text, so that the check of the arguments says what was expected. Raises ValueError for a key that
    comes twice without being an array, and for `:=` with what is not JSON.
    """
    properties = schema.get("parameters", {}).get("properties", {})
    found: JSONObject = {}
    for pair in pairs:
        expected = properties.get(pair.key)
        expected = expected if isinstance(expected, dict) else {}
        if pair.is_json:
            value = _json(pair)
        elif expected.get("type") == "array" and not pair.text.lstrip().startswith("["):
            value = [*_items(found.pop(pair.key, [])), _convert(pair.text, expected.get("items"))]
        else:
            value = _convert(pair.text, expected)
        if pair.key in found:
            raise ValueError(f"{pair.key!r} stands twice, and is not an array")
        found[pair.key] = value
    return found


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _json(pair: Pair) -> Any:
    try:
        return strict_json.loads(pair.text)
    except strict_json.MalformedJSON as error:
        raise ValueError(f"the value of {pair.key}:= is not JSON: {error}") from None


def _convert(text: str, schema: Any) -> Any:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind not in _TYPES:
        return text
    try:
        value = strict_json.loads(text.strip().lower() if kind == "boolean" else text)
    except strict_json.MalformedJSON:
        return text
    return value if type(value) in _TYPES[kind] else text
