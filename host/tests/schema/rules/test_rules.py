"""The schema rules, each by what it finds and where."""

import json

import pytest

from ferrule.schema.rules import RULES, Finding, check, check_text, contract_errors
from ferrule.schema.rules.hidden_text import hidden_characters
from ferrule.schema.rules.nodes import MAX_LEVELS
from ferrule.schema.rules.recommendations import snake_case

TEXT = {"type": "string", "description": "A text."}
WARNINGS = [rule for rule, (severity, _) in RULES.items() if severity == "warning"]


def tool(properties: object, **parameters: object) -> dict[str, object]:
    """A tool with these properties, and otherwise without a fault."""
    schema = {"type": "object", "properties": properties, **parameters}
    return {"name": "demo", "description": "A demonstration.", "parameters": schema}


def places(findings: list[Finding], severity: str | None = None) -> list[tuple[str, str]]:
    return [(found.id, found.pointer) for found in findings if severity in (None, found.severity)]


def search_tool(name: str, limit: tuple[str, int], start: tuple[str, dict[str, int]]) -> dict[str, object]:
    domains = {"type": "array", "items": {"type": "string"}, "description": "Domains."}
    number = {"type": "integer", "minimum": 1, "maximum": limit[1], "default": 10, "description": "How many."}
    properties = {
        "query": {"type": "string", "description": "The search query to use", "minLength": 2},
        limit[0]: number,
        start[0]: {"type": "integer", "description": "Where to start.", **start[1]},
        "allowed_domains": domains,
        "blocked_domains": domains,
    }
    return {**tool(properties, required=["query"]), "name": name}


