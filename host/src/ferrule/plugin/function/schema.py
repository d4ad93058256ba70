"""The schema of a function: its name, its docstring, and its parameters as the format can say them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import msgspec

from ferrule.errors import SchemaInvalid
from ferrule.plugin.function.annotations import NotDescribable, Rewriter, describe_default, is_object
from ferrule.plugin.function.conversion import bare, show, to_json
from ferrule.plugin.function.signature import is_context
from ferrule.schema.arguments import check
from ferrule.schema.rules.contract import contract_errors
from ferrule.text import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.plugin.function.signature import Definition
    from ferrule.text.json_types import JSONObject

_FREE_OBJECT = "Name its keys with a TypedDict or a dataclass, or take a list of such with the key as a field."


def make_schema(definition: Definition) -> JSONObject:
    """The schema of a function tool, as `schema.json` has it.

    Raises SchemaInvalid with the parameter that the format cannot describe, and the way out.
    """
    description = inspect.cleandoc(definition.function.__doc__ or "").strip()
    if not description:
        raise SchemaInvalid(
            f"The function of {definition.name} has no docstring.",
            hint="Write what the tool does and when to use it: a model chooses the tool by that.",
        )
    try:
        properties, required = _describe_parameters(definition)
    except NotDescribable as error:
        raise SchemaInvalid(
            f"The parameter {error.place!r} of {definition.name} cannot be described: {error.problem}.",
            hint=error.way_out,
        ) from None
    parameters: JSONObject = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    schema = {"name": definition.name, "description": description, "parameters": parameters}
    for finding in contract_errors(schema, name=definition.name, size=len(strict_json.dumps(schema)) + 1):
        raise SchemaInvalid(f"The schema of {definition.name} is not valid: {finding.message}", hint=finding.fix)
    return schema


def make_result_schema(definition: Definition) -> JSONObject | None:
    """The JSON Schema of what the function returns, where that is a TypedDict or a dataclass; None for anything else.

    Raises SchemaInvalid where it has a field that JSON Schema cannot describe.
    """
    annotation = bare(definition.type_of("return"))
    if not is_object(annotation):
        return None
    try:
        return _generate(Rewriter(is_result=True).rewrite(annotation, "result"), "result")
    except NotDescribable as error:
        raise SchemaInvalid(
            f"What {definition.name} returns cannot be described, {error.place}: {error.problem}.", hint=error.way_out
        ) from None


def _describe_parameters(definition: Definition) -> tuple[JSONObject, list[str]]:
    properties: JSONObject = {}
    required = []
    for name, parameter in inspect.signature(definition.function).parameters.items():
        if is_context(definition.type_of(name)):
            continue
        _require_named(parameter)
        properties[name] = _describe(parameter, definition.type_of(name))
        if parameter.default is parameter.empty:
            required.append(name)
    return properties, required


def _describe(parameter: inspect.Parameter, annotation: object) -> JSONObject:
    name, has_default = parameter.name, parameter.default is not parameter.empty
    if annotation is None:
        raise NotDescribable(name, "it has no type", f"Annotate it, such as `{name}: str`.")
    if isinstance(annotation, str) or hasattr(annotation, "__forward_arg__"):
        raise NotDescribable(name, f"its type {show(annotation)} is not known", "Define or import it at the module.")
    told = describe_default(parameter.default) if has_default else ""
    described = _generate(Rewriter().rewrite(annotation, name, may_be_left_out=has_default, default=told), name)
    for found in _find_unsayable(described, name):
        raise found
    if has_default and parameter.default is not None:
        _require_fitting_default(parameter, described)
    return described


def _generate(rewritten: object, place: str) -> JSONObject:
    """What msgspec makes of the type, references written out."""
    try:
        made = msgspec.json.schema(rewritten)
    except TypeError as error:
        raise NotDescribable(place, str(error).partition("\n")[0], "Give it a type that JSON has.") from None
    written: JSONObject = _write_out(made, made.pop("$defs", {}))
    return written


def _write_out(node: Any, definitions: JSONObject) -> Any:
    """The node with definitions in place of references, without titles and formats, in the usual order of keywords."""
    if isinstance(node, list):
        return [_write_out(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        node = {**definitions[node["$ref"].rpartition("/")[2]], **{k: v for k, v in node.items() if k != "$ref"}}
    written = {key: node[key] for key in ("type", "description") if key in node}
    for key, value in node.items():
        if key == "properties":
            written[key] = {name: _write_out(inner, definitions) for name, inner in value.items()}
        elif key == "enum" or key in written:
            written[key] = value
        elif key not in ("title", "format", "default", "uniqueItems"):
            written[key] = _write_out(value, definitions)
    return written


def _find_unsayable(node: JSONObject, place: str) -> Iterator[NotDescribable]:
    """What a schema has that the format has not."""
    if "prefixItems" in node:
        fix = "Use a list of one type, or a dataclass with a field for each place."
        yield NotDescribable(place, "the format has no list whose places have types of their own", fix)
    elif node["type"] == "array":
        items = node.get("items")
        if not items:
            yield NotDescribable(place, "a list needs a type for its items", "Name it, such as list[str].")
        else:
            yield from _find_unsayable(items, f"{place}[]")
    elif node["type"] == "object":
        if not node.get("properties"):
            yield NotDescribable(place, "the format has no object with free keys", _FREE_OBJECT)
        for name, inner in node.get("properties", {}).items():
            yield from _find_unsayable(inner, f"{place}.{name}")


def _require_named(parameter: inspect.Parameter) -> None:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise NotDescribable(str(parameter).partition(":")[0], "the format has no further arguments", "Name each one.")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise NotDescribable(parameter.name, "arguments have names, and it takes none", "Take the `/` away.")


def _require_fitting_default(parameter: inspect.Parameter, described: JSONObject) -> None:
    for finding in check(to_json(parameter.default), described):
        problem = finding.partition(": ")[2] or finding
        raise NotDescribable(parameter.name, f"its default does not fit: {problem}", "Correct the default or the type.")
