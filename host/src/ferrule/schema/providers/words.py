"""What keywords of a schema say, in words for a description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.schema.parameters import describe_limits
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_WORTH_WORDS = {"default", "minLength", "maxLength", "exclusiveMinimum", "exclusiveMaximum", "pattern", "format"}
_MAX_VALUE_CHARS = 120
_MAX_SCHEMA_CHARS = 300
_RANGES = (("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " items"))
_SENTENCES = {
    "exclusiveMinimum": "More than {}",
    "exclusiveMaximum": "Less than {}",
    "multipleOf": "A multiple of {}",
    "pattern": "Matches {}",
    "format": "Format: {}",
    "default": "Default: {}",
}
_FORMATS = {
    "uri": "A URI",
    "email": "An email address",
    "date": "A date, as in 2026-01-31",
    "date-time": "A date and time, as in 2026-01-31T12:00:00Z",
    "uuid": "A UUID",
}
_ENDS = (".", "!", "?", ":")


def describe(keywords: JSONObject, description: object) -> str:
    """The keywords as a phrase, as in `at least 1 characters`; a default is left out where the text has it."""
    said = {key: value for key, value in keywords.items() if key in _WORTH_WORDS}
    if isinstance(description, str) and "default" in description.lower():
        said.pop("default", None)
    others = [f"{key} {_short_json(value)}" for key, value in keywords.items() if key not in _WORTH_WORDS]
    return ", ".join(filter(None, [describe_limits(said), *others]))


def say(keywords: JSONObject, description: object) -> str:
    """The same as sentences, but for the last full stop: `From 1 to 20. Default: 10`."""
    left = dict(keywords)
    if isinstance(description, str) and "default" in description.lower():
        left.pop("default", None)
    sentences = [_range(left.pop(least, None), left.pop(most, None), unit) for least, most, unit in _RANGES]
    known = {keyword: left.pop(keyword) for keyword in _SENTENCES if keyword in left}
    if left.pop("uniqueItems", False) is True:
        sentences.append("No item twice")
    for keyword, value in known.items():
        text = value if isinstance(value, str) and value else _short_json(value)
        is_named = keyword == "format" and text in _FORMATS
        sentences.append(_FORMATS[text] if is_named else _SENTENCES[keyword].format(shorten(text, _MAX_VALUE_CHARS)))
    if left:
        sentences.append(must_fit(left))
    return ". ".join(filter(None, sentences))


def must_fit(schema: JSONObject) -> str:
    """What no other words are for."""
    return f"It must also fit: {shorten(strict_json.dumps(schema).decode(), _MAX_SCHEMA_CHARS)}"


def _range(least: object, most: object, unit: str) -> str:
    if least is not None and most is not None:
        return f"From {_short_json(least)} to {_short_json(most)}{unit}"
    if least is None and most is None:
        return ""
    bound = least if most is None else most
    return (
        f"At {'least' if most is None else 'most'} {_short_json(bound)}{unit.removesuffix('s') if bound == 1 else unit}"
    )


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
