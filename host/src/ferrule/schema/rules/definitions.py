"""The table of all rules: what each demands, and whether its breach keeps a tool out or only costs something."""

from __future__ import annotations

ERROR = "error"
WARNING = "warning"

RULES: dict[str, tuple[str, str]] = {
    "valid-json": (ERROR, "The schema is exactly one document of strict JSON."),
    "too-large": (ERROR, "The printed schema has at most 8,191 bytes, its newline included."),
    "too-deep": (ERROR, "The schema has at most 64 levels of JSON."),
    "required-fields": (
        ERROR,
        "It is an object with `name`, `description` and `parameters`, each of its type.",
    ),
    "name-format": (ERROR, "The name has ASCII letters, digits and underscores only."),
    "name-mismatch": (ERROR, "The name is the one that the file name or the entry point gives."),
    "parameters-structure": (ERROR, "`parameters` has the type `object` and an object of `properties`."),
    "property-type": (ERROR, "Every property, nested ones too, is an object with one of the six types."),
    "required-undefined": (ERROR, "`required` lists defined properties, each once."),
    "metaschema": (ERROR, "`parameters` is a valid JSON Schema of draft 2020-12."),
    "unused-ref": (WARNING, "`$ref` is not part of the format: Gemini refuses the request."),
    "unused-defs": (WARNING, "`$defs` is not part of the format: Gemini refuses the request."),
    "unused-composition": (
        WARNING,
        "`allOf`, `anyOf`, `oneOf` are not part of the format: refused here and there.",
    ),
    "unused-conditional": (
        WARNING,
        "`if`, `then`, `else` are not part of the format: OpenAI and Gemini refuse them.",
    ),
    "unused-pattern": (WARNING, "`pattern` is not part of the format: it is not enforced everywhere."),
    "unused-format": (WARNING, "`format` is not part of the format: OpenAI and Gemini refuse most values."),
    "unused-default": (WARNING, "`default` is not part of the format: nobody fills it in, some refuse it."),
    "unused-additional-properties": (
        WARNING,
        "`additionalProperties` is not part of the format: the client adds it, Gemini refuses it.",
    ),
    "unsupported-keyword": (WARNING, "Gemini refuses a request with a keyword that it does not know."),
    "misplaced-keyword": (
        WARNING,
        "Gemini refuses `properties` or `required` without an object, `items` without an array.",
    ),
    "array-without-items": (WARNING, "OpenAI and Gemini refuse an array without `items`."),
    "object-without-properties": (
        WARNING,
        "Gemini and OpenAI's strict mode refuse an object without properties.",
    ),
    "nested-object": (WARNING, "OpenAI's strict mode refuses an open object below the top level."),
    "nesting-depth": (WARNING, "Gemini and older OpenAI models refuse more than 5 levels."),
    "integer-enum": (WARNING, "Gemini takes an `enum` of strings only."),
    "empty-enum": (WARNING, "Gemini refuses an empty string in an `enum`; an empty `enum` allows nothing."),
    "tool-name-convention": (
        WARNING,
        "The tool's name is snake_case, starts with a letter, has at most 64 characters.",
    ),
    "parameter-name-convention": (WARNING, "A parameter's name is snake_case."),
    "parameter-name-refused": (WARNING, "A parameter's name is one that Anthropic and Gemini take."),
    "description-missing": (WARNING, "The tool and each parameter have a description."),
    "description-too-long": (WARNING, "The tool's description has at most 1,024 characters, OpenAI's limit."),
}
"""Every rule: its id, and then its severity and one sentence that says what holds where it finds nothing."""
