"""What keywords of a schema say, in words for a description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.schema.parameters import describe_limits
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_WORTH_WORDS = {"default", "minLength", "maxLength", "exclusiveMinimum", "exclusiveMaximum", "pattern", "format"}
_MAX_VALUE_CHARS = 120
_ENDS = (".", "!", "?", ":")


def describe(keywords: JSONObject, description: object) -> str:
    """The keywords as a phrase, as in `at least 1 characters`; a default is left out where the text has it."""
    said = {key: value for key, value in keywords.items() if key in _WORTH_WORDS}
    if isinstance(description, str) and "default" in description.lower():
        said.pop("default", None)
    others = [f"{key} {_short_json(value)}" for key, value in keywords.items() if key not in _WORTH_WORDS]
    return ", ".join(filter(None, [describe_limits(said), *others]))


def with_words(description: object, words: str) -> str:
    """A description, and the words behind it as a sentence."""
    text = description.strip() if isinstance(description, str) else ""
    sentence = f"{words[:1].upper()}{words[1:]}."
    return f"{text}{'' if text.endswith(_ENDS) else '.'} {sentence}" if text else sentence


def shorten(text: str, longest: int) -> str:
    """The text with at most so many characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _short_json(value: object) -> str:
    return shorten(strict_json.dumps(value).decode(), _MAX_VALUE_CHARS)
