"""What each provider makes of a schema in our form, one generator a provider.

The schema rules warn of what providers do with schemas in the forms that the client writes: OpenAI's strict mode, and
Gemini's `parameters`. Our forms use neither, so only a part of those warnings holds here; where one does, it is taken
from the rule's own finding or shares the rule's own judgement.
"""

from __future__ import annotations

from ferrule.schema.providers.format import Loss
from ferrule.schema.rules.findings import format_value, pointer_to
from ferrule.schema.rules.nodes import all_schemas
from ferrule.schema.rules.recommendations import LONGEST_DESCRIPTION, LONGEST_NAME, find_refusals
from ferrule.schema.rules.structure import array_without_items, nesting_depth

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.schema.providers.translation import Translation
    from ferrule.schema.rules.nodes import Node
    from ferrule.text.json_types import JSONObject

_MAX_NAME_CHARS_ELSEWHERE = 128  # characters of a tool's name at Anthropic, at Gemini and in MCP
_COMPOSITION = ("allOf", "anyOf", "oneOf")
_OPENAI_TOP = (*_COMPOSITION, "enum", "const", "not")

# What draft 2020-12 asserts and Gemini does not list among the keywords of JSON Schema that it reads.
_UNREAD_BY_GEMINI = {
    *("allOf", "not", "if", "then", "else", "const", "pattern", "$dynamicRef"),
    *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
    *("uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems"),
    *("minProperties", "maxProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
    *("dependentRequired", "dependentSchemas"),
}
_TRANSLATING = "`ferrule link --for plain` and `ferrule serve --schemas plain` translate calls back"
_BESIDE_A_REFERENCE = {"description", "default"}


def anthropic(schema: JSONObject) -> Iterator[Loss]:
    """The Messages API, without strict tools: it reads all of JSON Schema, and holds a model to none of it."""
    yield from _long_name(schema, _MAX_NAME_CHARS_ELSEWHERE, "Anthropic")
    for node, inner in all_schemas(schema):
        yield from _property_name(node, "Anthropic")
        yield from _outside_reference(node, inner)
        if node.depth == 1:
            yield from _at_the_top(node, inner, _COMPOSITION, "Anthropic")


def openai(schema: JSONObject) -> Iterator[Loss]:
    """Chat Completions and Responses, both without strict mode."""
    yield from _long_name(schema, LONGEST_NAME, "OpenAI")
    if len(schema["description"]) > LONGEST_DESCRIPTION:
        limit = f"{LONGEST_DESCRIPTION:,} characters"
        message = f"OpenAI has refused every request with a description of more than {limit}."
        yield Loss("/description", message, refused=True, rule="description-too-long")
    for node, inner in all_schemas(schema):
        yield from _outside_reference(node, inner)
        if node.depth == 1:
            yield from _at_the_top(node, inner, _OPENAI_TOP, "OpenAI")
        for finding in array_without_items(node, inner):
            message = "OpenAI refuses every request with an array whose items have no schema."
            yield Loss(finding.pointer, message, refused=True, rule=finding.id)


def gemini(schema: JSONObject) -> Iterator[Loss]:
    """generateContent with `parametersJsonSchema`, which takes much that `parameters` refuses."""
    yield from _long_name(schema, _MAX_NAME_CHARS_ELSEWHERE, "Gemini")
    if schema["name"][0].isdigit():
        yield Loss("/name", "Gemini refuses every request with a tool whose name starts with a digit.", refused=True)
    for node, inner in all_schemas(schema):
        yield from _property_name(node, "Gemini")
        yield from _gemini_reference(node, inner)
        yield from _gemini_keywords(node, inner)
        for finding in nesting_depth(node, inner):
            message = "Gemini may refuse what is nested so deeply; it does not say how deep it goes."
            yield Loss(finding.pointer, message, refused=False, rule=finding.id)


def mcp(schema: JSONObject) -> Iterator[Loss]:
    """tools/list: what a client's own provider refuses or drops comes on top of it."""
    if len(schema["name"]) > _MAX_NAME_CHARS_ELSEWHERE:
        message = f"MCP asks for names of at most {_MAX_NAME_CHARS_ELSEWHERE} characters; a client may drop the tool."
        yield Loss("/name", message, refused=False)
    for node, inner in all_schemas(schema):
        yield from _outside_reference(node, inner)


def plain(schema: JSONObject) -> Iterator[Loss]:
    """What a caller of the tool itself has to know: where its arguments are other ones than those of the form."""
    from ferrule.schema.providers.plain_schema import PlainSchema

    yield from _translated(PlainSchema(schema).translation, "/parameters")


def _translated(translation: Translation, pointer: str) -> Iterator[Loss]:
    if "json" in translation or "values" in translation:
        holds = "text that holds JSON" if "json" in translation else "text for each value"
        yield Loss(pointer, f"The plain form has a {holds} here; {_TRANSLATING}.", refused=False)
    for shown, inner in translation.get("properties", {}).items():
        name = inner.get("name", shown)
        place = pointer_to(pointer, "properties", name)
        if name != shown:
            yield Loss(place, f"The plain form calls it {format_value(shown)}; {_TRANSLATING}.", refused=False)
        yield from _translated(inner, place)
    if "items" in translation:
        yield from _translated(translation["items"], pointer_to(pointer, "items"))


def _long_name(schema: JSONObject, longest: int, provider: str) -> Iterator[Loss]:
    if len(schema["name"]) > longest:
        message = f"{provider} refuses every request with a tool whose name has more than {longest} characters."
        yield Loss("/name", message, refused=True)


def _property_name(node: Node, provider: str) -> Iterator[Loss]:
    if isinstance(node.name, str) and node.plain and provider in find_refusals(node.name):
        message = f"{provider} refuses every request with a parameter called {format_value(node.name)} in it."
        yield Loss(node.pointer, message, refused=True, rule="parameter-name-refused")


def _at_the_top(node: Node, schema: dict[object, object], keywords: tuple[str, ...], provider: str) -> Iterator[Loss]:
    for keyword in keywords:
        if keyword in schema:
            message = f"{provider} refuses every request with {keyword!r} at the top level of the parameters."
            yield Loss(pointer_to(node.pointer, keyword), message, refused=True)


def _outside_reference(node: Node, schema: dict[object, object]) -> Iterator[Loss]:
    """Nobody fetches anything for a tool's schema, the host neither."""
    if "$ref" in schema and not str(schema["$ref"]).startswith("#"):
        message = (
            "What the reference leads to is not in the schema, and nobody fetches it: a model sees its name alone."
        )
        yield Loss(pointer_to(node.pointer, "$ref"), message, refused=False)


def _gemini_reference(node: Node, schema: dict[object, object]) -> Iterator[Loss]:
    if "$ref" not in schema:
        return
    pointer = pointer_to(node.pointer, "$ref")
    if not str(schema["$ref"]).startswith("#"):
        yield Loss(pointer, "Gemini refuses every request with a reference that leads out of the schema.", refused=True)
    elif any(not str(keyword).startswith("$") for keyword in schema.keys() - _BESIDE_A_REFERENCE):
        message = "Gemini refuses every request with a reference that has keywords beside it, 'type' included."
        yield Loss(pointer, message, refused=True)


def _gemini_keywords(node: Node, schema: dict[object, object]) -> Iterator[Loss]:
    for keyword in schema:
        if keyword in _UNREAD_BY_GEMINI:
            message = f"Gemini does not list {keyword!r} among what it reads, so it may send what breaks it."
            yield Loss(pointer_to(node.pointer, keyword), message, refused=False)
    if "oneOf" in schema:
        message = "Gemini reads 'oneOf' as 'anyOf', so it may send what fits several of the branches."
        yield Loss(pointer_to(node.pointer, "oneOf"), message, refused=False)
    values = schema.get("enum")
    if isinstance(values, list) and any(isinstance(one, bool | None | list | dict) for one in values):
        message = "Gemini reads an 'enum' of strings and numbers; other values may be lost."
        yield Loss(pointer_to(node.pointer, "enum"), message, refused=False)