FILE_EDIT = {
    "name": "file_edit",
    "description": "Edit a file by replacing exact text matches. You must read the file before editing.",
    "parameters": {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "Absolute or relative path to file"},
            "old_string": {"type": "string", "description": "Exact text to find and replace"},
            "new_string": {"type": "string", "description": "Text to replace old_string with"},
            "replace_all": {"type": "boolean", "description": "Replace all occurrences (default: false)"},
        },
        "required": ["file_path", "old_string", "new_string"],
    },
}
WEB_FETCH = tool(
    {
        "url": {"type": "string", "format": "uri", "description": "The URL to fetch content from"},
        "offset": {"type": "integer", "description": "Line number to start reading from", "minimum": 1},
        "limit": {"type": "integer", "description": "Maximum number of lines to return", "minimum": 1},
    },
    required=["url"],
)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (FILE_EDIT, []),
        (WEB_FETCH, [("unused-format", "/parameters/properties/url/format")]),
        (
            search_tool("web_search_brave", ("count", 20), ("offset", {"minimum": 0, "default": 0})),
            [
                ("unused-default", "/parameters/properties/count/default"),
                ("unused-default", "/parameters/properties/offset/default"),
            ],
        ),
        (
            search_tool("web_search_google", ("num", 10), ("start", {"minimum": 1, "default": 1})),
            [
                ("unused-default", "/parameters/properties/num/default"),
                ("unused-default", "/parameters/properties/start/default"),
            ],
        ),
    ],
    ids=["file_edit", "web_fetch", "web_search_brave", "web_search_google"],
)
def test_the_schemas_of_the_specifications_have_no_errors_and_the_warnings_one_expects(
    schema: dict[str, object], expected: list[tuple[str, str]]
) -> None:
    found = check(schema, name=str(schema["name"]))
    assert places(found) == expected
    assert not places(found, "error")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ([], [("required-fields", "")]),
        (None, [("required-fields", "")]),
        ({}, [("required-fields", f"/{field}") for field in ("name", "description", "parameters")]),
        (
            {"name": 1, "description": None, "parameters": []},
            [("required-fields", f"/{field}") for field in ("name", "description", "parameters")],
        ),
        ({**FILE_EDIT, "name": ""}, [("name-format", "/name")]),
        ({**FILE_EDIT, "name": "web-search"}, [("name-format", "/name")]),
        ({**FILE_EDIT, "name": "größe"}, [("name-format", "/name")]),
        ({**FILE_EDIT, "name": "file_edit\n"}, [("name-format", "/name")]),
        (tool({}, type="array"), [("parameters-structure", "/parameters/type")]),
        (tool([]), [("parameters-structure", "/parameters/properties")]),
        (
            {**FILE_EDIT, "parameters": {}},
            [
                ("parameters-structure", "/parameters/type"),
                ("parameters-structure", "/parameters/properties"),
            ],
        ),
        (tool({"a": TEXT}, required="a"), [("required-undefined", "/parameters/required")]),
        (tool({"a": TEXT}, required=True), [("required-undefined", "/parameters/required")]),
        (tool({"a": TEXT}, required=["b"]), [("required-undefined", "/parameters/required/0")]),
        (tool({"a": TEXT}, required=["a", "a"]), [("required-undefined", "/parameters/required/1")]),
        (tool({"a": TEXT}, required=["a", 1]), [("required-undefined", "/parameters/required/1")]),
        (tool({"a": TEXT}, minProperties=-1), [("metaschema", "/parameters/minProperties")]),
        (tool({"a": TEXT}, allOf=[]), [("metaschema", "/parameters/allOf")]),
    ],
)
def test_what_the_format_refuses_is_an_error_at_its_place(schema: object, expected: list[tuple[str, str]]) -> None:
    assert places(check(schema), "error") == expected
    cheap = [place for place in expected if place[0] != "metaschema"]
    assert places(contract_errors(schema)) == cheap


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (TEXT, []),
        ({**TEXT, "minLength": 1, "maxLength": 9, "title": "T", "enum": ["a", "b"]}, []),
        ({**TEXT, "type": "integer", "minimum": 0, "maximum": 9}, []),
        ({**TEXT, "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2}, []),
        ("text", [("property-type", "")]),
        (True, [("property-type", "")]),
        ({"description": "x"}, [("property-type", "/type")]),
        ({**TEXT, "type": "str"}, [("property-type", "/type")]),
        ({**TEXT, "type": "null"}, [("property-type", "/type")]),
        ({**TEXT, "type": 7}, [("property-type", "/type")]),
        ({**TEXT, "type": ["string", "null"]}, [("property-type", "/type")]),
        ({**TEXT, "type": "array", "items": {"type": "text"}}, [("property-type", "/items/type")]),
        ({**TEXT, "type": "array", "items": {}}, [("property-type", "/items/type")]),
        ({**TEXT, "type": "array", "items": [TEXT]}, [("property-type", "/items")]),
        (
            {**TEXT, "type": "object", "properties": [TEXT]},
            [("property-type", "/properties")],
        ),
        (
            {**TEXT, "type": "object", "properties": {"b": {"description": "x"}}, "required": ["c"]},
            [
                ("property-type", "/properties/b/type"),
                ("required-undefined", "/required/0"),
                ("nested-object", ""),
            ],
        ),
        (
            {"type": "array", "description": "x", "items": {"type": "object", "properties": {"b": {}}}},
            [
                ("property-type", "/items/properties/b/type"),
                ("nested-object", "/items"),
                ("description-missing", "/items/properties/b/description"),
            ],
        ),
        ({**TEXT, "minLength": -1}, [("metaschema", "/minLength")]),
        (
            {**TEXT, "description": 1},
            [("metaschema", "/description"), ("description-missing", "/description")],
        ),
        ({**TEXT, "pattern": "("}, [("metaschema", "/pattern"), ("unused-pattern", "/pattern")]),
        ({**TEXT, "pattern": "a{99999999999}"}, [("metaschema", "/pattern"), ("unused-pattern", "/pattern")]),
        ({**TEXT, "pattern": "^a+$"}, [("unused-pattern", "/pattern")]),
        ({**TEXT, "format": "date-time"}, [("unused-format", "/format")]),
        ({**TEXT, "default": None}, [("unused-default", "/default")]),
        ({**TEXT, "$ref": "#/$defs/a"}, [("unused-ref", "/$ref")]),
        ({**TEXT, "definitions": {"a": TEXT}}, [("unused-defs", "/definitions")]),
        (
            {**TEXT, "anyOf": [{"const": 1}]},
            [("unused-composition", "/anyOf"), ("unsupported-keyword", "/anyOf/0/const")],
        ),
        (
            {**TEXT, "if": {"pattern": "a"}, "then": True},
            [("unused-conditional", "/if"), ("unused-pattern", "/if/pattern")],
        ),
        (
            {**TEXT, "additionalProperties": False},
            [("unused-additional-properties", "/additionalProperties")],
        ),
        ({**TEXT, "type": "integer", "exclusiveMinimum": 0}, [("unsupported-keyword", "/exclusiveMinimum")]),
        ({**TEXT, "descripton": "x"}, [("unsupported-keyword", "/descripton")]),
        ({**TEXT, "type": "integer", "enum": [1, 2]}, [("integer-enum", "/enum")]),
        ({**TEXT, "enum": ["a", None]}, [("integer-enum", "/enum")]),
        ({**TEXT, "enum": []}, [("empty-enum", "/enum")]),
        ({**TEXT, "enum": ["a", ""]}, [("empty-enum", "/enum/1")]),
        ({**TEXT, "type": "array"}, [("array-without-items", "/items")]),
        ({**TEXT, "items": {"type": "string"}}, [("misplaced-keyword", "/items")]),
        ({**TEXT, "type": "object"}, [("object-without-properties", "/properties")]),
        ({**TEXT, "type": "object", "properties": {"b": TEXT}}, [("nested-object", "")]),
        (
            {"type": "object", "description": "x", "properties": {"b": TEXT}, "required": ["b"]}
            | {"additionalProperties": False},
            [("unused-additional-properties", "/additionalProperties")],
        ),
        ({"type": "string"}, [("description-missing", "/description")]),
        ({"type": "string", "description": " "}, [("description-missing", "/description")]),
    ],
)
def test_a_parameter_is_told_what_is_wrong_with_it_and_where(inside: object, expected: list[tuple[str, str]]) -> None:
    found = check(tool({"p": inside}))
    assert places(found) == [(rule, f"/parameters/properties/p{pointer}") for rule, pointer in expected]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (tool({}), [("object-without-properties", "/parameters/properties")]),
        ({**FILE_EDIT, "name": "FileEdit"}, [("tool-name-convention", "/name")]),
        ({**FILE_EDIT, "name": "2fa"}, [("tool-name-convention", "/name")]),
        ({**FILE_EDIT, "name": "_private"}, [("tool-name-convention", "/name")]),
        ({**FILE_EDIT, "name": "a" * 65}, [("tool-name-convention", "/name")]),
        ({**FILE_EDIT, "name": "a" * 64}, []),
        ({**FILE_EDIT, "description": ""}, [("description-missing", "/description")]),
        ({**FILE_EDIT, "description": "x" * 1025}, [("description-too-long", "/description")]),
        ({**FILE_EDIT, "description": "x" * 1024}, []),
        (tool({"filePath": TEXT}), [("parameter-name-convention", "/parameters/properties/filePath")]),
        (tool({"a/b~c": TEXT}), [("parameter-name-refused", "/parameters/properties/a~1b~0c")]),
        (tool({"": TEXT}), [("parameter-name-refused", "/parameters/properties/")]),
        (tool({"a.b": TEXT}), [("parameter-name-refused", "/parameters/properties/a.b")]),
        (tool({"a" * 65: TEXT}), [("parameter-name-refused", "/parameters/properties/" + "a" * 65)]),
        (tool({"a": TEXT}, anyOf=[{"required": ["a"]}]), [("unused-composition", "/parameters/anyOf")]),
        (
            tool({"a": TEXT}, additionalProperties=False),
            [("unused-additional-properties", "/parameters/additionalProperties")],
        ),
        (
            tool({"a": TEXT}, **{"$defs": {"x": {"type": "string", "format": "uri"}}}),
            [("unused-defs", "/parameters/$defs"), ("unused-format", "/parameters/$defs/x/format")],
        ),
        (tool({"default": TEXT, "format": TEXT, "if": TEXT}), []),
    ],
)
def test_conventions_and_costly_keywords_of_a_whole_tool_are_warnings(
    schema: object, expected: list[tuple[str, str]]
) -> None:
    assert places(check(schema)) == places(check(schema), "warning") == expected


