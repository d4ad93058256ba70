"""Whether a value fits a schema, by the whole of JSON Schema: a foreign schema may use any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

_MAX_SHOWN_CHARS = 200


def find_misfits(value: object, schema: JSONObject) -> list[str]:
    """A sentence for each place where the value does not fit; one sentence where the schema cannot be used."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # Without a registry of its own, jsonschema would fetch what a reference names.
    registry: Registry[bool | JSONMapping] = Registry()
    try:
        errors = list(Draft202012Validator(schema, registry=registry).iter_errors(value))
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a schema of somebody else
        return [f"the schema cannot be used: {type(error).__name__}: {str(error)[:_MAX_SHOWN_CHARS]}"]
    places = ("/".join(map(str, one.absolute_path)) or "the top" for one in errors)
    return [f"{place}: {one.message[-_MAX_SHOWN_CHARS:]}" for place, one in zip(places, errors, strict=True)]
