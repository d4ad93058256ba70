"""The table of all rules: what each demands, and whether its breach keeps a tool out or only costs something."""

from __future__ import annotations

ERROR = "error"
WARNING = "warning"

_ERRORS = {
    "valid-json": "The schema is exactly one document of strict JSON.",
    "too-large": "The printed schema has at most 8,191 bytes, its newline included.",
    "too-deep": "The schema has at most 64 levels of JSON.",
    "required-fields": "It is an object with `name`, `description` and `parameters`, each of its type.",
    "name-format": "The name has ASCII letters, digits and underscores only.",
    "name-mismatch": "The name is the one that the file name or the entry point gives.",
    "parameters-structure": "`parameters` has the type `object` and an object of `properties`.",
    "property-type": "Every property, nested ones too, is an object with one of the six types.",
    "required-undefined": "`required` lists defined properties, each once.",
    "hidden-characters": "No text has characters that nobody sees and a model reads.",
    "metaschema": "`parameters` is a valid JSON Schema of draft 2020-12.",
}
_WARNINGS = {
    "unused-ref": "`$ref` is not part of the format: Gemini refuses the request.",
    "unused-defs": "`$defs` is not part of the format: Gemini refuses the request.",
    "unused-composition": "`allOf`, `anyOf`, `oneOf` are not part of the format: refused here and there.",
    "unused-conditional": "`if`, `then`, `else` are not part of the format: OpenAI and Gemini refuse them.",
    "unused-pattern": "`pattern` is not part of the format: it is not enforced everywhere.",
    "unused-format": "`format` is not part of the format: OpenAI and Gemini refuse most values.",
    "unused-default": "`default` is not part of the format: nobody fills it in, some refuse it.",
    "unused-additional-properties": (
        "`additionalProperties` is not part of the format: the client adds it, Gemini refuses it."
    ),
    "unsupported-keyword": "Gemini refuses a request with a keyword that it does not know.",
    "misplaced-keyword": "Gemini refuses `properties` or `required` without an object, `items` without an array.",
    "array-without-items": "OpenAI and Gemini refuse an array without `items`.",
    "object-without-properties": "Gemini and OpenAI's strict mode refuse an object without properties.",
    "nested-object": "OpenAI's strict mode refuses an open object below the top level.",
    "nesting-depth": "Gemini and older OpenAI models refuse more than 5 levels.",
    "integer-enum": "Gemini takes an `enum` of strings only.",
    "empty-enum": "Gemini refuses an empty string in an `enum`; an empty `enum` allows nothing.",
    "tool-name-convention": "The tool's name is snake_case, starts with a letter, has at most 64 characters.",
    "parameter-name-convention": "A parameter's name is snake_case.",
    "parameter-name-refused": "A parameter's name is one that Anthropic and Gemini take.",
    "description-missing": "The tool and each parameter have a description.",
    "description-too-long": "The tool's description has at most 1,024 characters, OpenAI's limit.",
    "schema-varies": "The schema is the same in every process, in any language and folder.",
}

RULES: dict[str, tuple[str, str]] = {
    **{rule: (ERROR, sentence) for rule, sentence in _ERRORS.items()},
    **{rule: (WARNING, sentence) for rule, sentence in _WARNINGS.items()},
}
"""Every rule: its id, and then its severity and one sentence that says what holds where it finds nothing."""
