"""What the host knows of a call beside its arguments, and what a tool may say of its results."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from ferrule import Context, Credential, WrapperContext
from ferrule.config.configuration import Configuration
from ferrule.discovery import InstalledTool, wrappers
from ferrule.plugin import cache_identity
from ferrule.plugin.hooks.context import ANSWER_BYTES
from ferrule.plugin.hooks.result_policy import ResultPolicy, paging_arguments, wanted_wrappers
from ferrule.plugin.loader import load
from ferrule.plugin.wrapper_context import CallInfo
from ferrule.text import strict_json

KEYS = [Credential("api_key", environment="FERRULE_DICE_KEY", path="dice.api_key")]


@pytest.fixture(autouse=True)
def _no_credentials_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IKIGAI_CONFIG_DIR", str(tmp_path))


def context(**options: Any) -> Context:
    return Context("dice", time.monotonic() + 60, **options)


@pytest.mark.parametrize("seconds", [-1, float("inf"), float("nan"), True, "60", None])
def test_seconds_that_are_none_are_refused(seconds: Any) -> None:
    with pytest.raises(ValueError, match="cache_seconds"):
        ResultPolicy(cache_seconds=seconds)


@pytest.mark.parametrize("names", ["offset", [1]])
def test_names_that_are_none_are_refused(names: Any) -> None:
    with pytest.raises(ValueError, match="paging"):
        ResultPolicy(paging=names)
    with pytest.raises(ValueError, match="environment"):
        ResultPolicy(environment=names)


def test_a_paging_argument_is_one_that_the_tool_has() -> None:
    parameters = {"properties": {"limit": {}, "city": {}, "page": {}}}
    assert paging_arguments(ResultPolicy(), parameters) == ["limit", "page"]
    assert paging_arguments(ResultPolicy(paging=("city", "offset")), parameters) == ["city"]
    assert paging_arguments(ResultPolicy(), {}) == []


@pytest.mark.parametrize(
    ("content", "environ", "on"),
    [
        ({}, {}, []),
        ({"wrappers": {"a": {"enabled": True}, "b": {"enabled": False}, "c": {}, "d": 1}}, {}, ["a"]),
        ({"wrappers": {"a": {"enabled": True}}}, {"FERRULE_WRAPPERS": ""}, []),
        ({"wrappers": {"a": {"enabled": True}}}, {"FERRULE_WRAPPERS": "b, c"}, ["b", "c"]),
        ({"wrappers": []}, {}, []),
    ],
)
def test_the_admin_says_which_wrappers_are_on(content: Any, environ: dict[str, str], on: list[str]) -> None:
    assert list(Configuration("config.toml", content, environ).wrappers()) == on


def test_the_wrappers_of_the_host_are_found() -> None:
    assert {"artifacts", "cache", "timing"} <= set(wrappers())


def test_a_fingerprint_tells_secrets_apart_and_is_none_of_them() -> None:
    secrets = ["a", "b", "ab", "ä", "x" * 64, "x" * 65, "x" * 65 + "y", "a\0", ""]
    prints = [cache_identity.fingerprint(secret) for secret in secrets]
    assert len(set(prints)) == len(secrets)
    assert all(len(one) == 32 for one in prints)
    assert cache_identity.fingerprint("a") == prints[0]


def test_a_fingerprint_is_the_hmac_of_its_purpose() -> None:
    import hashlib
    import hmac

    for secret in ("short", "long" * 40):
        key = hashlib.sha256(secret.encode()).digest()
        expected = hmac.new(key, b"ferrule: fingerprint of a credential, 1\0", hashlib.sha256)
        assert cache_identity.fingerprint(secret) == expected.hexdigest()[:32]


def test_a_credential_named_like_a_variable_of_ferrule_is_a_fingerprint_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_DICE_KEY", "sk-0123456789")
    found = context(credentials=KEYS).identity()
    assert "FERRULE_DICE_KEY" not in found["environment"]
    assert found["credentials"] == {"api_key": cache_identity.fingerprint("sk-0123456789")}
    assert b"sk-0123456789" not in strict_json.dumps(found)
    monkeypatch.delenv("FERRULE_DICE_KEY")
    assert context(credentials=KEYS).identity()["credentials"] == {"api_key": None}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FERRULE_DICE_TOKEN", "hidden"),
        ("FERRULE_DICE_ENDPOINT", "https://me:hidden@dice.example"),
        ("FERRULE_DICE_PASSWORD", "hidden"),
    ],
)
def test_a_variable_that_may_hold_a_secret_is_shown_as_its_fingerprint(name: str, value: str) -> None:
    shown = cache_identity.environment({name: value})[name]
    assert shown == {"fingerprint": cache_identity.fingerprint(value)}


def test_a_variable_that_is_no_text_stays_apart_from_one_that_looks_like_it() -> None:
    values = [os.fsdecode(b"\xff"), "\\xff", "\\udcff", "ff"]
    shown = [strict_json.dumps(cache_identity.environment({"FERRULE_A": value})) for value in values]
    assert len(set(shown)) == len(values)


def test_a_note_is_json_and_a_copy() -> None:
    facts: dict[str, Any] = {"list": [1]}
    here = WrapperContext(context())
    here.note("mine", facts)
    facts["list"].append(2)
    assert here.notes == {"mine": {"list": [1]}}
    with pytest.raises(ValueError, match="NaN"):
        here.note("mine", {"a": float("nan")})


def test_a_tool_has_no_call_to_look_at() -> None:
    with pytest.raises(LookupError, match="wrappers"):
        _ = WrapperContext(context()).call
    assert not hasattr(context(), "call")
    assert context().max_bytes == ANSWER_BYTES


def test_the_defaults_of_the_schema_are_among_the_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    properties = {"count": {"type": "integer", "default": 10}, "city": {"type": "string"}}
    schema = {"name": "dice", "description": "", "parameters": {"type": "object", "properties": properties}}
    (tmp_path / "dice_with_defaults.py").write_text(
        "from ferrule import ResultPolicy, hookimpl\n"
        "result_policy = hookimpl(lambda: ResultPolicy(cache_seconds=5))\n"
        f"@hookimpl\ndef schema(): return {schema!r}\n"
        "@hookimpl\ndef execute(): return {}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    loaded = load(InstalledTool("dice", "dice_with_defaults", "ferrule-dice", "1.0", str(tmp_path)))

    def call(arguments: dict[str, Any]) -> CallInfo:
        return CallInfo(loaded, arguments, context())

    assert call({}).arguments == call({"count": 10}).arguments == {"count": 10}
    assert call({"count": 5, "city": "Oslo"}).arguments == {"count": 5, "city": "Oslo"}
    assert call({}).result_policy.cache_seconds == 5
    mine = call({"city": "Oslo"})
    mine.arguments.clear()
    mine.schema.clear()
    mine.identity.clear()
    assert mine.arguments == {"count": 10, "city": "Oslo"}
    assert mine.schema == schema
    assert mine.identity["host"]


@pytest.mark.parametrize(
    ("table", "environ", "names"),
    [
        ({}, {}, ["cache"]),
        ({"max_mib": 5}, {}, ["cache"]),
        ({"enabled": False}, {}, []),
        ({"enabled": "no"}, {}, []),
        ({"enabled": True}, {}, []),  # it is on in any case
        ({}, {"FERRULE_WRAPPERS": ""}, []),
        ({}, {"FERRULE_WRAPPERS": "timing"}, []),
    ],
)
def test_a_wrapper_that_a_tool_wants_is_on_unless_the_admin_has_decided(
    table: dict[str, Any], environ: dict[str, str], names: list[str]
) -> None:
    tables = Configuration("config.toml", {"wrappers": {"cache": table}}, environ).wrapper_tables()
    found = wanted_wrappers(ResultPolicy(wrappers=("cache",)), tables)
    assert found == dict.fromkeys(names, table)


def test_arguments_are_compared_as_the_tool_reads_them() -> None:
    policy = ResultPolicy(normalise=lambda arguments: {**arguments, "query": arguments["query"].strip()})
    assert policy.normalise is not None
    assert policy.normalise({"query": " q "}) == {"query": "q"}
    with pytest.raises(ValueError, match="wrappers"):
        ResultPolicy(wrappers="cache")
