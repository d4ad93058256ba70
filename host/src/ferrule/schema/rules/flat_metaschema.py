"""The metaschema of JSON Schema 2020-12 as one schema, which a validator is through with in a ninth of the time.

As it is published it is eight schemas, in `allOf`, that refer to each other by `$dynamicRef`. Each place in a schema is
looked at eight times so, and each look follows several references. Nothing of what they say is written here again:
their properties, of which no two have one in common, are put together, and their definitions stand where they are used.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from jsonschema import FormatChecker
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

    from ferrule.text.json_types import JSONObject

_DEFINITIONS = "/$defs/"


def validator(checker: FormatChecker) -> Validator:
    """A validator whose instances are schemas. checker: of the formats that they are held to."""
    return _class()(_flat(), format_checker=checker)


@cache
def _class() -> type[Validator]:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    made = extend(Draft202012Validator, {"$dynamicRef": _once_more})  # type: ignore[no-untyped-call] # so its stubs
    return cast("type[Validator]", made)


def _once_more(validator: Validator, _reference: str, instance: object, _schema: object) -> Iterator[ValidationError]:
    """A schema in a schema: the only thing that the metaschema refers to by `$dynamicRef`."""
    yield from validator.descend(instance, _flat())  # type: ignore[attr-defined] # the protocol leaves it out


@cache
def _flat() -> JSONObject:
    from jsonschema import Draft202012Validator
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped] # it says nothing of types

    draft = cast("JSONObject", Draft202012Validator.META_SCHEMA)
    base = str(draft["$id"]).rpartition("/")[0]
    parts = [draft, *(REGISTRY.contents(f"{base}/{one['$ref']}") for one in draft["allOf"])]
    definitions = {name: one for part in parts for name, one in part.get("$defs", {}).items()}
    properties = {name: one for part in parts for name, one in part["properties"].items()}
    return {"type": draft["type"], "properties": _inline(properties, definitions)}


def _inline(node: object, definitions: Mapping[str, JSONObject]) -> object:
    """The same with each definition in place of the reference to it."""
    if isinstance(node, list):
        return [_inline(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    own = {name: _inline(one, definitions) for name, one in node.items()}
    reference = own.get("$ref")
    if not isinstance(reference, str):  # an object where `$ref` is the name of a property
        return own
    del own["$ref"]
    meant = _inline(definitions[reference.rpartition(_DEFINITIONS)[2]], definitions)
    return {**cast("JSONObject", meant), **own}