@pytest.mark.parametrize(("size", "expected"), [(8191, []), (8192, [("too-large", "")]), (None, [])])
def test_the_client_reads_8191_bytes_and_drops_one_more(size: int | None, expected: list[tuple[str, str]]) -> None:
    assert places(contract_errors(FILE_EDIT, size=size)) == expected
    assert places(check(FILE_EDIT, size=size)) == expected


def test_a_size_that_is_not_given_is_that_of_compact_json_and_a_newline() -> None:
    padding = 8191 - len(json.dumps({**FILE_EDIT, "padding": ""}, separators=(",", ":")).encode()) - 1
    assert places(check({**FILE_EDIT, "padding": "x" * padding})) == []
    assert places(check({**FILE_EDIT, "padding": "x" * (padding + 1)})) == [("too-large", "")]


def test_a_name_that_the_file_does_not_give_is_an_error() -> None:
    (found,) = check(FILE_EDIT, name="file_read")
    assert places([found], "error") == [("name-mismatch", "/name")]
    assert "'file_read'" in found.fix
    assert "'file-edit-tool'" in found.fix


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps(FILE_EDIT).encode(), []),
        (b" []\n", [("required-fields", "")]),
        (b"", [("valid-json", "")]),
        (b"usage: demo", [("valid-json", "")]),
        (b"{} {}", [("valid-json", "")]),
        (b'{"a": NaN}', [("valid-json", "")]),
        (b'{"a": 1e999}', [("valid-json", "")]),
        (b'{"a": 1, "a": 2}', [("valid-json", "")]),
        (b'{"a": "\\ud800"}', [("valid-json", "")]),
        (b"\xef\xbb\xbf{}", [("valid-json", "")]),
        (b'{"a": "\xff"}', [("valid-json", "")]),
        (b"[" * 100_000, [("valid-json", "")]),
    ],
)
def test_text_is_read_as_strictly_as_the_client_reads_it(text: bytes, expected: list[tuple[str, str]]) -> None:
    assert places(check_text(text)) == expected


