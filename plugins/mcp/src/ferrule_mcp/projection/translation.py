"""Arguments that fit the projected schema, made into those that the server takes.

This is on the path of every call, so it imports nothing until it is needed. What has to be undone is a tree of the
places where the projection has changed something; a place without an entry keeps its value as it is.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import TypedDict

    from ferrule import JSONObject

    class Translation(TypedDict, total=False):
        """What to undo in one value; `{}` for nothing. It is JSON, so that it can be kept in a file.

        values: what each text of an enum stands for. json: the kinds of values that a text may
        hold as JSON; `string` among them says that other text is meant as it is. blank: the text `""` is an empty text.
        items: of each item. properties: by the names that are shown. name: the server's name of the argument. rest: the
        argument that holds further ones, which are taken as they are. absent: the server's names of arguments that are
        null where they are left out.
        """

        values: dict[str, object]
        json: list[str]
        blank: bool
        items: Translation
        properties: dict[str, Translation]
        name: str
        rest: str
        absent: list[str]


def translate_arguments(translation: JSONObject, arguments: JSONObject) -> JSONObject:
    """The arguments as the server takes them.

    translation: as the projection has it. arguments: as they fit the projected schema. Raises ArgumentsInvalid where a
    text should hold JSON and does not.
    """
    if not translation:
        return arguments
    findings: list[str] = []
    translated = _object(arguments, translation, "", findings)
    if findings:
        from ferrule.errors import ArgumentsInvalid

        raise ArgumentsInvalid(findings)
    return translated


def _value(value: object, how: JSONObject, place: str, findings: list[str]) -> object:
    if isinstance(value, str):
        return _text(value, how, place, findings)
    if isinstance(value, list) and "items" in how:
        return [_value(item, how["items"], f"{place}/{index}", findings) for index, item in enumerate(value)]
    return _object(value, how, f"{place}/", findings) if isinstance(value, dict) else value


def _object(value: JSONObject, how: JSONObject, place: str, findings: list[str]) -> JSONObject:
    shown, rest = how.get("properties", {}), how.get("rest")
    translated: JSONObject = dict.fromkeys(how.get("absent", ()))
    for name, inner in value.items():
        if name != rest:
            inner_how = shown.get(name)
            meant = _value(inner, inner_how, f"{place}{name}", findings) if inner_how else inner
            translated[inner_how.get("name", name) if inner_how else name] = meant
    further = _value(value[rest], {"json": ["object"]}, f"{place}{rest}", findings) if rest in value else None
    return {**translated, **further} if isinstance(further, dict) else translated


def _text(text: str, how: JSONObject, place: str, findings: list[str]) -> object:
    """The value that a text stands for: one of an enum, or what it holds as JSON where it may hold that."""
    if "values" in how:
        return how["values"].get(text, text)
    if "json" not in how and "blank" not in how:
        return text
    kinds = how.get("json", ("string",))
    value = _parse(text)
    if value is not _parse and not isinstance(value, str) and name_kind(value, kinds):
        return value
    if "string" not in kinds:
        findings.append(f"{place}: expected JSON ({' or '.join(kinds)}), written as text")
        return text
    # Quotation marks are taken off only where the text would be read as something else without them.
    is_quoted = isinstance(value, str) and (
        _text(value, how, place, findings) != value or (not value and "blank" in how)
    )
    return value if is_quoted else text


def name_kind(value: object, kinds: Collection[str]) -> str | None:
    """The one of these kinds that a JSON value is of; None where it is of no such kind."""
    if value is None or isinstance(value, bool):
        kind = "null" if value is None else "boolean"
    elif isinstance(value, int | float):
        is_whole = isinstance(value, int) or value.is_integer()
        kind = "integer" if "integer" in kinds and is_whole else "number"
    else:
        kind = "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
    return kind if kind in kinds else None


def _parse(text: str) -> object:
    """The JSON value in a text; this function itself where the text holds none."""
    from ferrule.text import strict_json

    try:
        return strict_json.loads(text)
    except strict_json.MalformedJSON:
        return _parse
