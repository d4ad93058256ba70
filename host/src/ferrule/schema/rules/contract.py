"""The rules of the format and the limits of the client, one generator a rule.

A tool whose schema breaks one of them is not registered. This is on the path of `--schema`, so it imports no
more than the names below.
"""

from __future__ import annotations

from ferrule.schema.rules.findings import Finding, format_value, pointer_to
from ferrule.schema.rules.hidden_text import hidden_characters
from ferrule.schema.rules.nodes import MAX_LEVELS, plain_nodes
from ferrule.text.names import executable_name, is_tool_name
from ferrule.text.visibility import may_json_hide

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.schema.rules.nodes import Node

MAX_BYTES = 8191
"""What the client reads of a schema; one byte more, and it drops the tool without a word."""

TYPES = ("string", "integer", "number", "boolean", "array", "object")

_FIELDS = (("name", str, "a string"), ("description", str, "a string"), ("parameters", dict, "an object"))
_OTHER_WORDS = {
    "string": ("str", "text"),
    "integer": ("int",),
    "number": ("float", "double"),
    "boolean": ("bool",),
    "array": ("list", "tuple"),
    "object": ("dict", "map"),
}


def contract_errors(
    schema: object, *, name: str | None = None, size: int | None = None, printed: bytes | None = None
) -> list[Finding]:
    """The errors that cost nothing to find: the rules of the format, and the client's limits.

    Args:
        name: as for `check`.
        size: bytes of the printed schema, newline included; None leaves it unchecked.
        printed: the schema as JSON, of which one look may say that it hides nothing.
    """
    return [
        *too_large(size),
        *too_deep(schema),
        *required_fields(schema),
        *name_format(schema),
        *name_mismatch(schema, name),
        *parameters_structure(schema),
        *property_type(schema),
        *required_undefined(schema),
        *(hidden_characters(schema) if printed is None or may_json_hide(printed) else ()),
    ]


def too_large(size: int | None) -> Iterator[Finding]:
    """The client reads 8,191 bytes and no more, so what is longer is broken JSON to it."""
    if size is not None and size > MAX_BYTES:
        message = f"The printed schema has {size:,} bytes: the client drops a tool that prints more than {MAX_BYTES:,}."
        fix = f"Take out {size - MAX_BYTES:,} bytes: descriptions and enums are where they usually are."
        yield Finding("too-large", "", message, fix)


def too_deep(document: object) -> Iterator[Finding]:
    """No client or provider reads such a document, and a recursive reader dies of it."""
    if not is_too_deep(document):
        return
    waiting: list[tuple[str, object, int]] = [("", document, 1)]
    while waiting:
        pointer, value, level = waiting.pop()
        if not isinstance(value, dict | list | tuple):
            continue
        if level > MAX_LEVELS:
            yield too_deep_at(pointer)
            return
        members = value.items() if isinstance(value, dict) else enumerate(value)
        waiting.extend((pointer_to(pointer, key), inner, level + 1) for key, inner in members)


def is_too_deep(document: object) -> bool:
    """Whether `too_deep` finds something, without the pointer, which takes most of the time."""
    layer = [document]
    for _ in range(MAX_LEVELS):
        inside: list[object] = []
        for value in layer:
            if isinstance(value, dict):
                inside.extend(value.values())
            elif isinstance(value, (list, tuple)):
                inside.extend(value)
        layer = inside
    return any(isinstance(value, (dict, list, tuple)) for value in layer)


def too_deep_at(pointer: str) -> Finding:
    """The finding of `too_deep`, for other code that meets such a document."""
    message = f"The schema has more than {MAX_LEVELS} levels of JSON: no client and no provider reads it."
    return Finding("too-deep", pointer, message, "Flatten it: one level of parameters is what models fill best.")


def required_fields(document: object) -> Iterator[Finding]:
    """`name`, `description` and `parameters` are there, and of their types."""
    rule = "required-fields"
    if not isinstance(document, dict):
        fix = 'Print one object: {"name": ..., "description": ..., "parameters": ...}.'
        yield _unregistered(rule, "", f"The schema is {format_value(document)}, not an object", fix)
        return
    for field, kind, wanted in _FIELDS:
        if field not in document:
            wrong = f"The field {field!r} is missing"
        elif not isinstance(document[field], kind):
            wrong = f"The field {field!r} is {format_value(document[field])}, not {wanted}"
        else:
            continue
        yield _unregistered(rule, f"/{field}", wrong, f"Give {field!r} {wanted} at the top level.")


def name_format(document: object) -> Iterator[Finding]:
    """ASCII letters, digits and underscores: what every provider takes."""
    name = _member(document, "name")
    if not isinstance(name, str) or is_tool_name(name):
        return
    wrong = f"The name {format_value(name)} has other characters than ASCII letters, digits and underscores"
    yield _unregistered("name-format", "/name", wrong if name else "The name is empty", "Use snake_case: web_search.")


