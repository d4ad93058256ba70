"""What a provider takes of a schema that the client sends as it is: in OpenAI's strict mode, in Gemini's `parameters`.

Our own requests take the forms of `converters`, which need less. `plain` is for clients that take no more than
what every provider does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ferrule.schema.providers.words import describe, say
from ferrule.schema.rules.findings import ANTHROPIC, GEMINI, OPENAI
from ferrule.schema.rules.recommendations import LONGEST_DESCRIPTION

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

ANY_PROVIDER = "any provider"

_COMMON = {
    *("type", "title", "description", "enum", "items", "properties", "required"),
    *("minimum", "maximum", "minItems", "maxItems"),
}
_OPENAI_FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
_GEMINI_FORMATS = {"date-time", "enum", "float", "double", "int32", "int64"}


class Profile(NamedTuple):
    """What one provider takes.

    provider: as findings have it, or ANY_PROVIDER. keywords: those that it takes; None where it takes all that stand
    below the top level. takes: whether it takes this value of a keyword. is_strict: every object is closed, and all of
    its properties are required. has_text_enums: an enum is of texts, none of them empty. takes_no_parameters: a tool
    may have none. levels: of objects and arrays that it reads. description_chars: of a tool's description. say: puts
    keywords that it does not take into words; it is given the description, too. has_nulls: a client may make a strict
    schema of it, by which a model sends null for what it leaves out.
    """

    provider: str
    keywords: frozenset[str] | None
    takes: Callable[[str, object], bool] = lambda _keyword, _value: True
    is_strict: bool = False
    has_text_enums: bool = False
    takes_no_parameters: bool = True
    levels: int = 64
    description_chars: int | None = None
    say: Callable[[JSONObject, object], str] = describe
    has_nulls: bool = False


def _openai_takes(keyword: str, value: object) -> bool:
    if keyword == "pattern":
        return "(?" not in str(value)  # which begins a lookaround
    return keyword != "format" or value in _OPENAI_FORMATS


def _gemini_takes(keyword: str, value: object) -> bool:
    return keyword != "format" or value in _GEMINI_FORMATS


PROFILES = {
    "openai": Profile(
        OPENAI,
        frozenset({*_COMMON, "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format"}),
        _openai_takes,
        is_strict=True,
        levels=10,
        description_chars=LONGEST_DESCRIPTION,
    ),
    "gemini": Profile(
        GEMINI,
        frozenset({*_COMMON, "minLength", "maxLength", "pattern", "default", "format"}),
        _gemini_takes,
        has_text_enums=True,
        takes_no_parameters=False,
        levels=5,
    ),
    "anthropic": Profile(ANTHROPIC, None),
    "plain": Profile(
        ANY_PROVIDER,
        frozenset({"type", "description", "properties", "required", "items", "enum"}),
        has_text_enums=True,
        levels=10,
        say=say,
        has_nulls=True,
    ),
}
"""Every provider by the name that `ferrule link --for` has for it."""