def test_text_that_is_no_json_and_too_large_is_told_both() -> None:
    assert places(check_text(b"{" * 9000, size=9000)) == [("valid-json", ""), ("too-large", "")]


def test_strict_makes_warnings_errors_and_leaves_the_table_alone() -> None:
    found = check(WEB_FETCH, strict=True)
    assert places(found, "error") == places(found) == [("unused-format", "/parameters/properties/url/format")]
    assert RULES["unused-format"][0] == "warning"


@pytest.mark.parametrize("strict", [False, True])
def test_a_silenced_warning_is_left_out_and_nothing_else(strict: bool) -> None:
    schema = {**WEB_FETCH, "name": "web-fetch", "description": ""}
    found = check(schema, silenced=["unused-format"], strict=strict)
    assert places(found) == [("name-format", "/name"), ("description-missing", "/description")]


@pytest.mark.parametrize("unknown", ["unused-formats", "name-format"])
def test_what_is_no_warning_cannot_be_silenced(unknown: str) -> None:
    with pytest.raises(ValueError, match=rf"{unknown}; .*unused-format,"):
        check(FILE_EDIT, silenced={unknown})
    with pytest.raises(ValueError, match=unknown):
        check_text(b"no json", silenced={unknown})


def test_a_long_value_does_not_make_a_long_message() -> None:
    (found,) = check(tool({"p": {**TEXT, "title": ["x" * 500]}}), silenced=WARNINGS)
    assert found.id == "metaschema"
    assert len(found.message) < 300
    assert found.message.endswith("is not of type 'string'.")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("notebookPath", "notebook_path"),
        ("HTTPServer2Go", "http_server2_go"),
        ("web-search tool", "web_search_tool"),
        ("already_fine", "already_fine"),
        ("größe", "gr_e"),
        ("$", ""),
    ],
)
def test_a_name_is_offered_in_snake_case(name: str, expected: str) -> None:
    assert snake_case(name) == expected


@pytest.mark.parametrize(
    ("schema", "pointer", "letters"),
    [
        ({**tool({}), "description": "Looks.\U000e0041\U000e0042"}, "/description", "U+E0041, U+E0042"),
        (
            tool({"a": {**TEXT, "description": "A \x1b[31mtext."}}),
            "/parameters/properties/a/description",
            "U+001B",
        ),
        (tool({"a": {**TEXT, "enum": ["x\u202e"]}}), "/parameters/properties/a/enum/0", "U+202E"),
        (tool({"a": {**TEXT, "title": "A\u034f\u034ftitle"}}), "/parameters/properties/a/title", "U+034F"),
        (tool({"a\u200bb": TEXT}), "/parameters/properties/a<U+200B>b", "U+200B"),
        (tool({"a": {**TEXT, "x-note": {"deep": ["\x9b2J"]}}}), "/parameters/properties/a/x-note/deep/0", "U+009B"),
        ({**tool({}), "description": "Deletes all.\rLooks up."}, "/description", "U+000D"),
        ({**tool({}), "description": "\u0646\u0645\u06cc\u200c\u062e and a\u200cb"}, "/description", "U+200C"),
    ],
    ids=["tags", "escape", "override", "joiners", "name", "unknown-keyword", "return", "one-joiner-of-two"],
)
def test_characters_that_nobody_sees_are_told_where_they_stand(
    schema: dict[str, object], pointer: str, letters: str
) -> None:
    (found,) = [finding for finding in check(schema) if finding.id == "hidden-characters"]
    assert (found.pointer, found.severity) == (pointer, "error")
    assert [one.pointer for one in contract_errors(schema) if one.id == "hidden-characters"] == [pointer]
    assert found.message.endswith(f"a model reads: {letters}.")


def test_what_writing_needs_is_no_hidden_character() -> None:
    text = (
        "Line 1\r\nLine\t2: \N{WOMAN}\u200d\N{PERSONAL COMPUTER} \u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    )
    assert "hidden-characters" not in [finding.id for finding in check({**tool({}), "description": text})]


def test_hidden_text_is_found_wherever_the_walk_for_pointers_finds_text() -> None:
    documents: list[object] = ["\u202e", {"\u202e": 1}, {"a": ["\u202e"]}, [{"b": ({"\u202e": {}},)}]]
    deep: object = "\u202e"
    for _ in range(MAX_LEVELS):
        deep = [deep]
    assert [len(list(hidden_characters(one))) for one in [*documents, deep, [deep], "plain"]] == [1, 1, 1, 1, 1, 0, 0]
