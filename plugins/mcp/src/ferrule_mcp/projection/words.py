"""The texts of a projected schema: what the server says, and what keywords say that are not kept."""

from __future__ import annotations

from functools import lru_cache
from inspect import cleandoc
from typing import TYPE_CHECKING

from ferrule.schema.providers import say, with_words
from ferrule.text import invisible, strict_json

if TYPE_CHECKING:
    from ferrule import JSONObject

_ENDS = (". ", ".\n", "! ", "? ", "\n", "; ", ", ", " ")
_MAX_TEXT_CHARS = 20_000  # of a description; what comes after that nobody reads
_MAX_REMEMBERED = 512  # texts, which several attempts at one schema need
_MAX_LISTED_CHARS = 8000  # of an enum
_MAX_SAID_CHARS = 2000

ASSERTING = {
    *("enum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "uniqueItems", "allOf"),
    *("contains", "minContains", "maxContains", "unevaluatedItems", "not", "if", "dependentRequired"),
    *("minProperties", "maxProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
    *("dependentSchemas", "dependencies", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
}
"""Keywords that refuse a value, except those that a schema's structure consists of."""
_SAID = {*ASSERTING, "then", "else", "default", "format"} - {"enum"}


def clean(text: object) -> str:
    """What the server says, without hidden characters and common indentation; empty where that is no text."""
    return _clean(text) if isinstance(text, str) else ""


@lru_cache(_MAX_REMEMBERED)
def _clean(text: str) -> str:
    shown = text[:_MAX_TEXT_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    return cleandoc(invisible.without_invisible(shown)).strip()


def cut(text: str, most: int) -> str:
    """The beginning of a text, up to the end of a sentence or a word where one is near."""
    if len(text) <= most:
        return text
    if most < 2:
        return ""
    beginning = text[: most - 1]
    for end in _ENDS:
        at = beginning.rfind(end)
        if at > most // 2:
            return beginning[: at + 1].rstrip(" ,;\n") + "…"
    return beginning + "…"


def say_keywords(left: JSONObject, description: str) -> str:
    """Sentences, but for the last full stop, for keywords that are not kept; empty where none is worth one."""
    said = {key: value for key, value in left.items() if key in _SAID and _is_sayable(value)}
    if "default" in said and said["default"] in (None, "", [], {}):
        said.pop("default")
    return clean(say(said, description)) if said else ""


def join(description: str, *sentences: str) -> str:
    """A description with sentences behind it."""
    for sentence in sentences:
        if sentence:
            description = with_words(description, sentence)
    return description


def is_storable(value: object) -> bool:
    """Whether strict JSON can hold a value."""
    try:
        strict_json.dumps(value)
    except strict_json.Unrepresentable:
        return False
    return True


def is_long(value: object, most: int = _MAX_LISTED_CHARS) -> bool:
    """Whether a JSON value takes more characters than `most`, about; a long one is not looked at as a whole."""
    waiting, left = [value], most
    while waiting and left >= 0:
        one = waiting.pop()
        left -= len(one) if isinstance(one, str) else 2
        if isinstance(one, dict | list) and len(one) <= left:
            waiting += [*one.keys(), *one.values()] if isinstance(one, dict) else one
        elif isinstance(one, dict | list):
            return True
    return left < 0


def _is_sayable(value: object) -> bool:
    return not is_long(value, _MAX_SAID_CHARS) and is_storable(value)
