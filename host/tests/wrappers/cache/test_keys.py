"""Which calls are equal: no parameter can be left out of a key, and no two questions can run into each other."""

import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ferrule import discovery
from ferrule.plugin.hooks.context import Context
from ferrule.plugin.loader import load
from ferrule.plugin.wrapper_context import CallInfo
from ferrule.schema import schema_file
from ferrule.text.strict_json import Unrepresentable, canonical
from ferrule.wrappers.cache.keys import SHAPE, differences, hashed, key_of, question

IDENTITY = {
    "settings": {"allow": ["loopback"], "deep": {"inner": 1}},
    "environment": {"FERRULE_BRAVE_ENDPOINT": "http://127.0.0.1:1/", "LANG": "C.UTF-8"},
    "credentials": {"api_key": "3f2a"},
}
TOOLS = [claims[0] for _, claims in sorted(discovery.scan().items()) if len(claims) == 1]


def asked(**changed: Any) -> dict[str, Any]:
    facts = {
        "tool": "web_search",
        "distribution": "ferrule-research",
        "version": "1.0",
        "schema_hash": "0" * 64,
        "arguments": {"query": "cats"},
        "identity": IDENTITY,
    }
    facts = {**facts, **changed}
    return question(SimpleNamespace(**facts, normalised_arguments=facts["arguments"]))  # type: ignore[arg-type]


def values_of(schema: dict[str, Any]) -> list[Any]:
    """Values of a parameter that are all different from each other, of the type that its schema says."""
    if "enum" in schema:
        return list(schema["enum"])
    kind = schema.get("type")
    if kind in ("integer", "number"):
        low = int(schema.get("minimum", 0))
        whole = [low, low + 1, low + 10]
        return whole if kind == "integer" else [*whole, low + 0.5, low + 1e-9]
    if kind == "boolean":
        return [True, False]
    if kind == "array":
        inner = values_of(schema.get("items", {"type": "string"}))
        return [[inner[0]], [inner[1]], inner[:2], inner[1::-1], [*inner[:2], inner[0]]]
    if kind == "object":
        return [{}, {"a": 1}, {"a": "1"}, {"b": 1}, {"a": {"b": 1}}, {"a": [1]}]
    return ["a", "b", "a,b", "a|b", "A", "a ", "ä", "a\u0308", '"', "1", "true", "null", "x" * 5_000]


def mutations(parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The smallest arguments, and those with one parameter changed to each of its values."""
    properties = parameters.get("properties", {})
    smallest = {name: values_of(properties[name])[0] for name in parameters.get("required", ())}
    yield smallest
    for name, schema in properties.items():
        for value in values_of(schema):
            if value != schema.get("default") and smallest.get(name, ...) != value:
                yield {**smallest, name: value}


@pytest.fixture
def key_of_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The key of a call of an installed tool, as the wrapper makes it."""
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path))
    monkeypatch.setenv("IKIGAI_CONFIG_DIR", str(tmp_path))

    def key_of_call(tool: Any, arguments: dict[str, Any], settings: dict[str, Any] | None = None) -> str:
        loaded = load(tool)
        context = Context(tool.name, time.monotonic() + 60, credentials=loaded.credentials(), settings=settings)
        return key_of(question(CallInfo(loaded, arguments, context)))

    return key_of_call


def parameters_of(tool: Any) -> dict[str, Any]:
    schema = schema_file.read_static(tool) or pytest.fail(f"{tool.name} ships no schema")
    parameters: dict[str, Any] = schema["parameters"]
    return parameters


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_value_of_every_parameter_of_every_installed_tool_has_a_key_of_its_own(
    tool: Any, key_of_call: Callable[..., str]
) -> None:
    parameters = parameters_of(tool)
    changed = list(mutations(parameters))
    assert len(changed) > len(parameters["properties"])
    normalise = load(tool).result_policy().normalise or (lambda arguments: arguments)
    different = {canonical(normalise(arguments)) for arguments in changed}
    assert len(changed) * 0.85 < len(different) <= len(changed)  # no more than blanks and codes in capitals
    assert len({key_of_call(tool, arguments) for arguments in changed}) == len(different)