def name_mismatch(document: object, name: str | None) -> Iterator[Finding]:
    """The client takes the name from the file, the model from the schema: they have to be one."""
    own = _member(document, "name")
    if name is None or not isinstance(own, str) or own == name:
        return
    rename = f", or call the executable {executable_name(own)!r}" if is_tool_name(own) else ""
    wrong = f"The file name or the entry point calls the tool {format_value(name)}, and its schema {format_value(own)}"
    cost = "the client would register it under the first, and its answers and hints name the second"
    yield Finding("name-mismatch", "/name", f"{wrong}: {cost}.", f'Set "name" to {format_value(name)}{rename}.')


def parameters_structure(document: object) -> Iterator[Finding]:
    """`parameters` is the schema of an object, and says so."""
    rule, parameters = "parameters-structure", _member(document, "parameters")
    if not isinstance(parameters, dict):
        return
    if parameters.get("type") != "object":
        wrong = f"The type of 'parameters' is {format_value(parameters.get('type'))}"
        wrong = wrong if "type" in parameters else "'parameters' has no type"
        yield _unregistered(rule, "/parameters/type", wrong, 'Set it to "object".')
    if not isinstance(parameters.get("properties"), dict):
        wrong = f"'properties' is {format_value(parameters.get('properties'))}, not an object"
        wrong = wrong if "properties" in parameters else "'parameters' has no 'properties'"
        fix = "Map each parameter's name to its schema; a tool without parameters has {}."
        yield _unregistered(rule, "/parameters/properties", wrong, fix)


def property_type(document: object) -> Iterator[Finding]:
    """Every property and every `items`, at any depth, is an object that has one of the six types."""
    rule = "property-type"
    for node in plain_nodes(document):
        if node.depth == 1:
            continue
        if not isinstance(node.schema, dict):
            wrong = f"{_subject(node)} is {format_value(node.schema)}, not a schema"
            yield _unregistered(rule, node.pointer, wrong, 'Put a schema there, such as {"type": "string"}.')
            continue
        yield from _type_of(node, node.schema)
        properties = node.schema.get("properties", {})
        if not isinstance(properties, dict):
            wrong = f"The nested 'properties' is {format_value(properties)}, not an object"
            fix = "Map each nested property's name to its schema."
            yield _unregistered(rule, f"{node.pointer}/properties", wrong, fix)


def _type_of(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    kind = schema.get("type")
    if isinstance(kind, str) and kind in TYPES:
        return
    fix = f"Use one of {', '.join(TYPES)}."
    if "type" not in schema:
        wrong = "has no type"
    elif isinstance(kind, list | tuple):
        wrong = "has a list of types, where the format has one"
        fix = "Name the one type that the tool works with; what may be absent stays out of 'required'."
    else:
        wrong = f"has the type {format_value(kind)}, which the format does not have"
        meant = _meant(kind)
        fix = f'Write "{meant}".' if meant else fix
    yield _unregistered("property-type", f"{node.pointer}/type", f"{_subject(node)} {wrong}", fix)


def required_undefined(document: object) -> Iterator[Finding]:
    """`required`, at any depth, is a list of names of defined properties, each of them once."""
    for node in plain_nodes(document):
        if not isinstance(node.schema, dict) or "required" not in node.schema:
            continue
        required, properties = node.schema["required"], node.schema.get("properties")
        if isinstance(required, list | tuple):
            yield from _required_names(node, required, properties if isinstance(properties, dict) else {})
        else:
            wrong = f"'required' is {format_value(required)}, not a list of names"
            fix = "List the names of required properties, in the object that defines them."
            yield _unregistered("required-undefined", f"{node.pointer}/required", wrong, fix)


def _required_names(
    node: Node, required: list[object] | tuple[object, ...], properties: dict[object, object]
) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, name in enumerate(required):
        if not isinstance(name, str):
            wrong, fix = f"holds {format_value(name)}, where names belong", "Put names of properties there."
        elif name in seen:
            wrong, fix = f"names {format_value(name)} twice", "Name it once."
        elif name not in properties:
            wrong, fix = f"names {format_value(name)}, which 'properties' has not", "Define it, or take it out."
        else:
            seen.add(name)
            continue
        yield _unregistered("required-undefined", f"{node.pointer}/required/{index}", f"'required' {wrong}", fix)


def _unregistered(rule: str, pointer: str, wrong: str, fix: str) -> Finding:
    return Finding(rule, pointer, f"{wrong}, so the tool is not registered.", fix)


def _meant(kind: object) -> str | None:
    word = kind.strip().lower() if isinstance(kind, str) else ""
    return next((one for one, others in _OTHER_WORDS.items() if word == one or word in others), None)


def _subject(node: Node) -> str:
    return "The schema of the array's items" if node.name is None else f"The property {format_value(node.name)}"


def _member(document: object, key: str) -> object:
    return document.get(key) if isinstance(document, dict) else None
