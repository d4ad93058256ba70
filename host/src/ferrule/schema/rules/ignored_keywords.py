"""Warnings about keywords that the format does not have: what each provider does with them.

Facts are those of 2025 and 2026: OpenAI's strict mode as the client switches it on, Gemini's function
declarations with `parameters` (not `parametersJsonSchema`), Anthropic's Messages API without strict tools.
"""

from __future__ import annotations

from ferrule.schema.rules.findings import ANTHROPIC, GEMINI, OPENAI, Finding, format_value, pointer_to

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.schema.rules.nodes import Node

_REQUEST = "every request with the tool in it"
_BY_VALIDATE = "Say it in the description, and check it in the tool's validate hook."

# keyword: (rule, what it costs, how to fix it)
_UNUSED = {
    "$ref": (
        "unused-ref",
        f"Gemini refuses {_REQUEST}, OpenAI's strict mode follows local references only and takes no keyword "
        "beside them, and Anthropic refuses references in some of its APIs.",
        "Write out what it refers to in its place.",
    ),
    "$defs": (
        "unused-defs",
        f"Gemini refuses {_REQUEST}; OpenAI and Anthropic read it for references, which the format has not.",
        "Write the definitions out where they are used.",
    ),
    "pattern": (
        "unused-pattern",
        "OpenAI's strict mode enforces it but refuses lookaround, and all of it with fine-tuned models; "
        "Gemini and Anthropic promise nothing.",
        _BY_VALIDATE,
    ),
    "default": (
        "unused-default",
        "no provider fills it in: Anthropic shows it to the model, Gemini ignores it, and OpenAI's strict "
        "mode makes every parameter required, and refuses the keyword on Azure and with older models.",
        "Say the default in the description, and apply it in the tool.",
    ),
    "additionalProperties": (
        "unused-additional-properties",
        f"the client adds it for OpenAI by itself, Gemini refuses {_REQUEST} where it stands below the top "
        "level, and Anthropic needs none.",
        "Take it out.",
    ),
}
_REFUSE = {"$ref": (OPENAI, GEMINI), "$defs": (GEMINI,), "additionalProperties": (GEMINI,)}
_ALIASES = {"$dynamicRef": "$ref", "$recursiveRef": "$ref", "definitions": "$defs"}

_COMPOSITION = ("allOf", "anyOf", "oneOf")
_CONDITIONAL = ("if", "then", "else")
_OPENAI_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
_GEMINI_FORMATS = ("date-time", "enum", "float", "double", "int32", "int64")

_TAKEN = {
    *("type", "title", "description", "enum", "items", "properties", "required"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
}
_OTHER_RULES = {*_UNUSED, *_ALIASES, *_COMPOSITION, *_CONDITIONAL, "format"}
_STRICT_REFUSES = (
    *("contains", "minContains", "maxContains", "uniqueItems", "unevaluatedItems", "not"),
    *("minProperties", "maxProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
    *("dependentRequired", "dependentSchemas"),
)
_INSTEAD = {
    "const": "Use an 'enum' with one value.",
    "exclusiveMinimum": "Use 'minimum'.",
    "exclusiveMaximum": "Use 'maximum'.",
    "nullable": "Leave the parameter out of 'required' instead.",
    "prefixItems": "Use 'items', or one parameter for each place.",
    "$schema": "Take it out: the format is draft 2020-12 in any case.",
}


def unused_keyword(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """References, definitions, patterns, defaults, additional properties."""
    for keyword in schema:
        known = _ALIASES.get(keyword, keyword) if isinstance(keyword, str) else None
        if known in _UNUSED:
            rule, cost, fix = _UNUSED[known]
            is_refused = known != "additionalProperties" or node.depth > 1
            yield _make_finding(rule, node, keyword, cost, fix, _REFUSE.get(known, ()) if is_refused else ())


def unused_composition(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """`allOf`, `anyOf` and `oneOf`, which cost most at the top level."""
    for keyword in _COMPOSITION:
        if keyword not in schema:
            continue
        refused_by: tuple[str, ...] = ()
        if node.depth == 1:
            cost = f"at the top level Anthropic and OpenAI refuse {_REQUEST}."
            refused_by = (ANTHROPIC, OPENAI)
        elif keyword == "anyOf":
            gemini = "Gemini on Vertex AI only with no keyword beside it"
            cost = f"OpenAI's strict mode takes it below the top level, {gemini}, and Anthropic does not enforce it."
        else:
            cost = f"OpenAI's strict mode and Gemini refuse {_REQUEST}, and Anthropic does not enforce it."
            refused_by = (OPENAI, GEMINI)
        fix = "Describe one type, and check the rest in the tool's validate hook."
        yield _make_finding("unused-composition", node, keyword, cost, fix, refused_by)


def unused_conditional(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """`if`, `then`, `else`: one finding for the three of them."""
    for keyword in _CONDITIONAL:
        if keyword in schema:
            cost = f"OpenAI's strict mode and Gemini refuse {_REQUEST}, and Anthropic does not enforce it."
            yield _make_finding("unused-conditional", node, keyword, cost, _BY_VALIDATE, (OPENAI, GEMINI))
            return


def unused_format(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """`format`: who takes this value, and who refuses it."""
    if "format" not in schema:
        return
    value = schema["format"]
    refused = f"refuses {format_value(value)} (the client takes it out for OpenAI)"
    openai = "takes this one" if value in _OPENAI_FORMATS else refused
    gemini = "takes it" if value in _GEMINI_FORMATS else f"has refused {_REQUEST}"
    others = "Anthropic shows it to the model, and the host does not enforce it"
    cost = f"OpenAI's strict mode {openai}, Gemini {gemini}, {others}."
    fix = "Say the form in the description, and let the tool check it."
    refused_by = () if value in _GEMINI_FORMATS else (GEMINI,)
    yield _make_finding("unused-format", node, "format", cost, fix, refused_by)


def unsupported_keyword(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """Every other keyword, misspelt ones too: Gemini knows a list of them, and refuses what is not on it."""
    for keyword in schema:
        if keyword in _TAKEN or keyword in _OTHER_RULES:
            continue
        cost = f"Gemini refuses {_REQUEST} for a keyword that it does not know"
        refused_by: tuple[str, ...] = (GEMINI,)
        if keyword in _STRICT_REFUSES:
            cost += ", and so does OpenAI's strict mode"
            refused_by = (OPENAI, GEMINI)
        fix = _INSTEAD.get(keyword) if isinstance(keyword, str) else None
        fix = fix or "Take it out, and say in the description what it said."
        yield _make_finding("unsupported-keyword", node, keyword, f"{cost}.", fix, refused_by)


def _make_finding(
    rule: str, node: Node, keyword: object, cost: str, fix: str, refused_by: tuple[str, ...] = ()
) -> Finding:
    message = f"The format does not have {format_value(keyword)}: {cost}"
    return Finding(rule, pointer_to(node.pointer, keyword), message, fix, refused_by=refused_by)
