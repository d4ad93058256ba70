"""Which tools a model is offered, and one execution, through the real toolbox: plugins healthy, hostile and broken."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule.errors import ConfigurationMalformed, ToolUnknown
from ferrule_ask.keys import Keys
from ferrule_ask.tools.tool_results import UNAVAILABLE
from ferrule_ask.tools.toolbox import Toolbox
from ferrule_dev.testing import Environment, Server, refused_port
from ferrule_testkit.model.offered_tools import OSLO, QUERY, SECONDS, executed, names
from ferrule_testkit.search.server import BRAVE_KEY, ENGINE, GOOGLE_KEY

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("keyless")]

# ---- what is offered


@pytest.mark.slow
def test_without_a_key_no_search_is_offered_and_it_is_said_what_is_missing() -> None:
    box = Toolbox.load(None, Keys())
    assert box.offered == ()
    reasons = dict(box.left_out)
    assert set(reasons) >= {f"web_search_{name}" for name in ("brave", "exa", "google", "tavily")}
    assert "Set BRAVE_API_KEY, or add it to " in reasons["web_search_brave"]
    assert "https://brave.com/search/api/" in reasons["web_search_brave"]
    assert "It needs the URL of your SearXNG instance" in reasons["web_search_searxng"]


@pytest.mark.slow
def test_the_search_that_has_a_fallback_is_offered_where_any_provider_has_its_keys() -> None:
    keys = Keys()
    assert dict(Toolbox.load(None, keys).left_out)["web_search"] == "No search provider has its keys."
    keys.set("GOOGLE_SEARCH_API_KEY", GOOGLE_KEY)
    box = Toolbox.load(None, keys)
    assert box.offered == ()
    keys.set("GOOGLE_SEARCH_ENGINE_ID", ENGINE)
    assert names(box.renewed()) == ["web_search"]
    assert box.renewed().left_out == ()


@pytest.mark.slow
def test_a_key_in_a_file_of_its_own_reaches_the_provider_behind_the_search(
    ferrule_environment: Environment, providers: Server
) -> None:
    folder = ferrule_environment.home / ".stps"
    folder.mkdir(mode=0o700)
    (folder / "brave_api_key").write_text(BRAVE_KEY)
    (folder / "brave_api_key").chmod(0o600)
    result = asyncio.run(Toolbox.load(None, Keys()).execute("web_search", {"query": "a"}, SECONDS))
    assert (result.is_error, result.code) == (False, None), result
    assert result.content.startswith("Search Results:\n\n1. Title 0\n")


@pytest.mark.slow
def test_without_it_the_first_search_tool_that_has_all_of_its_keys_is_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FERRULE_DISABLE", "web_search")
    keys = Keys()
    keys.set("GOOGLE_SEARCH_API_KEY", GOOGLE_KEY)
    box = Toolbox.load(None, keys)
    assert box.offered == ()
    assert dict(box.left_out)["web_search_google"].startswith("It needs")
    assert "Set GOOGLE_SEARCH_ENGINE_ID" in dict(box.left_out)["web_search_google"]
    assert "Set GOOGLE_SEARCH_API_KEY" not in dict(box.left_out)["web_search_google"]
    keys.set("GOOGLE_SEARCH_ENGINE_ID", ENGINE)
    assert names(box.renewed()) == ["web_search_google"]
    keys.set("BRAVE_API_KEY", BRAVE_KEY)
    assert names(box.renewed()) == ["web_search_brave"]
    assert box.renewed().left_out == (("web_search", "It is disabled by FERRULE_DISABLE."),)


@pytest.mark.slow
def test_what_is_offered_is_the_sound_schema() -> None:
    keys = Keys()
    keys.set("BRAVE_API_KEY", BRAVE_KEY)
    (offered,) = Toolbox.load(None, keys).offered
    assert set(offered.schema) == {"name", "description", "parameters"}
    assert offered.schema["parameters"]["required"] == ["query"]


def test_names_decide_what_is_offered_and_in_which_order() -> None:
    box = Toolbox.load(["web_fetch", "web_search_google", "example"], Keys())
    assert names(box) == ["web_fetch", "example"]
    assert [name for name, _ in box.left_out] == ["web_search_google"]
    assert Toolbox.load([], Keys()).offered == ()


def test_a_name_that_nothing_has_is_an_error_that_says_what_was_meant() -> None:
    with pytest.raises(ToolUnknown, match="web_serch_brave") as raised:
        Toolbox.load(["web_fetch", "web_serch_brave"], Keys())
    assert "web_search_brave" in str(raised.value.hint)


@pytest.mark.slow
def test_the_environment_and_the_configuration_name_tools(
    ferrule_environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = ferrule_environment.config_toml
    file.write_text('[ask]\ntools = ["example"]\n')
    assert names(Toolbox.load(None, Keys())) == ["example"]
    monkeypatch.setenv("FERRULE_ASK_TOOLS", "web_fetch, example")
    assert names(Toolbox.load(None, Keys())) == ["web_fetch", "example"]
    monkeypatch.setenv("FERRULE_ASK_TOOLS", "none")
    assert Toolbox.load(None, Keys()).offered == ()
    monkeypatch.setenv("FERRULE_ASK_TOOLS", " ")
    file.write_text('[ask]\ntools = "example"\n')
    with pytest.raises(ConfigurationMalformed, match="is no list of names"):
        Toolbox.load(None, Keys())


@pytest.mark.slow
@pytest.mark.usefixtures("hostile")
def test_what_is_broken_is_left_out_and_hurts_no_other() -> None:
    reasons = {
        "raises_on_import": "RuntimeError: the almanac is out of print",
        "dies_on_import": "ended its process with exit code 7",
        "same_name": "is claimed by",
        "schema_breaks_a_rule": "schema",
    }
    box = Toolbox.load([*reasons, "example"], Keys())
    assert names(box) == ["example"]
    assert [name for name, _ in box.left_out] == list(reasons)
    for name, told in box.left_out:
        assert reasons[name] in told


def test_where_nothing_can_be_found_out_no_tool_is_offered_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a program that embeds Python and has no interpreter to start."""
    other = tmp_path / "other-program"
    other.write_text("#!/bin/sh\necho 5\n")
    other.chmod(0o755)
    for program in ("/nowhere/python", "/bin/false", str(other)):
        monkeypatch.setattr(sys, "executable", program)
        for chosen, name in ((None, "web_search*"), (["example"], "example")):
            box = Toolbox.load(chosen, Keys())
            assert box.offered == ()
            ((told, reason),) = box.left_out
            assert told == name
            assert program in reason


