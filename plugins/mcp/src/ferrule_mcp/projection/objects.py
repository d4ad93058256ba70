"""An object in the format of ferrule: its properties, null where one may have it, and what has no place of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_mcp.projection import losses, words
from ferrule_mcp.projection.alternatives import ANY, Alternative, Source
from ferrule_mcp.projection.forms import MAX_FORMS, Form, Place, TooLarge
from ferrule_mcp.projection.names import make_unique, name_parameters

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from ferrule import JSONObject
    from ferrule_mcp.projection.alternatives import Union
    from ferrule_mcp.projection.forms import Writer

_REST = "other_arguments"
_MAX_NAMED = 20  # arguments that the description of the rest names


class _Property(NamedTuple):
    """alternatives: of its values, without null where that is another way of leaving it out."""

    name: str
    alternatives: list[Alternative]
    is_required: bool
    is_null_when_absent: bool = False
    needs_rest: bool = False


def write_object(writer: Writer, one: Alternative, place: Place, hints: dict[str, str]) -> Form:
    """Write the form of an object.

    Args:
        writer: of the schema that it is a part of.
        one: the object, alternatives merged.
        place: where it stands.
        hints: by a property, when it is meant.

    Returns:
        The form; its translation names what is renamed, null where left out, or in the argument for the rest.
    """
    required_names = set(one.required)
    names = [*one.properties, *(name for name in one.required if name not in one.properties)]
    shown_names, folded = _choose(writer, names, required_names, place)
    unions = {name: one.properties.get(name, [(Source(True),)]) for name in shown_names}
    read = (_read_property(writer, name, union, name in required_names, place) for name, union in unions.items())
    kept = [prop for prop in read if prop is not None]
    renamed = name_parameters(prop.name for prop in kept)
    schema: JSONObject = {"type": "object", "properties": {}}
    translation: JSONObject = {}
    for prop in kept:
        shown = renamed.get(prop.name, prop.name)
        form = _write_property(writer, prop, place, hints.get(prop.name, ""))
        schema["properties"][shown] = form.schema
        how = {**form.translation, "name": prop.name} if shown != prop.name else form.translation
        if how:
            translation.setdefault("properties", {})[shown] = how
        if shown != prop.name:
            writer.lost.add(losses.NAME, place.enter(prop.name).path, f"to {shown}")
    required = [renamed.get(prop.name, prop.name) for prop in kept if prop.is_required]
    if required:
        schema["required"] = required
    absent = [prop.name for prop in kept if prop.is_null_when_absent]
    if absent:
        translation["absent"] = absent
    _add_rest(writer, schema, translation, [prop for prop in kept if prop.needs_rest], folded, place, one)
    _tell_extras(writer, one, place)
    return Form(writer.describe(schema, one, place, _describe_extras(writer, one)), translation)


def _read_property(writer: Writer, name: str, union: Union, is_required: bool, place: Place) -> _Property | None:
    alternatives = writer.unfolding.unfold(union)
    if not alternatives or not words.is_storable(name):
        writer.lost.add(losses.IMPOSSIBLE, place.enter(name).path)
        return None
    others = [one for one in alternatives if one.kind != "null"]
    if not others or len(others) == len(alternatives) or any(one.kind == ANY for one in others):
        return _allow_empty_list(_Property(name, alternatives, is_required), place)
    is_mixed = len({one.kind for one in others}) > 1 or any(one.is_cut for one in others)
    is_listed = all(one.values is not None or one.kind == "boolean" for one in others)
    if is_required:
        is_blank_dropped = place.level == 1 and any(one.kind in ("string", "array") for one in others)
        if is_mixed or is_listed or is_blank_dropped:
            return _Property(name, alternatives, True)
        return _Property(name, others, False, is_null_when_absent=True)
    if not is_mixed and all(one.keywords.get("default", "") is None for one in alternatives):
        return _Property(name, others, False)
    if is_mixed or is_listed:
        return _Property(name, alternatives, False)
    return _Property(name, others, False, needs_rest=True)


def _find_default(alternatives: list[Alternative]) -> list[object]:
    """What is taken where the property is left out, in a list; nothing where no alternative says it."""
    return next(([one.keywords["default"]] for one in alternatives if "default" in one.keywords), [])


def _allow_empty_list(prop: _Property, place: Place) -> _Property:
    """The host leaves out an empty list at the top, which would become the default."""
    default = _find_default(prop.alternatives)
    is_list = place.level == 1 and not prop.is_required and prop.alternatives[0].kind == "array"
    return prop._replace(needs_rest=True) if is_list and default and default[0] else prop


def _choose(
    writer: Writer, names: Iterable[str], required: Container[str], place: Place
) -> tuple[list[str], list[str]]:
    """The properties that are shown, and those for which there is no room. Raises TooLarge where there are too many."""
    left = writer.room.optional
    kept: list[str] = []
    folded: list[str] = []
    for name in names:
        if name not in required and left is not None and place.level == 1:
            left -= 1
            (kept if left >= 0 else folded).append(name)
        else:
            kept.append(name)
    if len(kept) > MAX_FORMS:
        raise TooLarge
    for name in folded:
        writer.lost.add(losses.FOLDED, place.enter(name).path)
    return kept, folded


def _write_property(writer: Writer, prop: _Property, place: Place, hint: str) -> Form:
    inside = place.enter(prop.name, hint)
    if prop.is_null_when_absent:
        inside = inside._replace(hint=words.join(hint, "null where it is left out").rstrip("."))
    default = _find_default(prop.alternatives)
    form = writer.write(prop.alternatives, inside)
    # The host leaves out an empty text at the top, which would become the default: two quotation marks stand for it.
    takes_blank = form.schema["type"] == "string" and "enum" not in form.schema and "minLength" not in form.schema
    has_text = "json" not in form.translation or "string" in form.translation["json"]
    if (
        takes_blank
        and has_text
        and place.level == 1
        and not prop.is_required
        and default
        and default[0] not in ("", None)
    ):
        return form._replace(translation={**form.translation, "blank": True})
    return form


def _add_rest(
    writer: Writer,
    schema: JSONObject,
    translation: JSONObject,
    named: list[_Property],
    folded: list[str],
    place: Place,
    one: Alternative,
) -> None:
    """The argument for all that has none of its own: it takes an object, which is merged into the others.

    Args:
        named: properties that may be null, or an empty list, which is another thing than to leave them out.
        folded: properties for which there is no room.
        one: the object; where it is the arguments and says that there may be others, they come in this way.
    """
    is_open = place.level == 1 and one.is_open
    if not (named or folded or is_open):
        return
    shown = make_unique(_REST, schema["properties"])
    sentences = []
    if folded:
        room = max(writer.room.sketch_chars, 200)
        rest = Alternative(kind="object", properties={name: one.properties[name] for name in folded})
        sentences.append(f"further arguments, a JSON object written as text: {writer.sketch_in([rest], room)}")
    if named:
        names = ", ".join(prop.name for prop in named[:_MAX_NAMED])
        sentences.append(f"a JSON object, written as text, for what is null or empty and not merely left out: {names}")
    if is_open:
        sentences.append("arguments that have no name here, as a JSON object written as text")
    schema["properties"][shown] = {"type": "string", "description": words.join("", *sentences)}
    translation["rest"] = shown


def _tell_extras(writer: Writer, one: Alternative, place: Place) -> None:
    if place.level > 1 and one.extras is not None:
        writer.lost.add(losses.UNCHECKED, place.path, "additionalProperties")


def _describe_extras(writer: Writer, one: Alternative) -> str:
    if not one.extras or not writer.room.sketch_chars:
        return ""
    drawn = writer.sketch(writer.unfolding.unfold(one.extras))
    what = "other fields" if one.properties else "any names"
    return f"{what} with values of the form {drawn}" if drawn else ""
