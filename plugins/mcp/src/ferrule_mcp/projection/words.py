"""The texts of a projected schema: what the server says, and what keywords say that are not kept."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING

from ferrule.schema.providers import say, with_words
from ferrule.text import invisible, strict_json

if TYPE_CHECKING:
    from ferrule import JSONObject

_ENDS = (". ", ".\n", "! ", "? ", "\n", "; ", ", ", " ")
_MAX_SAID_PARTS = 60  # values in a keyword that is put into words
_MAX_SAID_CHARS = 2000

ASSERTING = {
    *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "uniqueItems", "allOf"),
    *("contains", "minContains", "maxContains", "unevaluatedItems", "not", "if", "dependentRequired"),
    *("minProperties", "maxProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
    *("dependentSchemas", "dependencies", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
}
"""Keywords that refuse a value, beside those that the structure of a schema consists of."""
_SAID = {*ASSERTING, "then", "else", "default", "format"}


def clean(text: object, most: int) -> str:
    """What the server says, in about so many characters at most: without hidden characters and common indentation."""
    if not isinstance(text, str):
        return ""
    shown = text[: 4 * most].replace("\r\n", "\n").replace("\r", "\n")
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
    return clean(say(said, description), _MAX_SAID_CHARS) if said else ""


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


def _is_sayable(value: object) -> bool:
    waiting, parts = [value], 0
    while waiting:
        one = waiting.pop()
        parts += 1
        if parts > _MAX_SAID_PARTS or (isinstance(one, str) and len(one) > _MAX_SAID_CHARS):
            return False
        waiting += [*one.keys(), *one.values()] if isinstance(one, dict) else one if isinstance(one, list) else []
    return is_storable(value)
