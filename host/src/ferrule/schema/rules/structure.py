"""Warnings about schemas that are valid, and that a provider refuses or misreads for their shape."""

from __future__ import annotations

from ferrule.schema.rules.findings import GEMINI, OPENAI, Finding, format_value

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.schema.rules.nodes import Node

_SAFE_DEPTH = 5
_BELONGS_TO = (("properties", "object"), ("required", "object"), ("items", "array"))


def misplaced_keyword(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """`properties` and `required` belong to objects, `items` to arrays."""
    kind = schema.get("type")
    for keyword, owner in _BELONGS_TO:
        if node.plain and keyword in schema and isinstance(kind, str) and kind != owner:
            wrong = f"{format_value(keyword)} stands in a schema of type {format_value(kind)}"
            message = f"{wrong}: Gemini refuses every request with the tool in it."
            fix = f"Take it out, or set the type to {format_value(owner)}."
            yield Finding("misplaced-keyword", f"{node.pointer}/{keyword}", message, fix, refused_by=(GEMINI,))


def array_without_items(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """An array whose elements could be anything."""
    if schema.get("type") == "array" and "items" not in schema:
        message = "The array does not say what its items are: OpenAI and Gemini refuse every request with it."
        fix = 'Add "items" with a type, such as {"type": "string"}.'
        yield Finding("array-without-items", f"{node.pointer}/items", message, fix, refused_by=(OPENAI, GEMINI))


def object_without_properties(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """An object that could hold anything, or a tool without parameters."""
    if schema.get("type") != "object" or schema.get("properties", {}) != {}:
        return
    refused_by: tuple[str, ...] = (GEMINI,)
    if node.depth > 1:
        refused_by = (OPENAI, GEMINI)
        message = "The object names no properties: Gemini and OpenAI's strict mode refuse every request with it."
        fix = "Name its properties, or take a string of JSON and parse it in the tool."
    elif "properties" in schema:
        message = "The tool has no parameters: Gemini refuses every request with an empty 'properties' in it."
        fix = "Give it one optional parameter, such as a limit, or serve it to other providers only."
    else:
        return
    yield Finding("object-without-properties", f"{node.pointer}/properties", message, fix, refused_by=refused_by)


def nested_object(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """The client closes `parameters` for OpenAI's strict mode, and no object below it."""
    properties, required = schema.get("properties"), schema.get("required")
    if node.depth == 1 or not node.plain or schema.get("type") != "object":
        return
    if not isinstance(properties, dict) or not properties:
        return
    everything = isinstance(required, list | tuple) and all(name in required for name in properties)
    if everything and schema.get("additionalProperties") is False:
        return
    refused = "an object below the top level that is open or has optional properties"
    message = f"OpenAI's strict mode refuses every request with {refused}, and the client closes the top level only."
    fix = "Make its properties parameters of the tool, or take a string of JSON and parse it in the tool."
    yield Finding("nested-object", node.pointer, message, fix, refused_by=(OPENAI,))


def nesting_depth(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """The first object or array on the way down that is one level too many."""
    if node.plain and node.depth == _SAFE_DEPTH + 1 and schema.get("type") in ("object", "array"):
        gemini = "Gemini refuses what is nested too deeply, without saying how deep that is"
        openai = f"OpenAI takes 10 levels, {_SAFE_DEPTH} in older versions"
        message = f"This is level {_SAFE_DEPTH + 1} of nesting: {gemini}, and {openai}."
        fix = "Flatten it: one level of parameters is what models fill best."
        yield Finding("nesting-depth", node.pointer, message, fix)


def integer_enum(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """An `enum` of anything but strings."""
    values = schema.get("enum")
    if not isinstance(values, list | tuple):
        return
    if schema.get("type") == "string" and all(isinstance(value, str) for value in values):
        return
    gemini = "Gemini takes an 'enum' only where the type is 'string' and every value is one"
    message = f"{gemini}, and refuses every request with another; OpenAI and Anthropic take it."
    fix = "List strings and convert them in the tool, or use an integer with 'minimum' and 'maximum'."
    yield Finding("integer-enum", f"{node.pointer}/enum", message, fix, refused_by=(GEMINI,))


def empty_enum(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """An `enum` that lists nothing, or the empty string."""
    values = schema.get("enum")
    if not isinstance(values, list | tuple):
        return
    if not values:
        message = "The 'enum' lists nothing, so no value is ever right."
        yield Finding("empty-enum", f"{node.pointer}/enum", message, "List the values, or take the keyword out.")
    message = "The 'enum' lists the empty string: Gemini refuses every request with the tool in it."
    for index, value in enumerate(values):
        if value == "":
            fix = "Take it out, and let the parameter be optional."
            yield Finding("empty-enum", f"{node.pointer}/enum/{index}", message, fix, refused_by=(GEMINI,))