def test_a_tool_that_the_provider_would_refuse_is_left_out(tells: Callable[..., None]) -> None:
    """Or every question would fail, also those that need no tool."""
    tells(anyOf=[{"required": []}])
    box = Toolbox.load(["tells", "example", "example"], Keys())
    assert names(box) == ["example"]
    assert box.left_out[0][0] == "tells"
    assert "refuses every request with 'anyOf'" in box.left_out[0][1]


def test_a_tool_that_is_disabled_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_DISABLE", "example")
    assert Toolbox.load(["example"], Keys()).left_out == (("example", "It is disabled by FERRULE_DISABLE."),)


@pytest.mark.slow
def test_nothing_is_forked_and_nothing_of_a_plugin_imported_in_the_callers_process(tmp_path: Path) -> None:
    code = """
import os, sys, threading
def refuse(): raise AssertionError("forked")
os.register_at_fork(before=refuse)
os.fork = refuse
from ferrule_ask.keys import Keys
from ferrule_ask.tools.toolbox import Toolbox
box = Toolbox.load(["web_search_brave", "example"], Keys())
loaded = {"click", "jsonschema", "pluggy", "httpx", "httpcore", "asyncio.tasks", "ferrule_brave"} & set(sys.modules)
print([one.name for one in box.offered], sorted(loaded - {"asyncio.tasks"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "['example'] []\n", done.stderr


# ---- one execution


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "keys"),
    [
        ("web_search_brave", {"BRAVE_API_KEY": BRAVE_KEY}),
        ("web_search_google", {"GOOGLE_SEARCH_API_KEY": GOOGLE_KEY, "GOOGLE_SEARCH_ENGINE_ID": ENGINE}),
        ("web_search", {"BRAVE_API_KEY": BRAVE_KEY}),
    ],
)
def test_the_results_of_each_search_tool_come_as_the_same_list(tool: str, keys: dict[str, str]) -> None:
    session = Keys()
    for name, value in keys.items():
        session.set(name, value)
    result = executed(tool, QUERY, keys=session)
    assert not result.is_error
    assert result.content.startswith("Search Results:\n\n1. Title 0\n   https://www.example.com/0\n   Text 0\n")
    assert result.content.count("https://") == 5
    assert 0 < result.seconds < SECONDS


@pytest.mark.slow
def test_a_key_of_the_own_file_reaches_the_tool(ferrule_environment: Environment, providers: Server) -> None:
    (ferrule_environment.home / ".stps").mkdir()
    (ferrule_environment.home / ".stps/brave_api_key").write_text(f"{BRAVE_KEY}\r\n")
    assert not executed("web_search_brave", QUERY).is_error
    assert providers.requests[-1].headers["x-subscription-token"] == BRAVE_KEY


@pytest.mark.slow
def test_a_search_that_fails_is_told_as_such_and_arguments_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys()
    keys.set("BRAVE_API_KEY", "another-key")
    assert executed("web_search_brave", QUERY, keys=keys)[:2] == (UNAVAILABLE, True)
    assert "query: it is required" in executed("web_search_brave", {"q": 1}, keys=keys).content
    monkeypatch.setenv("FERRULE_BRAVE_ENDPOINT", f"http://127.0.0.1:{refused_port()}/")
    assert executed("web_search_brave", QUERY, keys=keys)[:2] == (UNAVAILABLE, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "environ", [{"FERRULE_EXIT_ZERO": "1"}, {"IKIGAI_AGENT_ID": "agent"}, {"FERRULE_DEADLINE": "x"}]
)
def test_what_the_caller_has_set_for_its_own_calls_changes_nothing(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert executed("example", {"city": "4711"}).is_error
    assert not executed("example", OSLO).is_error


def test_the_journal_says_that_a_model_was_asked(ferrule_environment: Environment) -> None:
    ferrule_environment.config_toml.write_text("[journal]\nenabled = true\n")
    executed("example", OSLO)
    (line,) = (ferrule_environment.state / "journal" / "calls.jsonl").read_text().splitlines()
    assert (json.loads(line)["tool"], json.loads(line)["way"]) == ("example", "ask")


def test_a_tool_that_was_not_offered_is_not_executed() -> None:
    box = Toolbox.load(["web_search_brave"], Keys())
    for name in ("web_search_brave", "example", "rm -rf", ""):
        result = asyncio.run(box.execute(name, {}, 5))
        assert result.is_error
        assert "There is no tool" in result.content


@pytest.mark.slow
@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("how", ["raise", "error", "return"])
def test_no_key_is_in_what_the_model_is_told(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys()
    keys.set("ALMANAC_KEY", "sk-0123456789-abcdefghij")
    result = executed("exception_with_a_secret", {"how": how}, keys=keys)
    assert "sk-0123456789" not in result.content
    assert "[redacted]" in result.content


@pytest.mark.slow
def test_a_key_that_is_cut_off_is_not_in_what_the_model_is_told_either(tells: Callable[..., None]) -> None:
    tells(sees="LONG_KEY")
    keys = Keys()
    keys.set("LONG_KEY", "sk-" + "0123456789" * 700)
    content = executed("tells", keys=keys).content
    assert "LONG_KEY" in content
    assert "sk-0" not in content


def test_neither_the_models_key_nor_another_tools_is_in_a_tools_environment(
    tells: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    tells(sees="OWN_KEY")
    monkeypatch.setenv("FERRULE_ASK_MODEL", "claude-next")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-environment")
    keys = Keys()
    keys.set("ANTHROPIC_API_KEY", "sk-ant-session")
    keys.set("BRAVE_API_KEY", BRAVE_KEY)
    keys.set("OWN_KEY", "k3y-that-the-tool-sees")
    result = executed("tells", keys=keys)
    assert json.loads(result.content) == {"environment": {"OWN_KEY": "[redacted]"}}


def test_a_result_is_not_put_into_an_artifact_that_nothing_could_read(
    tells: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    tells()
    monkeypatch.setenv("FERRULE_WRAPPERS", "artifacts,timing")
    monkeypatch.setenv("FERRULE_ARTIFACTS_THRESHOLD", "1")
    document = json.loads(executed("tells").content)
    assert document["environment"] == {}
    assert set(document["_meta"]) == {"timing"}
