"""Arguments that fit a provider's form of a schema, made into those that the tool takes.

A link that was written for a provider shows a schema in which, for instance, an object of anything is a text. What has
to be undone in a call stands in the link, as a tree of the places where something has changed.
"""

from __future__ import annotations

from ferrule.errors import ArgumentsInvalid
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import TypedDict

    from ferrule.text.json_types import JSONObject

    class Translation(TypedDict, total=False):
        """What to undo in one value, in this order; `{}` for nothing.

        values: the texts of an enum, each with the value that it stands for. json: a text that holds JSON: `object` or
        `array`, or `any` where other text is meant as it is. items: of each item. properties: by the names that the
        provider is shown. name: the argument's own name. is_unused: the argument is none of the tool's. optional:
        names of inner arguments that are left out where they are blank. nullable: names of those that are left out
        where they are null.
        """

        values: list[tuple[str, object]]
        json: str
        items: Translation
        properties: dict[str, Translation]
        name: str
        is_unused: bool
        optional: list[str]
        nullable: list[str]


_BLANK: tuple[object, ...] = (None, "", [], {})


def translate(arguments: JSONObject, translation: Translation) -> JSONObject:
    """The arguments as the tool takes them. What is not in the provider's form stays as it is.

    Raises ArgumentsInvalid where a text holds no JSON that should.
    """
    findings: list[str] = []
    translated = _object(arguments, translation, "", findings)
    if findings:
        raise ArgumentsInvalid(findings)
    return translated


def _value(value: object, translation: Translation, place: str, findings: list[str]) -> object:
    for text, meant in translation.get("values", ()):
        if isinstance(value, str) and value == text:
            return meant
    if "json" in translation and isinstance(value, str) and value:
        value = _read(value, translation["json"], place, findings)
    if isinstance(value, list) and "items" in translation:
        inner = translation["items"]
        return [_value(item, inner, f"{place}/{index}", findings) for index, item in enumerate(value)]
    return _object(value, translation, f"{place}/", findings) if isinstance(value, dict) else value


def _object(value: JSONObject, translation: Translation, place: str, findings: list[str]) -> JSONObject:
    shown, optional = translation.get("properties", {}), translation.get("optional", ())
    nullable = translation.get("nullable", ())
    translated = {}
    for name, inner in value.items():
        how = shown.get(name, {})
        if how.get("is_unused") or (inner is None and name in nullable):
            continue
        meant = _value(inner, how, f"{place}{name}", findings)
        if name not in optional or not any(type(meant) is type(blank) and meant == blank for blank in _BLANK):
            translated[how.get("name", name)] = meant
    return translated


def _read(text: str, kind: str, place: str, findings: list[str]) -> object:
    try:
        return strict_json.loads(text)
    except strict_json.MalformedJSON as error:
        if kind != "any":
            findings.append(f"{place}: expected a JSON {kind}, written as text: {error}")
        return text
