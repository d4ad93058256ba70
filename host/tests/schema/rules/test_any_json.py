"""The schema rules on whatever JSON can hold: nothing ends them, nothing is fetched, nothing heavy loaded."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrule
from ferrule.schema.rules import RULES, Finding, check, check_text, contract_errors
from ferrule_testkit.effort import examples

TEXT = {"type": "string", "description": "A text."}


def tool(properties: object, **parameters: object) -> dict[str, object]:
    """A tool with these properties, and otherwise without a fault."""
    schema = {"type": "object", "properties": properties, **parameters}
    return {"name": "demo", "description": "A demonstration.", "parameters": schema}


def places(findings: list[Finding], severity: str | None = None) -> list[tuple[str, str]]:
    return [(found.id, found.pointer) for found in findings if severity in (None, found.severity)]


@pytest.mark.process
@pytest.mark.parametrize("keyword", ["properties", "items", "not", "default", "enum"])
def test_a_schema_100000_levels_deep_is_told_so_and_ends_nothing(keyword: str) -> None:
    bottom: dict[str, object] = {"type": "object"}
    deep: object = bottom
    for _ in range(100_000):
        deep = {keyword: {"p": deep} if keyword == "properties" else deep}
    schema = tool({"p": deep})
    (found,) = [found for found in check(schema) if found.id == "too-deep"]
    assert found.severity == "error"
    assert found.pointer.startswith(f"/parameters/properties/p/{keyword}")
    assert "too-deep" in dict(places(contract_errors(schema)))


def test_64_levels_of_json_are_checked_in_full() -> None:
    items: dict[str, object] = {"type": "string", "minLength": -1}
    for _ in range(60):
        items = {"type": "array", "items": items}
    found = check(tool({"p": {**items, "description": "x"}}))
    bottom = "/parameters/properties/p" + "/items" * 60
    assert places(found, "error") == [("metaschema", f"{bottom}/minLength")]
    assert places(found, "warning") == [("nesting-depth", "/parameters/properties/p" + "/items" * 4)]


@pytest.mark.process
def test_a_remote_reference_is_never_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        found = check(tool({"p": {**TEXT, "$ref": url}}, **{"$schema": url, "$id": url}))
        assert ("unused-ref", "/parameters/properties/p/$ref") in places(found)
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.process
def test_the_path_of_schema_loads_light_modules_and_the_table_only_for_a_finding() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules)\n"
        "from ferrule.schema.rules import contract_errors\n"
        "good = {'name': 'a', 'description': '', 'parameters': {'type': 'object', 'properties': {}}}\n"
        "assert not contract_errors(good, name='a', size=90)\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    source = str(Path(ferrule.__file__).parents[1])
    run = subprocess.run([sys.executable, "-I", "-c", program, source], capture_output=True, check=True, text=True)
    rules = [f"ferrule.schema.rules.{name}" for name in ("contract", "findings", "hidden_text", "nodes")]
    texts = [f"ferrule.text{name}" for name in ("", ".names", ".visibility")]
    rest = ["ferrule", "ferrule.lazy", "ferrule.schema", "ferrule.schema.rules", *rules, *texts]
    assert run.stdout.split() == ["__future__", *rest]


def resolves(document: object, pointer: str) -> bool:
    """Whether a JSON pointer leads to a value, or to a member that could be added to one."""
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    for place, token in enumerate(tokens):
        if isinstance(document, list):
            document = document[int(token)]
        elif isinstance(document, dict) and token in document:
            document = document[token]
        else:
            return place == len(tokens) - 1
    return True


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)
SHAPES = ["name", "description", "parameters", "type", "properties", "required", "items", "enum", "minLength"]
UNUSED = ["default", "format", "pattern", "anyOf", "allOf", "if", "$ref", "$defs", "additionalProperties"]
OTHERS = ["not", "const", "maxItems", "prefixItems", "$schema", "patternProperties", "uniqueItems"]
KEYWORDS = st.sampled_from([*SHAPES, *UNUSED, *OTHERS])
WORDS = st.sampled_from(["object", "array", "string", "integer", "null", "a", "", "a/b~c", "\ud800", "(", "uri"])
KEYS = KEYWORDS | WORDS | st.text(max_size=4)
ANY_JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=40,
)


@settings(deadline=None, database=None, max_examples=examples(60))
@given(
    schema=ANY_JSON
    | st.builds(tool, ANY_JSON)
    | st.builds(tool, st.dictionaries(WORDS, ANY_JSON, max_size=4), required=ANY_JSON, items=ANY_JSON),
    name=st.none() | st.text(max_size=5),
    strict=st.booleans(),
)
def test_whatever_json_can_hold_is_answered_with_findings(schema: object, name: str | None, strict: bool) -> None:
    found = check(schema, name=name, strict=strict)
    assert len(set(places(found))) == len(found)
    for each in found:
        assert each.id in RULES
        assert each.severity == ("error" if strict else RULES[each.id][0])
        assert each.message.endswith(".")
        assert each.fix.endswith(".")
        is_spelt_out = "\\ud800" in each.pointer or "<U+" in each.pointer
        assert resolves(schema, each.pointer) or is_spelt_out
        json.dumps(each.as_dict(), ensure_ascii=False).encode()
    cheap = places(contract_errors(schema, name=name))
    assert [place for place in places(found) if place in cheap] == cheap


@settings(deadline=None, database=None)
@given(text=st.binary(max_size=200) | ANY_JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_bytes_there_are_are_answered_with_findings(text: bytes) -> None:
    assert all(found.id in RULES for found in check_text(text, size=len(text)))