@pytest.mark.process
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_default_of_every_installed_tool_and_its_absence_have_one_key(
    tool: Any, key_of_call: Callable[..., str]
) -> None:
    parameters = parameters_of(tool)
    smallest = next(mutations(parameters))
    defaults = {name: one["default"] for name, one in parameters["properties"].items() if "default" in one}
    spelled = [smallest, *({**smallest, name: value} for name, value in defaults.items()), {**defaults, **smallest}]
    assert len({key_of_call(tool, arguments) for arguments in spelled}) == 1


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_settings_and_surroundings_of_every_installed_tool_are_part_of_its_key(
    tool: Any, key_of_call: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    smallest, loaded = next(mutations(parameters_of(tool))), load(tool)
    keys = [key_of_call(tool, smallest), *(key_of_call(tool, smallest, {"a": value}) for value in (1, "1", [1]))]
    locale = ("LANG", "LC_ALL", "TZ") if loaded.result_policy().locale else ()
    variables = [*locale, "FERRULE_ANYTHING", *(one.environment for one in loaded.credentials())]
    for variable in variables:
        for value in ("one", "two"):
            monkeypatch.setenv(variable, value)
            keys.append(key_of_call(tool, smallest))
        monkeypatch.delenv(variable)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "changed",
    [
        {"tool": "news_search"},
        {"distribution": "another"},
        {"version": "1.0.1"},
        {"schema_hash": "1" + "0" * 63},
        {"arguments": {}},
        {"arguments": {"query": "cats", "num": 5}},
        {"identity": {}},
        {"identity": {**IDENTITY, "settings": {}}},
        {"identity": {**IDENTITY, "settings": {"allow": ["loopback"], "deep": {"inner": 2}}}},
        {"identity": {**IDENTITY, "environment": {"LANG": "C.UTF-8"}}},
        {"identity": {**IDENTITY, "environment": {**IDENTITY["environment"], "LANG": "de_DE"}}},
        {"identity": {**IDENTITY, "credentials": {"api_key": "3f2b"}}},
        {"identity": {**IDENTITY, "more": None}},
    ],
    ids=json.dumps,
)
def test_whatever_else_decides_the_result_is_part_of_the_key(changed: dict[str, Any]) -> None:
    assert key_of(asked(**changed)) != key_of(asked())


def test_the_version_of_the_shape_is_part_of_the_key() -> None:
    assert key_of({**asked(), "shape": SHAPE + 1}) != key_of(asked())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"sites": ["a,b"]}, {"sites": ["a", "b"]}),
        ({"exact": "a|b", "exclude": ""}, {"exact": "a", "exclude": "b|"}),
        ({"exact": "a\0b"[:1], "x": "b"}, {"exact": "ab"}),
        ({"a": "b", "c": "d"}, {"a": 'b","c":"d'}),
        ({"a": {"b": 1}}, {"a.b": 1}),
        ({"a": [[1], [2]]}, {"a": [[1, 2]]}),
        ({"a": []}, {"a": [[]]}),
        ({"a": ""}, {}),
        ({"a": "1"}, {"a": 1}),
        ({"a": True}, {"a": 1}),
        ({"a": False}, {"a": 0}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 9_007_199_254_740_993}, {"a": 9_007_199_254_740_992}),
        ({"a": "é"}, {"a": "e\u0301"}),
        ({"a": "\\u0041"}, {"a": "A"}),
    ],
)
def test_no_two_arguments_run_into_each_other(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert key_of(asked(arguments=one)) != key_of(asked(arguments=other))


def test_the_order_in_which_a_client_writes_does_not_matter() -> None:
    arguments = {"b": {"y": 1, "x": [2, 1]}, "a": 1}
    turned = {"a": 1, "b": {"x": [2, 1], "y": 1}}
    assert key_of(asked(arguments=arguments)) == key_of(asked(arguments=turned))
    assert canonical(arguments) == b'{"a":1,"b":{"x":[2,1],"y":1}}'


def test_a_number_is_written_in_one_way() -> None:
    spellings = ("1.0", "1e0", "1.00", "10e-1")
    assert len({canonical(json.loads(spelling)) for spelling in spellings}) == 1


def test_a_key_is_a_whole_hash() -> None:
    key = key_of(asked())
    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")


def test_what_json_cannot_hold_has_no_key() -> None:
    for value in (float("nan"), b"bytes", "\ud800"):
        with pytest.raises(Unrepresentable):
            key_of(asked(arguments={"a": value}))


def test_hashes_stand_for_values_and_keep_the_names() -> None:
    seen = hashed({"query": "cats", "deep": {"count": 5}, "empty": {}})
    assert "cats" not in json.dumps(seen)
    assert isinstance(seen, dict)
    assert set(seen) == {"query", "deep", "empty"}
    assert set(seen["deep"]) == {"count"}
    flat = [seen["query"], seen["deep"]["count"], seen["empty"]]
    assert all(one != other for one, other in itertools.combinations(flat, 2))
    assert hashed("cats") == seen["query"]


def test_differences_say_where_and_what() -> None:
    ours = {"arguments": {"query": "cats", "count": 5}, "version": "1.0", "same": [1]}
    theirs = {"arguments": {"query": "dogs"}, "version": "1.0", "same": [1]}
    assert differences(ours, theirs) == [("arguments.count", 5, None), ("arguments.query", "cats", "dogs")]
    assert differences({"a": 1}, {"a": True}) == [("a", 1, True)]
